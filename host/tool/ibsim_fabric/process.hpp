// SPDX-License-Identifier: Apache-2.0
/// A program started by us and ended with us.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/error.hpp"

namespace tidemill::ibsim_fabric {

struct ProcessOptions {
  std::vector<std::string> arguments;                ///< The program first; found in PATH.
  std::map<std::string, std::string> environment{};  ///< On top of ours.
  std::string output{};                              ///< File for what it prints; empty: where ours goes.
  std::string folder{};                          ///< Where it works; empty: where we do.
  bool hold_input = false;                           ///< Its input stays open, for type().
};

class Process {
 public:
  Process() = default;
  /// Names the program and what to install if it is not there.
  static Result<Process> start(const ProcessOptions& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  /// Terminates it.
  ~Process();

  pid_t pid() const { return pid_; }
  bool running();
  /// Exit status, 128 + signal if one ended it. Waits; signals for us end the wait, nothing is returned.
  std::optional<int> wait();
  /// Asks with SIGTERM, insists after `patience`.
  int terminate(std::chrono::milliseconds patience = std::chrono::seconds(10));
  void signal(int number) const;
  /// A line on its input, which must be held.
  void type(const std::string& line) const;

 private:
  void reap(int flags);

  pid_t pid_ = -1;
  int input_ = -1;
  std::optional<int> status_;
};

}  // namespace tidemill::ibsim_fabric
