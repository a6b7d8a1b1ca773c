// SPDX-License-Identifier: Apache-2.0
#include "ibsim_fabric/process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "fmt/format.h"

namespace tidemill::ibsim_fabric {
namespace {

std::string advice(const std::string& program) {
  static const std::map<std::string, std::string> packages{{"ibsim", "ibsim-utils"},
                                                           {"opensm", "opensm"},
                                                           {"ibnetdiscover", "infiniband-diags"},
                                                           {"saquery", "infiniband-diags"},
                                                           {"smpquery", "infiniband-diags"},
                                                           {"ibping", "infiniband-diags"}};
  const auto known = packages.find(program);
  return known == packages.end() ? "give its path, or install it" : "install it: apt install " + known->second;
}

}  // namespace

Result<Process> Process::start(const ProcessOptions& options) {
  // The child says through this pipe why exec failed; success closes it.
  std::array<int, 2> report{}, input{-1, -1};
  if (::pipe2(report.data(), O_CLOEXEC) != 0 || (options.hold_input && ::pipe2(input.data(), O_CLOEXEC) != 0))
    return Error{Errc::file_failed, "no pipe: " + std::generic_category().message(errno)};
  std::vector<char*> argv;
  for (const std::string& a : options.arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    // A Ctrl-C on the terminal is not for it: it is there until what uses it has ended.
    if (options.hold_input) ::setpgid(0, 0);
    for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): a child has one thread
    if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(127);
    if (options.hold_input) ::dup2(input[0], STDIN_FILENO);
    if (!options.output.empty()) {
      const int out = ::open(options.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
      if (out >= 0) {
        ::dup2(out, STDOUT_FILENO);
        ::dup2(out, STDERR_FILENO);
      }
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);  // NOLINT(concurrency-mt-unsafe): a child has one thread
    ::execvp(argv[0], argv.data());
    const int why = errno;
    [[maybe_unused]] const auto told = ::write(report[1], &why, sizeof why);
    ::_exit(127);
  }
  ::close(report[1]);
  if (options.hold_input) ::close(input[0]);
  int why = 0;
  const bool failed = pid < 0 || ::read(report[0], &why, sizeof why) == static_cast<ssize_t>(sizeof why);
  ::close(report[0]);
  Process process;
  process.pid_ = pid;
  process.input_ = input[1];
  if (!failed) return process;
  if (pid > 0) process.reap(0);
  const std::string& program = options.arguments.front();
  return Error{Errc::file_failed, fmt::format("'{}' cannot be started: {}; {}", program,
                                              std::generic_category().message(why), advice(program))};
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      status_(std::exchange(other.status_, std::nullopt)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(input_, other.input_);
  std::swap(status_, other.status_);
  return *this;
}

Process::~Process() {
  if (pid_ > 0) terminate();
  if (input_ >= 0) ::close(input_);
}

void Process::reap(int flags) {
  int status = 0;
  if (status_ || pid_ <= 0 || ::waitpid(pid_, &status, flags) != pid_) return;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool Process::running() {
  reap(WNOHANG);
  return pid_ > 0 && !status_;
}

std::optional<int> Process::wait() {
  reap(0);
  return status_;
}

void Process::signal(int number) const {
  if (pid_ > 0 && !status_) ::kill(pid_, number);
}

void Process::type(const std::string& line) const {
  const std::string text = line + "\n";
  [[maybe_unused]] const auto written = ::write(input_, text.data(), text.size());
}

int Process::terminate(std::chrono::milliseconds patience) {
  signal(SIGTERM);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (running() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (running()) {
    signal(SIGKILL);
    while (!wait()) {
    }
  }
  return status_.value_or(0);
}

}  // namespace tidemill::ibsim_fabric
