// SPDX-License-Identifier: Apache-2.0
/// Random programs of legal and illegal events: a bank does what its model does, action by action.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "bank_trial.hpp"

namespace tidemill::test {
namespace {

/// Values that meet each other often: few TIDs, slots, agents; mostly right generations, short times and now and then a
/// long one.
rc::Gen<Op> any_op(unsigned slots, unsigned horizon) {
  using rc::gen::element;
  using rc::gen::inRange;
  using rc::gen::set;
  const auto what = rc::gen::weightedElement<Do>({{10, Do::descriptor},
                                                  {8, Do::sent},
                                                  {6, Do::response},
                                                  {5, Do::grant},
                                                  {2, Do::cancel},
                                                  {2, Do::modify},
                                                  {2, Do::deadline},
                                                  {3, Do::flush},
                                                  {8, Do::pass},
                                                  {1, Do::stall},
                                                  {2, Do::tick}});
  const auto ticks = rc::gen::weightedOneOf<unsigned>(
      {{6, inRange(0u, 8u)}, {2, inRange(0u, horizon)}, {1, inRange(0u, 4 * horizon)}});
  const auto rarely = [](rc::Gen<unsigned> other) {
    return rc::gen::weightedOneOf<unsigned>({{7, rc::gen::just(0u)}, {1, other}});
  };
  // A few bits at a time, so that most responses are right; window slots are held half of the time.
  const auto any_bits = inRange(0u, Op::kAllBits + 1u);
  const auto bits = rc::gen::map(rc::gen::tuple(any_bits, any_bits, any_bits, inRange(0u, 2u)), [](const auto& t) {
    const auto [a, b, c, counted] = t;
    return (a & b & c) | (counted * Op::kCounted);
  });
  return rc::gen::build<Op>(
      set(&Op::what, what),
      set(&Op::slot, rc::gen::weightedOneOf<unsigned>(
                         {{1, inRange(0u, 3u)}, {3, inRange(0u, slots)}, {1, inRange(0u, slots + 2)}})),
      set(&Op::generation, rarely(element(1u, 2u, 65535u))), set(&Op::agent, inRange(0u, 2u)),
      set(&Op::tid, inRange(0u, slots + 2)), set(&Op::mgmt_class, rarely(inRange(0u, 3u))), set(&Op::ticks, ticks),
      set(&Op::deadline, rarely(inRange(1u, horizon))), set(&Op::cap, rarely(inRange(1u, horizon))),
      set(&Op::retries, inRange(0u, 4u)), set(&Op::status, inRange(0u, 8u)), set(&Op::recovery, inRange(0u, 3u)),
      set(&Op::bits, bits));
}

/// `length`: events of the longest programs. Time starts `before_wrap` ticks before the ticks wrap.
template <class Config>
void does_what_its_model_does(int length, unsigned horizon, uint32_t before_wrap) {
  const auto op = rc::gen::resize(100, any_op(Config::kSlots, horizon));
  const auto program = *rc::gen::resize(length, rc::gen::container<std::vector<Op>>(op));
  const std::string found = BankTrial<Config>(0u - before_wrap).run(program);
  if (!found.empty()) RC_FAIL(found);
}

RC_GTEST_PROP(BankAgainstModel, FourSlots, ()) {
  does_what_its_model_does<hls::BankConfig<2, 0, 2, 1, 3>>(60, 12, 20);
}
RC_GTEST_PROP(BankAgainstModel, EightSlotsAndFourBuckets, ()) {
  does_what_its_model_does<hls::BankConfig<3, 2, 3, 1, 2>>(150, 20, 100);
}
RC_GTEST_PROP(BankAgainstModel, SixteenSlotsAndAMatcherForTwelve, ()) {
  does_what_its_model_does<hls::BankConfig<4, 0, 4, 2, 3>>(300, 40, 200);
}
RC_GTEST_PROP(BankAgainstModel, SixtyFourSlots, ()) {
  does_what_its_model_does<hls::BankConfig<6, 2, 5, 3, 3>>(600, 100, 400);
}
RC_GTEST_PROP(BankAgainstModel, ASixtyFourthOfACard, ()) {
  does_what_its_model_does<hls::BankConfig<7, 6>>(600, 1000, 1u << 31);
}

}  // namespace
}  // namespace tidemill::test
