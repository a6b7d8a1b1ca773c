// SPDX-License-Identifier: Apache-2.0
/// What is measured, for any TID table and any timers with the interface of rivals.hpp.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "tb/bench/support/workload.hpp"

namespace tidemill::bench {

/// Match a random live send and take it out, insert a new one.
template <class Table>
void Match(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  Table table;
  TidCounter tids;
  Random random;
  std::vector<uint64_t> live(count);
  for (uint32_t slot = 0; slot < count; ++slot) table.insert(live[slot] = tids.next(), slot);
  uint64_t wrong = 0;
  for (auto _ : state) {
    const uint32_t slot = random.below(count);
    wrong += table.take(live[slot]) != slot;
    table.insert(live[slot] = tids.next(), slot);
  }
  if (wrong != 0) state.SkipWithError("a TID was taken for another");
}

/// Waits of timers are random, up to 100,000 ticks (about 100 ms).
inline constexpr uint32_t kLongest = 100'000;

/// Armed in the order of their deadlines, or a sorted list would take minutes for its first 65,536.
template <class Timers>
void arm_all(Timers& timers, Random& random, uint32_t count) {
  std::vector<std::pair<uint32_t, uint32_t>> due(count);
  for (uint32_t slot = 0; slot < count; ++slot) due[slot] = {1 + random.below(kLongest), slot};
  std::sort(due.begin(), due.end());
  for (const auto& [at, slot] : due) timers.arm(slot, at);
}

/// A random timer is disarmed and armed anew, as when responses arrive in time.
template <class Timers>
void TimerCancel(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  Timers timers;
  Random random;
  arm_all(timers, random, count);
  for (auto _ : state) {
    const uint32_t slot = random.below(count);
    timers.disarm(slot);
    timers.arm(slot, 1 + random.below(kLongest));
  }
}

/// The first timer expires and is armed anew, as when no response arrives.
template <class Timers>
void TimerExpire(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  Timers timers;
  Random random;
  arm_all(timers, random, count);
  uint32_t now = 0;
  for (auto _ : state) {
    const uint32_t slot = timers.expire(now);
    timers.arm(slot, now + 1 + random.below(kLongest));
  }
}

/// A transaction as the rivals can do it: a response is matched and its timer disarmed, a new TID is entered, and its
/// timer armed. The turns are those of bank_bench.cpp; all timeouts are equal, which suits a sorted list best.
template <class Table, class Timers>
void RivalTransaction(benchmark::State& state) {
  constexpr uint32_t kTimeout = 400'000;
  const auto count = static_cast<uint32_t>(state.range(0));
  Table table;
  Timers timers;
  TidCounter tids;
  Random random;
  std::vector<uint64_t> live(count);
  for (uint32_t slot = 0; slot < count; ++slot) {
    table.insert(live[slot] = tids.next(), slot);
    timers.arm(slot, kTimeout);
  }
  uint64_t wrong = 0;
  uint32_t now = 0, until_tick = 0;
  for (auto _ : state) {
    const uint32_t slot = random.below(count);
    wrong += table.take(live[slot]) != slot;
    timers.disarm(slot);
    table.insert(live[slot] = tids.next(), slot);
    timers.arm(slot, now + kTimeout);
    if (++until_tick == 10) {
      until_tick = 0;
      ++now;
    }
  }
  if (wrong != 0) state.SkipWithError("a TID was taken for another");
}

}  // namespace tidemill::bench
