// SPDX-License-Identifier: Apache-2.0
/// tidemill with a fault in its engine: the first argument names the fault, the rest is as for tidemill.
#include <cstdio>
#include <exception>

#include "host/tool/soak_command.hpp"
#include "tb/soak/faulty_engine.hpp"

int main(int argc, char** argv) {
  namespace tool = tidemill::tool;
  if (argc < 2) return tool::kUsageError;
  try {
    const auto engine = tidemill::test::faulty(argv[1]);
    return tool::run_command(argc - 1, argv + 1, {[&](CLI::App& app, int& status) { tool::add_soak(app, status, engine); }});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return tool::kUsageError;
  }
}
