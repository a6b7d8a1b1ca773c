// SPDX-License-Identifier: Apache-2.0
/// What threads that post cost each other: the same sends on the same four agents, posted by one thread or by four.
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "clients.hpp"
#include "waiting_wire.hpp"

namespace tidemill::bench {
namespace {

constexpr unsigned kAgents = 4;
constexpr uint32_t kEach = 16384;  ///< Sends of an agent in a round.

/// Nanoseconds of CPU time of the calling thread.
uint64_t thread_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

/// Timed: from the start of the first thread to the end of the last. Not timed: the sends leave, are answered,
/// complete.
void PostByThreads(benchmark::State& state) {
  const auto threads = static_cast<unsigned>(state.range(0));
  const Request request(2);
  Device device = value(Device::open("soft:", {.progress = Progress::poll}));
  Port port = value(device.open_port(1, std::make_unique<WaitingWire>(0)));
  uint64_t completed = 0;
  std::array<Agent, kAgents> agents;
  for (Agent& agent : agents)
    agent = value(port.register_agent({.on_send = [&completed](const SendCompletion&) { ++completed; },
                                       .on_receive = [](const Received&) {},
                                       .window = 0,
                                       .queue_depth = kEach}));

  std::barrier<> round(threads + 1);
  std::atomic<bool> over{false};
  std::atomic<uint64_t> refused{0}, cpu_time{0};
  std::vector<std::jthread> posters;
  for (unsigned t = 0; t < threads; ++t) {
    posters.emplace_back([&, t] {
      for (;;) {
        round.arrive_and_wait();
        if (over) return;
        const uint64_t start = thread_time();
        for (unsigned a = t; a < kAgents; a += threads)
          for (uint32_t i = 0; i < kEach; ++i) refused += !agents[a].send(request.get()).ok();
        cpu_time += thread_time() - start;
        round.arrive_and_wait();
      }
    });
  }
  constexpr uint64_t kRound = uint64_t{kAgents} * kEach;
  for (uint64_t target = kRound; state.KeepRunningBatch(kRound); target += kRound) {
    const auto start = std::chrono::steady_clock::now();
    round.arrive_and_wait();
    round.arrive_and_wait();
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    while (refused == 0 && completed < target) device.poll();
  }
  over = true;
  round.arrive_and_wait();
  state.counters["cpu_ns"] = static_cast<double>(cpu_time) / static_cast<double>(state.iterations());
  if (refused != 0) state.SkipWithError("a send was refused");
}
BENCHMARK(PostByThreads)->Name("PostByThreads/tidemill")->Arg(1)->Arg(2)->Arg(4)->UseManualTime();

}  // namespace
}  // namespace tidemill::bench
