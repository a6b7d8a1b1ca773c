// SPDX-License-Identifier: Apache-2.0
/// tidemill: one line for each subcommand.
#include "bench_command.hpp"
#include "command.hpp"
#include "cosim_command.hpp"
#include "demo_command.hpp"
#include "device_command.hpp"
#include "exec_command.hpp"
#include "fabric_command.hpp"
#include "ping_command.hpp"
#include "soak_command.hpp"

int main(int argc, char** argv) {
  namespace tool = tidemill::tool;
  return tool::run_command(argc, argv,
                           {
                               [](CLI::App& app, int& status) { tool::add_cosim(app, status); },
                               [](CLI::App& app, int& status) { tool::add_fabric(app, status); },
                               [](CLI::App& app, int& status) { tool::add_exec(app, status); },
                               [](CLI::App& app, int& status) { tool::add_net(app, status); },
                               [](CLI::App& app, int& status) { tool::add_soak(app, status); },
                               [](CLI::App& app, int& status) { tool::add_device(app, status); },
                               [](CLI::App& app, int& status) { tool::add_demo(app, status); },
                               [](CLI::App& app, int& status) { tool::add_stats(app, status); },
                               [](CLI::App& app, int& status) { tool::add_bench(app, status); },
                               [](CLI::App& app, int& status) { tool::add_ping(app, status); },
                           });
}
