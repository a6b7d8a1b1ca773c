// SPDX-License-Identifier: Apache-2.0
/// The device process of `xrt:` under XRT's hardware emulation. XRT unpacks it from the xclbin and starts it; it ends
/// when the host closes the device, ends or crashes, and kills itself if it stands still.
///
/// It is two processes on the same sockets: one simulates; the other takes over if that one dies, for XRT waits without
/// an end for an answer, or ends the host, when nobody holds the other side.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "fmt/format.h"
#include "sim/xrt/session.hpp"
#include "sim/xrt/stand_in.hpp"

namespace {

using namespace std::chrono_literals;
using tidemill::sim::Channel;

constexpr auto kHostPatience = 30s;    ///< Until the host listens.
constexpr auto kAnswerPatience = 20s;  ///< For an answer of its memory.
constexpr unsigned kWatchdogSeconds = 60;

[[noreturn]] void stands_still(int) {
  static constexpr char kWhat[] = "tidemill device process: nothing has moved for 60 s, ending\n";
  (void)!write(STDERR_FILENO, kWhat, sizeof kWhat - 1);
  _exit(3);
}

/// TIDEMILL_EMULATION holds options as the URI of `cosim:` has them, and version=<number>.
tidemill::sim::SessionOptions options() {
  tidemill::sim::SessionOptions all;
  const char* const given = std::getenv("TIDEMILL_EMULATION");
  std::string_view rest = given == nullptr ? "" : given;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string name(item.substr(0, equals)), value(item.substr(std::min(equals + 1, item.size())));
    bool known = false;
    if (name == "version")
      all.version = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 0));
    else if (!tidemill::sim::set_option(all.card, name, value, known))
      fmt::print(stderr, "tidemill device process: TIDEMILL_EMULATION: {} {}={}\n",
                 known ? "out of range:" : "unknown:", name, value);
  }
  return all;
}

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  const char* const user = std::getenv("USER");
  const char* const id = std::getenv("EMULATION_SOCKETID");
  const std::string folder = user == nullptr ? "/tmp" : fmt::format("/tmp/{}", user);
  const std::string socket = folder + "/" + (user != nullptr && id != nullptr ? id : "xcl_sock");
  const std::string to_host = folder + "/D2X_unix_sock" + (id != nullptr ? fmt::format("_{}", id) : "");

  Channel host = Channel::connect(socket, kHostPatience);
  if (!host) {
    fmt::print(stderr, "tidemill device process: no host listens at {}\n", socket);
    return 1;
  }
  Channel memory = Channel::connect(to_host, kHostPatience);
  if (!memory) {
    fmt::print(stderr, "tidemill device process: the host does not offer its memory at {}\n", to_host);
    return 1;
  }
  unlink(to_host.c_str());  // XRT leaves it behind

  void* const shared =
      mmap(nullptr, sizeof(tidemill::sim::CallState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  auto* const state = new (shared) tidemill::sim::CallState;
  host.note(*state);
  const pid_t simulator = fork();
  if (simulator < 0) return 1;
  if (simulator > 0) {
    int status = 0;
    while (waitpid(simulator, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    fmt::print(stderr, "tidemill device process: the simulation has {} {}\n",
               WIFSIGNALED(status) ? "died of signal" : "ended with",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    tidemill::sim::stand_in(host, memory, *state);
    return 1;
  }
  std::signal(SIGALRM, stands_still);
  alarm(kWatchdogSeconds);
  memory.patience(kAnswerPatience);
  tidemill::sim::Session session(options(), std::move(host), std::move(memory));
  session.run([last = std::chrono::steady_clock::time_point()]() mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < 1s) return;
    last = now;
    alarm(kWatchdogSeconds);
  });
  alarm(kWatchdogSeconds);
  session.report(stderr);
  return 0;
}
