// SPDX-License-Identifier: Apache-2.0
/// A timeout wheel alone, stepped the way the shell steps it: as long as its wake time has come.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "hls/bank_memory.hpp"
#include "hls/timeout_wheel.hpp"

namespace tidemill::test {

template <class Config>
class WheelDriver {
 public:
  using Memory = hls::BankMemory<Config>;
  using Wheel = hls::TimeoutWheel<Memory>;
  /// Ticks that the top level reaches ahead, from the start of its current list.
  static constexpr uint32_t kSpan = Config::kLists << (Config::kSpreadBits * (Config::kLevels - 1));

  struct Fired {
    uint32_t slot, due, at;  ///< `at`: the tick of the step.
    bool operator==(const Fired&) const = default;
  };

  /// An empty wheel that has come to this tick.
  explicit WheelDriver(uint32_t start = 0) : time_(start) {
    memory_->wheel_now(start);
    memory_->wake(start);
    for (unsigned level = 1; level < Config::kLevels; ++level)
      memory_->spread_count(level, start >> (Config::kSpreadBits * level));
  }

  uint32_t time() const { return time_; }
  uint32_t now() const { return memory_->wheel_now(); }
  uint64_t steps() const { return steps_; }

  void arm(uint32_t slot, uint32_t due) { Wheel::arm(*memory_, slot, due); }
  void disarm(uint32_t slot) { Wheel::disarm(*memory_, slot); }

  bool wants_step() const { return !Wheel::before(time_, memory_->wake()); }
  /// At most `limit` steps at the current time.
  void step(std::vector<Fired>& out, uint64_t limit = ~uint64_t{0}) {
    for (; limit > 0 && wants_step(); --limit) {
      ++steps_;
      const auto step = Wheel::step(*memory_, time_);
      if (step.fired) out.push_back({step.slot, memory_->due(step.slot), time_});
    }
  }
  /// Time moves on and nobody steps the wheel.
  void stall(uint32_t ticks) { time_ += ticks; }
  /// Time moves on at once, as after a stall, and one pass is made.
  std::vector<Fired> jump(uint32_t ticks) {
    std::vector<Fired> out;
    stall(ticks);
    step(out);
    return out;
  }
  /// Time moves on tick by tick, with a pass in each, or at most `limit` steps in each. Ticks without work are skipped.
  std::vector<Fired> run(uint32_t ticks, uint64_t limit = ~uint64_t{0}) {
    std::vector<Fired> out;
    const uint32_t end = time_ + ticks;
    step(out, limit);
    while (time_ != end) {
      const uint32_t to_wake = memory_->wake() - time_, to_end = end - time_;
      time_ += wants_step() ? 1u : to_wake < to_end ? to_wake : to_end;
      step(out, limit);
    }
    return out;
  }

 private:
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  uint32_t time_;
  uint64_t steps_ = 0;
};

}  // namespace tidemill::test
