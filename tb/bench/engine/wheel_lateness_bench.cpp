// SPDX-License-Identifier: Apache-2.0
/// How late a bank's wheel makes timers that expire together. Counted, not timed: steps of the wheel, the cycles
/// that hls/cycle_table.hpp declares for them at 250 MHz, and the ticks that those fill. A benchmark, so that the
/// counters stand in the same JSON as the times.
#include <cstdint>
#include <memory>

#include "hls/bank_memory.hpp"
#include "hls/cycle_table.hpp"
#include "hls/timeout_wheel.hpp"
#include "tb/bench/support/workload.hpp"

namespace tidemill::bench {
namespace {

constexpr uint32_t kMegahertz = 250;
constexpr uint32_t kCyclesInATick = 256;  // 1.024 us
constexpr uint32_t kTimeout = 10'000;

/// The only place that knows how the table is asked: with a word about the way the step took, or without.
template <class Kind>
constexpr unsigned cycles_of(Kind kind, bool fired) {
  if constexpr (requires { hls::declared_cycles(kind, fired); })
    return hls::declared_cycles(kind, fired);
  else
    return hls::declared_cycles(kind);
}
constexpr unsigned step_cycles(bool fired) {
  return cycles_of(abi::EventKind::tick, fired);
}

/// A wheel and the cycles it has used. It is stepped as the shell does it: while its wake time has come, one step after
/// another, each for its declared cycles; time goes by with them.
template <class Config>
class ClockedWheel {
 public:
  void arm(uint32_t slot, uint32_t due) { Wheel::arm(*memory_, slot, due); }
  uint32_t tick() const { return static_cast<uint32_t>(cycle_ / kCyclesInATick); }
  uint64_t cycle() const { return cycle_; }
  void sleep_until_woken() {
    if (Wheel::before(tick(), memory_->wake())) cycle_ = uint64_t{memory_->wake()} * kCyclesInATick;
  }
  /// True if a timer has fired.
  bool step() {
    const bool fired = Wheel::step(*memory_, tick()).fired;
    cycle_ += step_cycles(fired);
    return fired;
  }

 private:
  using Memory = hls::BankMemory<Config>;
  using Wheel = hls::TimeoutWheel<Memory>;
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  uint64_t cycle_ = 0;
};

struct Lateness {
  uint64_t steps_before = 0;  ///< Before the tick of the deadlines: now advances, timers move down.
  uint64_t steps = 0;         ///< From then on.
  uint32_t ticks = 0;         ///< That the last timer is late.
  uint64_t cycles = 0;        ///< From the start of the tick of the deadlines to the end of the last timer's step.
  bool early = false;
};

/// `count` timers are armed at once, for the same tick.
template <class Config>
Lateness lateness(uint32_t count) {
  ClockedWheel<Config> wheel;
  for (uint32_t slot = 0; slot < count; ++slot) wheel.arm(slot, kTimeout);
  Lateness l;
  for (uint32_t fired = 0; fired < count;) {
    wheel.sleep_until_woken();
    const uint32_t at = wheel.tick();
    ++(at < kTimeout ? l.steps_before : l.steps);
    if (!wheel.step()) continue;
    ++fired;
    l.early |= at < kTimeout;
    l.ticks = at - kTimeout;
  }
  l.cycles = wheel.cycle() - uint64_t{kTimeout} * kCyclesInATick;
  return l;
}

/// The deadlines stand in one bank.
template <class Config>
void EqualDeadlines(benchmark::State& state) {
  Lateness l;
  for (auto _ : state) l = lateness<Config>(static_cast<uint32_t>(state.range(0)));
  state.counters["steps_before"] = static_cast<double>(l.steps_before);
  state.counters["steps"] = static_cast<double>(l.steps);
  state.counters["late_ticks"] = l.ticks;
  state.counters["late_cycles"] = static_cast<double>(l.cycles);
  state.counters["late_us"] = static_cast<double>(l.cycles) / kMegahertz;
  state.counters["cycles_to_fire"] = step_cycles(true);
  state.counters["cycles_to_move"] = step_cycles(false);
  if (l.early) state.SkipWithError("a timer fired early");
}
BENCHMARK(EqualDeadlines<hls::CardBankConfig>)
    ->Name("Lateness/card_bank")
    ->Arg(1)
    ->Arg(16)
    ->Arg(256)
    ->Arg(hls::CardBankConfig::kSlots)
    ->Iterations(1);
// All 65,536 in one bank, which is what a card never has to do: its eight banks have 8,192 each.
BENCHMARK(EqualDeadlines<hls::HostBankConfig>)
    ->Name("Lateness/host_bank")
    ->Arg(1)
    ->Arg(16)
    ->Arg(256)
    ->Arg(hls::HostBankConfig::kSlots)
    ->Iterations(1);

}  // namespace
}  // namespace tidemill::bench
