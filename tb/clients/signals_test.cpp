// SPDX-License-Identifier: Apache-2.0
/// Signals around `tidemill exec`: they are the program's.
#include <csignal>

#include "tb/clients/fixture.hpp"

namespace tidemill::test {
namespace {

using ibsim_fabric::Process;

/// By a shell, which sets signals as asked and becomes the tool.
Process exec(const std::string& before, const std::string& program) {
  return Process::start({.arguments = {"sh", "-c", before + " exec " TIDEMILL_TOOL " exec --quiet -- " + program}})
      .value();
}

std::optional<int> ends_within(Process& p, std::chrono::milliseconds limit) {
  for (const auto end = std::chrono::steady_clock::now() + limit; std::chrono::steady_clock::now() < end;) {
    if (!p.running()) return p.wait();
    std::this_thread::sleep_for(10ms);
  }
  return std::nullopt;
}

TEST_F(Clients, AProgramUnderExecCanBeInterrupted) {
  std::signal(SIGINT, SIG_DFL);  // it may be ignored where tests run in the background
  Process tool = exec("", "sh -c 'kill -INT $$; exit 7'");
  EXPECT_EQ(ends_within(tool, 10s), 128 + SIGINT);
}

TEST_F(Clients, ExecPassesATerminationOnToItsProgram) {
  Process tool = exec("", "sleep 30");
  std::this_thread::sleep_for(500ms);
  tool.signal(SIGTERM);
  EXPECT_EQ(ends_within(tool, 5s), 128 + SIGTERM);
}

}  // namespace
}  // namespace tidemill::test
