// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "cost.hpp"

namespace tidemill::cost {

int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

int two_processes(const std::function<void(int)>& server, const std::function<int(int)>& client) {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    server(ends[1]);
    _exit(1);
  }
  const int result = client(ends[0]);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return result;
}

void report(const char* what, unsigned depth, int64_t elapsed, unsigned round_trips) {
  std::printf("COST %s %u %lld\n", what, depth, static_cast<long long>(elapsed / round_trips));
  std::fflush(stdout);
}

}  // namespace tidemill::cost

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "sizes") return tidemill::cost::sizes();
  if (argc != 4) return 2;
  const auto depth = static_cast<unsigned>(std::atoi(argv[2])), round_trips = static_cast<unsigned>(std::atoi(argv[3]));
  if (what == "verbs") return tidemill::cost::verbs(depth, round_trips);
  if (what == "umad") return tidemill::cost::umad(depth, round_trips);
  return 2;
}
