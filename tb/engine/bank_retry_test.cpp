// SPDX-License-Identifier: Apache-2.0
/// Further tries: after a timeout, after a flush by the wire, and when the TID matcher has no room.
#include "bank_fixture.hpp"

namespace tidemill::test {
namespace {

using abi::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(BankTest, TimesOutAfterAllTriesAndNeverEarly) {
  const Send send{.timeout = 10, .retries = 1};
  waiting(send);
  expire(10);
  EXPECT_THAT(bank_.grant(), AllOf(IsTransmit(), AfterTries(2)));
  bank_.sent(send);
  EXPECT_THAT(bank_.run(10), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(AllOf(Completes(Status::timeout), AfterTries(2))));
}

TEST_F(BankTest, TheTimerOfATryStartsWhenItIsSent) {
  const Send send{.timeout = 10};
  on_wire(send);
  EXPECT_THAT(bank_.run(1000), IsEmpty());
  bank_.sent(send);
  EXPECT_THAT(bank_.run(10), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::timeout)));
}

TEST_F(BankTest, NoTimerRunsInTheRetryQueue) {
  const Send send{.timeout = 10, .retries = 1};
  waiting(send);
  expire(10);
  EXPECT_THAT(bank_.run(1000), IsEmpty());
  EXPECT_THAT(bank_.grant(), IsTransmit());
}

TEST_F(BankTest, RetriesWaitLinearlyByDefault) {
  const Send send{.timeout = 7, .retries = 3};
  waiting(send);
  for (unsigned retry = 0; retry < 3; ++retry) {
    expire(7);
    ASSERT_THAT(bank_.grant(), IsTransmit());
    bank_.sent(send);
  }
  EXPECT_THAT(bank_.run(7), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(AllOf(Completes(Status::timeout), AfterTries(4))));
}

TEST_F(BankTest, BackOffDoublesTheWaitUpToItsCap) {
  const Send send{.timeout = 10, .retries = 4, .backoff_cap = 50};
  on_wire(send);
  for (const uint32_t wait : {10u, 20u, 40u, 50u}) {
    bank_.sent(send);
    expire(wait);
    ASSERT_THAT(bank_.grant(), IsTransmit());
  }
  bank_.sent(send);
  EXPECT_THAT(bank_.run(50), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(AllOf(Completes(Status::timeout), AfterTries(5))));
}

TEST_F(BankTest, ACapBelowTheTimeoutShortensNoWait) {
  const Send send{.timeout = 10, .retries = 1, .backoff_cap = 3};
  waiting(send);
  expire(10);
  bank_.grant();
  bank_.sent(send);
  EXPECT_THAT(bank_.run(10), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::timeout)));
}

TEST_F(BankTest, TheLongestWaitIsTwoToThe30Ticks) {
  waiting({.timeout = 0xffffffffu});
  EXPECT_EQ(bank_.bank().memory().due(0), (1u << 30) + 1u);
}

TEST_F(BankTest, TwoHundredFiftyFiveRetriesAreTwoHundredFiftySixTries) {
  const Send send{.timeout = 1, .retries = 255};
  on_wire(send);
  for (unsigned retry = 0; retry < 255; ++retry) {
    bank_.sent(send);
    ASSERT_THAT(bank_.run(2), ElementsAre(IsRetryQueued()));
    ASSERT_THAT(bank_.grant(), IsTransmit());
  }
  bank_.sent(send);
  EXPECT_THAT(bank_.run(2), ElementsAre(Completes(Status::timeout)));
}

TEST_F(BankTest, AFlushedTryIsSentAgainOnceInARecovery) {
  const Send send;
  on_wire(send);
  EXPECT_THAT(bank_.sent(send, Status::flushed, 1), IsRetryQueued());
  EXPECT_THAT(bank_.grant(), AllOf(IsTransmit(), AfterTries(1)));
  EXPECT_THAT(bank_.sent(send, Status::flushed, 1), Completes(Status::flushed));
}

TEST_F(BankTest, AFlushedTryIsSentAgainInEachRecovery) {
  const Send send;
  on_wire(send);
  for (uint8_t recovery = 1; recovery < 5; ++recovery) {
    ASSERT_THAT(bank_.sent(send, Status::flushed, recovery), IsRetryQueued());
    ASSERT_THAT(bank_.grant(), AllOf(IsTransmit(), AfterTries(1)));
  }
  bank_.sent(send);
  EXPECT_THAT(bank_.response(send), AllOf(IsMatch(), AfterTries(1)));
}

TEST_F(BankTest, AFlushWithoutARecoveryCompletesTheSend) {
  const Send send{.retries = 3};
  on_wire(send);
  EXPECT_THAT(bank_.sent(send, Status::flushed, 0), Completes(Status::flushed));
}

TEST_F(BankTest, AFlushedTryCostsNoRetry) {
  const Send send{.timeout = 5, .retries = 1};
  on_wire(send);
  bank_.sent(send, Status::flushed, 1);
  bank_.grant();
  bank_.sent(send);
  expire(5);
  EXPECT_THAT(bank_.grant(), AllOf(IsTransmit(), AfterTries(2)));
  bank_.sent(send);
  bank_.run(5);
  EXPECT_THAT(bank_.run(1), ElementsAre(AllOf(Completes(Status::timeout), AfterTries(2))));
}

TEST_F(BankTest, AFlushedTryOfASendWithoutAResponseIsSentAgainToo) {
  const Send send{.timeout = 0};
  on_wire(send);
  EXPECT_THAT(bank_.sent(send, Status::flushed, 1), IsRetryQueued());
  EXPECT_THAT(bank_.grant(), IsTransmit());
  EXPECT_THAT(bank_.sent(send), Completes(Status::success));
}

TEST_F(BankTest, FlushedTriesAreSentAgainInTheirOldOrder) {
  const auto send = [](uint16_t slot) { return Send{.slot = slot, .tid_low = slot + 1u}; };
  for (uint16_t slot = 0; slot < 5; ++slot) on_wire(send(slot));
  for (uint16_t slot = 0; slot < 5; ++slot) bank_.sent(send(slot), Status::flushed, 1);
  for (uint16_t slot = 0; slot < 5; ++slot) EXPECT_THAT(bank_.grant(), AllOf(IsTransmit(), OfSlot(slot)));
}

TEST_F(BankTest, EachQpHasItsRetryQueue) {
  const Send smi{.slot = 0, .tid_low = 1, .qp = false}, gsi{.slot = 1, .tid_low = 2, .qp = true};
  on_wire(smi);
  on_wire(gsi);
  EXPECT_FALSE(bank_.sent(smi, Status::flushed, 1).qp());
  EXPECT_TRUE(bank_.sent(gsi, Status::flushed, 1).qp());
  EXPECT_THAT(bank_.grant(true), AllOf(IsTransmit(), OfSlot(1)));
  EXPECT_THAT(bank_.grant(true), IsNothing());
  EXPECT_THAT(bank_.grant(false), AllOf(IsTransmit(), OfSlot(0)));
}

TEST_F(BankTest, AGrantOfAnEmptyRetryQueueGivesItsWireCreditBack) {
  for (const bool qp : {false, true}) {
    const abi::Action a = bank_.grant(qp);
    EXPECT_THAT(a, IsNothing());
    EXPECT_TRUE(a.wire_credit());
    EXPECT_EQ(a.credit_qp(), qp);
  }
}

TEST_F(BankTest, AnEntryOfASendThatIsOverUsesNoGrant) {
  const Send over{.slot = 0, .tid_low = 1}, behind{.slot = 1, .tid_low = 2};
  for (const Send& s : {over, behind}) {
    on_wire(s);
    bank_.sent(s, Status::flushed, 1);
  }
  ASSERT_THAT(bank_.cancel(over), Completes(Status::flushed));
  const abi::Action skipped = bank_.grant();
  EXPECT_THAT(skipped, IsNothing());
  EXPECT_TRUE(skipped.wire_credit());
  EXPECT_THAT(bank_.grant(), AllOf(IsTransmit(), OfSlot(1)));
}

TEST_F(BankTest, AnEntryThatIsLeftOverServesTheNextSendOfItsSlot) {
  const Send over, successor{.generation = 1, .tid_low = 2};
  on_wire(over);
  bank_.sent(over, Status::flushed, 1);
  bank_.cancel(over);
  on_wire(successor);
  const abi::Action flushed = bank_.sent(successor, Status::flushed, 1);
  EXPECT_FALSE(flushed.retry_queued()) << "it stands there already";
  EXPECT_THAT(bank_.grant(), AllOf(IsTransmit(), OfSlot(0)));
  EXPECT_TRUE(bank_.grant().wire_credit());
}

// I26: the wire of the other QP may have no credit, now or ever again.
TEST_F(BankTest, AnEntryThatIsLeftOverInTheOtherQueueHoldsNothingUp) {
  const Send over{.qp = false}, successor{.generation = 1, .tid_low = 2, .qp = true};
  on_wire(over);
  bank_.sent(over, Status::flushed, 1);
  bank_.cancel(over);
  on_wire(successor);
  EXPECT_THAT(bank_.sent(successor, Status::flushed, 1), IsRetryQueued());
  EXPECT_THAT(bank_.grant(true), AllOf(IsTransmit(), OfSlot(0)));
  const abi::Action over_since = bank_.grant(false);
  EXPECT_FALSE(over_since.retry_queued());
  EXPECT_TRUE(over_since.wire_credit());
  EXPECT_FALSE(over_since.credit_qp());
}

/// A matcher that twelve sends fill, filled.
class FullMatcherTest : public CrampedBankTest {
 protected:
  static Send filler(uint16_t slot) { return {.slot = slot, .tid_low = 100u + slot, .timeout = 1000}; }
  void SetUp() override {
    for (uint16_t slot = 0; slot < 12; ++slot) waiting(filler(slot));
  }
  void make_room() { ASSERT_THAT(bank_.response(filler(11)), IsMatch()); }
};

TEST_F(FullMatcherTest, ASendThatFindsNoRoomWaitsInTheRetryQueueUntilThereIsSome) {
  const Send send{.slot = 12};
  const abi::Action refused = bank_.descriptor(send);
  EXPECT_THAT(refused, IsRetryQueued());
  EXPECT_TRUE(refused.wire_credit());
  const abi::Action again = bank_.grant();
  EXPECT_THAT(again, IsRetryQueued());
  EXPECT_TRUE(again.wire_credit());
  make_room();
  EXPECT_THAT(bank_.grant(), AllOf(IsTransmit(), OfSlot(12), AfterTries(1)));
  bank_.sent(send);
  EXPECT_THAT(bank_.response(send), IsMatch());
}

TEST_F(FullMatcherTest, ASendThatFoundNoRoomKeepsItsWindowSlotAndHasAllItsTries) {
  const Send send{.slot = 12, .timeout = 5, .retries = 1, .counted = true};
  EXPECT_FALSE(bank_.descriptor(send).window_credit());
  make_room();
  bank_.grant();
  bank_.sent(send);
  expire(5);
  bank_.grant();
  bank_.sent(send);
  bank_.run(5);
  const auto actions = bank_.run(1);
  EXPECT_THAT(actions, ElementsAre(AllOf(Completes(Status::timeout), AfterTries(2))));
  EXPECT_TRUE(actions[0].window_credit());
}

TEST_F(FullMatcherTest, ASendThatFindsNoRoomIsNotAnswered) {
  const Send send{.slot = 12};
  bank_.descriptor(send);
  EXPECT_THAT(bank_.response(send), Drops(abi::Cause::stale));
}

TEST_F(FullMatcherTest, ASendThatExpectsNoResponseNeedsNoRoom) {
  const Send send{.slot = 12, .timeout = 0};
  on_wire(send);
  EXPECT_THAT(bank_.sent(send), Completes(Status::success));
}

TEST_F(FullMatcherTest, ASendThatFindsNoRoomCanBeCancelled) {
  const Send send{.slot = 12, .counted = true};
  bank_.descriptor(send);
  const abi::Action a = bank_.cancel(send);
  EXPECT_THAT(a, AllOf(Completes(Status::flushed), AfterTries(0)));
  EXPECT_TRUE(a.window_credit());
  EXPECT_THAT(bank_.grant(), IsNothing());
}

TEST_F(FullMatcherTest, ASendThatFindsNoRoomKeepsItsDeadline) {
  bank_.descriptor({.slot = 12, .deadline = 20});
  EXPECT_THAT(bank_.run(20), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(AllOf(Completes(Status::deadline), OfSlot(12))));
}

TEST_F(FullMatcherTest, ADuplicateIsToldFromASendThatFindsNoRoom) {
  EXPECT_THAT(bank_.descriptor({.slot = 12, .tid_low = 103}), Completes(Status::duplicate));
}

TEST_F(FullMatcherTest, OfTwoEqualSendsWithoutRoomTheFirstToFindItIsTransmitted) {
  bank_.descriptor({.slot = 12});
  bank_.descriptor({.slot = 13});
  make_room();
  EXPECT_THAT(bank_.grant(), AllOf(IsTransmit(), OfSlot(12)));
  EXPECT_THAT(bank_.grant(), AllOf(Completes(Status::duplicate), OfSlot(13)));
}

TEST_F(FullMatcherTest, ASendThatFoundNoRoomMeetsAnotherClassOfItsTidAndIsNotLost) {
  const Send send{.slot = 12, .tid_low = 103, .mgmt_class = 0x04};
  ASSERT_THAT(bank_.descriptor(send), IsRetryQueued());
  make_room();
  EXPECT_THAT(bank_.grant(), AllOf(IsTransmit(), OfSlot(12)));
  bank_.sent(send);
  EXPECT_THAT(bank_.response(send), AllOf(IsMatch(), OfSlot(12)));
}

TEST_F(FullMatcherTest, ThoseWithoutRoomTakeTurns) {
  for (uint16_t slot = 12; slot < 16; ++slot)
    ASSERT_THAT(bank_.descriptor({.slot = slot, .tid_low = slot}), IsRetryQueued());
  bank_.grant();
  make_room();
  EXPECT_THAT(bank_.grant(), AllOf(IsTransmit(), OfSlot(13)));
  EXPECT_THAT(bank_.grant(), IsRetryQueued());
}

}  // namespace
}  // namespace tidemill::test
