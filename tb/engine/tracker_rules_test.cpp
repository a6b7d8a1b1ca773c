// SPDX-License-Identifier: Apache-2.0
/// What the tracker remembers from event to event: admission, tries, waits, back-off, deadlines, recoveries.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "tracker_records.hpp"

namespace tidemill::test {
namespace {

using abi::ActionKind;
using abi::Status;
using hls::SlotRecord;
using hls::Tracker;
using hls::Verdict;
using S = abi::SlotState;

/// A slot whose events are given in order; what the bank writes back is written back here.
class Life {
 public:
  explicit Life(const SlotRecord& r) : record_(r) {}
  Verdict turn() { return take(Tracker::on_turn(record_, event(abi::EventKind::grant))); }
  Verdict sent(Status status = Status::success, uint8_t recovery = 0) {
    return take(Tracker::on_sent(record_, sent_report(status, recovery)));
  }
  Verdict modify(uint32_t ticks) {
    abi::Event e = event(abi::EventKind::modify);
    e.timeout(ticks);
    record_.place.override_wait(ticks);
    return take(Tracker::on_modify(record_, e));
  }
  Verdict expire() {
    const Verdict v = Tracker::on_expiry(record_, kNow);
    if (v.enqueue) record_.pace = Tracker::next_pace(record_.pace);
    return take(v);
  }
  /// Ticks that the timer of this verdict grants, beyond the current one.
  static uint32_t wait(const Verdict& v) { return v.due - kNow - 1; }
  SlotRecord& record() { return record_; }

 private:
  Verdict take(const Verdict& v) {
    record_.flags = v.flags;
    return v;
  }
  SlotRecord record_;
};

/// Waits of all tries of a request that is never answered.
std::vector<uint32_t> waits(uint32_t timeout, uint32_t cap, uint8_t retries) {
  SlotRecord r = record(S::free);
  r.flags.expects(true);
  r.flags.retries(retries);
  r.pace.try_wait(timeout);
  r.pace.cap(cap);
  Life life(r);
  std::vector<uint32_t> out;
  for (;;) {
    EXPECT_EQ(life.turn().action, ActionKind::transmit);
    out.push_back(Life::wait(life.sent()));
    const Verdict v = life.expire();
    if (!v.release) continue;
    EXPECT_EQ(v.status, Status::timeout);
    return out;
  }
}

TEST(TrackerTimer, StartsWhenTheTryWasSentAndIsNeverEarly) {
  EXPECT_EQ(Tracker::after(kNow, 10), kNow + 11) << "ten whole ticks lie between any moment of tick 100 and tick 111";
  EXPECT_EQ(Tracker::on_sent(record(S::sending), sent_report(Status::success)).due, Tracker::after(kNow, kTryWait));
}

TEST(TrackerTimer, WorksAcrossTheWrapOfTicks) {
  EXPECT_EQ(Tracker::after(0xffffffffu, 0), 0u);
  EXPECT_TRUE(Tracker::reached(3, 0xfffffff0u));
  EXPECT_FALSE(Tracker::reached(0xfffffff0u, 3));
  EXPECT_EQ(Tracker::earlier(3, 0xfffffff0u), 0xfffffff0u);
}

TEST(TrackerTimer, WaitsAtMostHalfOfWhatTicksCanTellApart) {
  EXPECT_EQ(Tracker::after(0, 0xffffffffu), Tracker::kMaxTicks + 1);
  EXPECT_EQ(Tracker::after(0, Tracker::kMaxTicks), Tracker::kMaxTicks + 1);
  EXPECT_EQ(Tracker::after(0, Tracker::kMaxTicks - 1), Tracker::kMaxTicks);
}

TEST(TrackerBackoff, IsLinearByDefault) {
  EXPECT_THAT(waits(10, 0, 4), ::testing::ElementsAre(10, 10, 10, 10, 10));
}

TEST(TrackerBackoff, DoublesUpToTheCapOnRequest) {
  EXPECT_THAT(waits(10, 45, 4), ::testing::ElementsAre(10, 20, 40, 45, 45));
}

TEST(TrackerBackoff, NeverWaitsLessThanTheTimeoutAskedFor) {
  EXPECT_THAT(waits(10, 3, 2), ::testing::ElementsAre(10, 10, 10));
}

TEST(TrackerBackoff, StopsDoublingBeforeTicksOverflow) {
  const auto w = waits(0x20000000u, 0xffffffffu, 5);
  EXPECT_THAT(w, ::testing::ElementsAre(0x20000000u, Tracker::kMaxTicks, Tracker::kMaxTicks, Tracker::kMaxTicks,
                                        Tracker::kMaxTicks, Tracker::kMaxTicks));
}

RC_GTEST_PROP(TrackerBackoffProperty, TriesAreOneMoreThanRetriesAndWaitsFollowTheFormula, ()) {
  const auto timeout = *rc::gen::inRange<uint32_t>(1, 100'000), cap = *rc::gen::inRange<uint32_t>(0, 1'000'000);
  const auto retries = *rc::gen::inRange<uint8_t>(0, 40);
  const auto w = waits(timeout, cap, retries);
  RC_ASSERT(w.size() == retries + 1u);
  uint64_t expected = timeout;
  for (const uint32_t wait : w) {
    RC_ASSERT(wait == expected);
    if (cap != 0) expected = std::max<uint64_t>(timeout, std::min<uint64_t>(2 * expected, cap));
  }
}

TEST(TrackerTries, AreCountedFromOne) {
  Life life(record(S::free));
  EXPECT_EQ(life.turn().flags.tries(), 1);
}

TEST(TrackerTries, OfTheLongestSendAreNotCountedRoundToZero) {
  SlotRecord r = record(S::retry);
  r.flags.tries(255);
  EXPECT_EQ(Tracker::on_turn(r, event(abi::EventKind::grant)).flags.tries(), 255) << "255 retries are 256 tries";
}

TEST(TrackerModify, ReplacesThePendingWaitOnlyWhileSending) {
  SlotRecord r = record(S::free);
  r.flags.expects(true);
  r.flags.retries(1);
  r.pace.try_wait(10);
  Life life(r);
  life.turn();
  life.modify(70);
  EXPECT_EQ(Life::wait(life.sent()), 70u);
  life.expire();
  life.turn();
  EXPECT_EQ(Life::wait(life.sent()), 10u) << "the next try waits the original timeout";
}

TEST(TrackerModify, ReplacesTheCurrentWaitOnlyWhileWaiting) {
  Life life(record(S::waiting));
  EXPECT_EQ(Life::wait(life.modify(70)), 70u);
  life.expire();
  life.turn();
  EXPECT_EQ(Life::wait(life.sent()), kTryWait);
}

TEST(TrackerModify, DoesNotChangeWhatBackoffDoubles) {
  SlotRecord r = record(S::waiting);
  r.pace.cap(1000);
  Life life(r);
  life.modify(300);
  life.expire();
  life.turn();
  EXPECT_EQ(Life::wait(life.sent()), 2 * kTryWait);
}

TEST(TrackerModify, OfATryThatWasFlushedHoldsForItsNextStart) {
  Life life(record(S::sending));
  life.modify(70);
  life.sent(Status::flushed, 1);
  life.turn();
  EXPECT_EQ(Life::wait(life.sent()), 70u);
}

TEST(TrackerModify, BeforeTheDescriptorHoldsForTheFirstWait) {
  Life life(record(S::free));
  life.modify(70);
  abi::Event descriptor = event(abi::EventKind::descriptor);
  descriptor.timeout(10);
  life.record() = Tracker::admit(life.record(), descriptor);
  life.turn();
  EXPECT_EQ(Life::wait(life.sent()), 70u);
}

TEST(TrackerRecovery, ResendsAFlushedTryOncePerRecovery) {
  Life life(record(S::sending));
  EXPECT_TRUE(life.sent(Status::flushed, 1).enqueue);
  life.turn();
  EXPECT_EQ(life.sent(Status::flushed, 1).action, ActionKind::complete) << "flushed twice in one recovery";

  Life other(record(S::sending));
  for (uint8_t recovery = 1; recovery <= 5; ++recovery) {
    EXPECT_TRUE(other.sent(Status::flushed, recovery).enqueue) << "recovery " << int{recovery};
    other.turn();
  }
}

TEST(TrackerRecovery, AFlushedTryCountsNeitherAsATryNorAsARetry) {
  Life life(record(S::sending));
  life.sent(Status::flushed, 1);
  EXPECT_EQ(life.turn().flags.tries(), 1);
  EXPECT_EQ(life.record().flags.retries(), 2);
}

TEST(TrackerRecovery, WithoutOneAFlushedTryEndsItsSend) {
  const Verdict v = Tracker::on_sent(record(S::sending), sent_report(Status::flushed, 0));
  EXPECT_EQ(v.action, ActionKind::complete);
  EXPECT_EQ(v.status, Status::flushed);
}

/// A descriptor that fills every field.
abi::Event full_descriptor() {
  abi::Event e = event(abi::EventKind::descriptor);
  e.tid(0x0000070011223344u);
  e.agent(0x700);
  e.mgmt_class(0x81);
  e.timeout(30);
  e.backoff_cap(90);
  e.deadline(200);
  e.peer(0xabcdef01u);
  e.own_address(17);
  e.lane(12);
  e.retries(3);
  e.port(2);
  e.qp(true);
  e.grh(true);
  e.match_source(true);
  e.counted(true);
  return e;
}

TEST(TrackerAdmit, TakesEveryFieldOfTheDescriptor) {
  const SlotRecord r = Tracker::admit(record(S::free), full_descriptor());
  EXPECT_EQ(r.tid, 0x0000070011223344u);
  EXPECT_EQ(r.owner.agent(), 0x700u);
  EXPECT_EQ(r.owner.lane(), 12);
  EXPECT_EQ(r.owner.own_address(), 17);
  EXPECT_EQ(r.owner.port(), 2);
  EXPECT_EQ(r.pace.try_wait(), 30u);
  EXPECT_EQ(r.pace.cap(), 90u);
  EXPECT_EQ(r.limits.deadline(), Tracker::after(kNow, 200));
  EXPECT_EQ(r.limits.peer(), 0xabcdef01u);
  EXPECT_EQ(r.flags.generation(), 5);
  EXPECT_EQ(r.flags.mgmt_class(), 0x81);
  EXPECT_EQ(r.flags.retries(), 3);
  EXPECT_EQ(r.flags.tries(), 0);
  EXPECT_TRUE(r.flags.expects() && r.flags.counted() && r.flags.qp() && r.flags.grh() && r.flags.match_source() &&
              r.flags.timed());
  EXPECT_FALSE(r.flags.left() || r.flags.modified() || r.flags.placed());
}

TEST(TrackerAdmit, WithoutTimeoutNoResponseIsExpected) {
  abi::Event e = full_descriptor();
  e.timeout(0);
  EXPECT_FALSE(Tracker::admit(record(S::free), e).flags.expects());
}

TEST(TrackerAdmit, WithoutDeadlineThereIsNone) {
  abi::Event e = full_descriptor();
  e.deadline(0);
  EXPECT_FALSE(Tracker::admit(record(S::free), e).flags.timed());
}

TEST(TrackerAdmit, ADeadlineAnnouncedBeforeStandsAgainstTheDescriptors) {
  const SlotRecord r = Tracker::admit(timed(record(S::queued), 130), full_descriptor());
  EXPECT_EQ(r.limits.deadline(), 130u) << "it counts from the announcement, not from the grant";
  abi::Event e = full_descriptor();
  e.deadline(0);
  EXPECT_TRUE(Tracker::admit(timed(record(S::queued), 130), e).flags.timed());
}

TEST(TrackerAdmit, LeavesNothingOfTheSlotsFormerSend) {
  SlotRecord former = record(S::free);
  former.pace.cap(77);
  former.limits.peer(99);
  former.owner.lane(1234);
  former.flags.linked(0b10);
  SlotRecord r = Tracker::admit(former, full_descriptor());
  EXPECT_EQ(r.flags.linked(), 0b10) << "but its entry in a retry queue is the slot's, not the send's";
  r.flags.linked(0);
  const SlotRecord fresh = Tracker::admit(record(S::free), full_descriptor());
  EXPECT_TRUE(r.flags == fresh.flags && r.owner == fresh.owner && r.pace == fresh.pace && r.limits == fresh.limits);
}

TEST(TrackerGeneration, NamesExactlyOneUseOfASlot) {
  abi::Event e = event(abi::EventKind::cancel);
  EXPECT_TRUE(Tracker::named_by(record(S::waiting).flags, e));
  for (const uint16_t other : {uint16_t{4}, uint16_t{6}, uint16_t{0xffff}}) {
    e.generation(other);
    EXPECT_FALSE(Tracker::named_by(record(S::waiting).flags, e));
  }
}

}  // namespace
}  // namespace tidemill::test
