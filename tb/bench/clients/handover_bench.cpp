// SPDX-License-Identifier: Apache-2.0
/// What the machine itself takes to wake a sleeping thread and be woken by it, on one core and across two: no round trip
/// between programs takes less.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <thread>

#include "cores.hpp"

namespace tidemill::bench {
namespace {

void handover(benchmark::State& state, unsigned other_core) {
  if (std::thread::hardware_concurrency() <= other_core) return state.SkipWithError("SKIPPED: one core");
  int there[2], back[2];
  if (::pipe(there) != 0 || ::pipe(back) != 0) return state.SkipWithError("no pipe");
  std::thread other([&] {
    const OnCore core(other_core);
    for (char byte; ::read(there[0], &byte, 1) == 1 && ::write(back[1], &byte, 1) == 1;) {
    }
  });
  bool well = true;
  {
    const OnCore core(0);
    char byte = 0;
    for (auto _ : state) well = ::write(there[1], &byte, 1) == 1 && ::read(back[0], &byte, 1) == 1 && well;
  }
  ::close(there[1]);
  other.join();
  for (const int fd : {there[0], back[0], back[1]}) ::close(fd);
  if (!well) state.SkipWithError("a pipe broke");
}

BENCHMARK_CAPTURE(handover, one_core, 0u)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(handover, two_cores, 1u)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tidemill::bench
