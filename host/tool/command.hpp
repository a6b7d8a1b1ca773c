// SPDX-License-Identifier: Apache-2.0
/// What main() and the subcommands agree on. A subcommand is a function that adds itself to the command line; its
/// callback does the work and sets the exit status.
#pragma once
#include <CLI/CLI.hpp>

#include <functional>
#include <vector>

namespace tidemill::tool {

enum ExitStatus : int {
  kSuccess = 0,
  kFailure = 1,     ///< It ran, and something was wrong.
  kUsageError = 2,  ///< It did not run: the command line or a file it names.
};

/// Adds a subcommand to `app`; its callback stores to `status`, which outlives the parse.
using AddSubcommand = std::function<void(CLI::App& app, int& status)>;

/// The command `tidemill` with these subcommands. Usage errors name the option and the way out.
int run_command(int argc, const char* const* argv, const std::vector<AddSubcommand>& subcommands);

/// Thrown by a callback before it has done anything: a usage error.
class UsageError : public CLI::ValidationError {
 public:
  explicit UsageError(const std::string& text) : CLI::ValidationError(text) {}
};

}  // namespace tidemill::tool
