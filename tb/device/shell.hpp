// SPDX-License-Identifier: Apache-2.0
/// Runs the command and keeps what it says.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <string>

namespace tidemill::test {

struct Outcome {
  int status;
  std::string output;
};
inline void PrintTo(const Outcome& o, std::ostream* out) {
  *out << "status " << o.status << ":\n" << o.output;
}

inline Outcome shell(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");  // NOLINT(bugprone-command-processor): our own words
  if (pipe == nullptr) return {-1, "no shell"};
  std::string output;
  std::array<char, 4096> chunk{};
  for (size_t n; (n = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) output.append(chunk.data(), n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}
/// Both streams.
inline Outcome device(const std::string& arguments, const std::string& environment = "") {
  return shell("env -u TIDEMILL_DEVICE " + environment + " '" TIDEMILL_TOOL "' device " + arguments + " 2>&1");
}
/// Standard output alone: what a program reads.
inline Outcome device_output(const std::string& arguments, const std::string& environment = "") {
  return shell("env -u TIDEMILL_DEVICE " + environment + " '" TIDEMILL_TOOL "' device " + arguments + " 2>/dev/null");
}

}  // namespace tidemill::test
