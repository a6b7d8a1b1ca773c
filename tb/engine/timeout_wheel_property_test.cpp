// SPDX-License-Identifier: Apache-2.0
/// The timeout wheel alone, against a sorted multimap of deadlines.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <vector>

#include "wheel_driver.hpp"

namespace tidemill::test {
namespace {

struct Op {
  enum Kind { kArm, kDisarm, kRun, kJump, kStall, kStep } kind;
  uint32_t slot, amount;
};
std::ostream& operator<<(std::ostream& out, const Op& op) {
  static constexpr const char* kNames[] = {"arm", "disarm", "run", "jump", "stall", "step"};
  return out << kNames[op.kind] << " slot " << op.slot << " amount " << op.amount;
}

/// Amounts of every magnitude: a few ticks, the reach of the lowest level, the span, beyond it.
rc::Gen<std::vector<Op>> ops(uint32_t slots, uint32_t lists, uint32_t span) {
  const auto amount = rc::gen::oneOf(rc::gen::inRange(0u, 4u), rc::gen::inRange(0u, 2 * lists),
                                     rc::gen::inRange(0u, span + 2), rc::gen::inRange(0u, 3 * span));
  const auto kind = rc::gen::weightedElement<Op::Kind>(
      {{10, Op::kArm}, {3, Op::kDisarm}, {4, Op::kRun}, {2, Op::kJump}, {1, Op::kStall}, {2, Op::kStep}});
  const auto op =
      rc::gen::build<Op>(rc::gen::set(&Op::kind, kind), rc::gen::set(&Op::slot, rc::gen::inRange(0u, slots)),
                         rc::gen::set(&Op::amount, amount));
  return rc::gen::scale(2.0, rc::gen::container<std::vector<Op>>(op));
}

/// Deadlines in 64 bits that do not wrap: tick t of the wheel is t modulo 2^32 here.
template <class Config>
class Model {
 public:
  explicit Model(uint32_t start) : wheel_(start), time_(kEpoch + start) {}

  void apply(const Op& op) {
    std::vector<Fired> fired;
    switch (op.kind) {
      case Op::kArm:
        arm(op.slot, op.amount);
        return;
      case Op::kDisarm:
        disarm(op.slot);
        return;
      case Op::kRun:
        for (uint32_t t = 0; t < op.amount; ++t) {
          ++time_;
          fired = wheel_.run(1);
          check(fired, true);
        }
        return;
      case Op::kJump:
        time_ += op.amount;
        check(wheel_.jump(op.amount), true);
        return;
      case Op::kStall:
        time_ += op.amount;
        wheel_.stall(op.amount);
        return;
      case Op::kStep:
        wheel_.step(fired, op.amount);
        check(fired, !wheel_.wants_step());
        return;
    }
  }
  /// Everything armed fires by its deadline, then nothing.
  void finish() {
    const uint64_t last = dues_.empty() ? time_ : std::max(time_, dues_.rbegin()->first);
    const uint32_t rest = static_cast<uint32_t>(last - time_);
    time_ = last;
    check(wheel_.jump(rest), true);
    RC_ASSERT(dues_.empty());
  }

 private:
  using Fired = typename WheelDriver<Config>::Fired;
  static constexpr uint64_t kEpoch = uint64_t{1} << 40;

  uint64_t wheel_now() const { return time_ - (wheel_.time() - wheel_.now()); }
  auto find(uint32_t slot) {
    return std::find_if(dues_.begin(), dues_.end(), [&](const auto& d) { return d.second == slot; });
  }
  void disarm(uint32_t slot) {
    const auto armed = find(slot);
    if (armed == dues_.end()) return;
    wheel_.disarm(slot);
    dues_.erase(armed);
  }
  void arm(uint32_t slot, uint32_t timeout) {
    disarm(slot);
    wheel_.arm(slot, static_cast<uint32_t>(time_ + timeout));
    dues_.emplace(time_ + timeout, slot);
  }
  /// What fired is a prefix of the multimap's order of deadlines; after a whole pass nothing due is left.
  void check(const std::vector<Fired>& fired, bool whole_pass) {
    for (const Fired& f : fired) {
      const auto armed = find(f.slot);
      RC_ASSERT(armed != dues_.end());                  // once, and only if armed
      RC_ASSERT(armed->first == dues_.begin()->first);  // in the order of deadlines
      RC_ASSERT(armed->first <= time_);                 // never early
      RC_ASSERT(static_cast<uint32_t>(armed->first) == f.due);
      dues_.erase(armed);
    }
    if (whole_pass) RC_ASSERT(dues_.empty() || dues_.begin()->first > time_);
    RC_ASSERT(wheel_now() <= time_);
  }

  WheelDriver<Config> wheel_;
  std::multimap<uint64_t, uint32_t> dues_;
  uint64_t time_;
};

template <class Config>
void behaves_like_a_sorted_multimap() {
  // Starts near the wrap of ticks are as frequent as all others together.
  const uint32_t start = *rc::gen::oneOf(
      rc::gen::inRange<uint32_t>(0u, 300u), rc::gen::arbitrary<uint32_t>(),
      rc::gen::map(rc::gen::inRange<uint32_t>(0u, 300u), [](uint32_t t) { return ~t; }), rc::gen::just(0x7fffffffu));
  Model<Config> model(start);
  const uint32_t span = std::min(WheelDriver<Config>::kSpan, 5000u);
  for (const Op& op : *ops(std::min(Config::kSlots, 16u), Config::kLists, span)) model.apply(op);
  model.finish();
}

/// Lists per level, ratio, levels.
RC_GTEST_PROP(TimeoutWheelProperty, BehavesLikeASortedMultimapWith4Lists2Levels, ()) {
  behaves_like_a_sorted_multimap<hls::BankConfig<3, 2, 2, 1, 2>>();
}
RC_GTEST_PROP(TimeoutWheelProperty, BehavesLikeASortedMultimapWith4Lists4Levels, ()) {
  behaves_like_a_sorted_multimap<hls::BankConfig<4, 2, 2, 1, 4>>();
}
RC_GTEST_PROP(TimeoutWheelProperty, BehavesLikeASortedMultimapWith8Lists3Levels, ()) {
  behaves_like_a_sorted_multimap<hls::BankConfig<4, 2, 3, 2, 3>>();
}
RC_GTEST_PROP(TimeoutWheelProperty, BehavesLikeASortedMultimapWith16Lists2Levels, ()) {
  behaves_like_a_sorted_multimap<hls::BankConfig<4, 2, 4, 1, 2>>();
}
RC_GTEST_PROP(TimeoutWheelProperty, BehavesLikeASortedMultimapOnACard, ()) {
  behaves_like_a_sorted_multimap<hls::CardBankConfig>();
}

}  // namespace
}  // namespace tidemill::test
