// SPDX-License-Identifier: Apache-2.0
/// What a host may still say about a send: cancel, modify, a total deadline, the flush of its agent.
#include "bank_fixture.hpp"

namespace tidemill::test {
namespace {

using abi::Cause;
using abi::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---------------------------------------------------------------------------------------------------------- cancel

TEST_F(BankTest, ACancelledSendCompletesAsFlushed) {
  waiting({});
  EXPECT_THAT(bank_.cancel({}), AllOf(Completes(Status::flushed), AfterTries(1)));
  EXPECT_THAT(bank_.run(100), IsEmpty());
}

TEST_F(BankTest, ACancelOnTheWireCompletesWithTheSentReportWhateverThatSays) {
  Send send;
  for (const Status wire : {Status::success, Status::error, Status::flushed}) {
    on_wire(send);
    ASSERT_THAT(bank_.cancel(send), IsNothing());
    EXPECT_THAT(bank_.sent(send, wire, 1), Completes(Status::flushed));
    ++send.generation;
  }
}

TEST_F(BankTest, ACancelOfAnAnsweredSendChangesNothing) {
  on_wire({});
  bank_.response({});
  EXPECT_THAT(bank_.cancel({}), IsNothing());
  EXPECT_THAT(bank_.sent({}), Completes(Status::success));
}

TEST_F(BankTest, ASecondCancelChangesNothing) {
  on_wire({});
  bank_.cancel({});
  EXPECT_THAT(bank_.cancel({}), IsNothing());
  EXPECT_THAT(bank_.sent({}), Completes(Status::flushed));
  EXPECT_THAT(bank_.cancel({}), Rejects(Cause::stale_command));
}

TEST_F(BankTest, ACancelThatOvertakesItsDescriptorCompletesAtOnce) {
  const Send send{.agent = 9, .counted = true};
  const abi::Action a = bank_.cancel(send);
  EXPECT_THAT(a, AllOf(Completes(Status::flushed), AfterTries(0)));
  EXPECT_EQ(a.agent(), 9u);
  EXPECT_FALSE(a.window_credit()) << "its descriptor has not taken one yet";
  const abi::Action late = bank_.descriptor(send);
  EXPECT_THAT(late, Rejects(Cause::stale_descriptor));
  EXPECT_TRUE(late.window_credit());
  EXPECT_TRUE(late.wire_credit());
}

TEST_F(BankTest, ACancelThatOvertakesItsDescriptorLeavesTheSlotToTheNextSend) {
  const Send cancelled, next{.generation = 1, .tid_low = 2};
  bank_.cancel(cancelled);
  waiting(next);
  EXPECT_THAT(bank_.descriptor(cancelled), Rejects(Cause::stale_descriptor));
  EXPECT_THAT(bank_.response(next), IsMatch());
}

TEST_F(BankTest, ACancelInTheRetryQueueCompletesAtOnce) {
  const Send send{.timeout = 5, .retries = 1};
  waiting(send);
  expire(5);
  EXPECT_THAT(bank_.cancel(send), Completes(Status::flushed));
  EXPECT_THAT(bank_.grant(), IsNothing());
}

// ---------------------------------------------------------------------------------------------------------- modify

TEST_F(BankTest, ModifyReplacesTheCurrentWaitAndOnlyThat) {
  const Send send{.timeout = 10, .retries = 1};
  waiting(send);
  bank_.run(5);
  EXPECT_THAT(bank_.modify(send, 40), IsNothing());
  expire(40);
  bank_.grant();
  bank_.sent(send);
  EXPECT_THAT(bank_.run(10), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::timeout)));
}

TEST_F(BankTest, ModifyCanShortenAWait) {
  waiting({.timeout = 1000});
  bank_.modify({}, 3);
  EXPECT_THAT(bank_.run(3), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::timeout)));
}

TEST_F(BankTest, ModifyOnTheWireIsForTheWaitOfThisTry) {
  const Send send{.timeout = 10, .retries = 1};
  on_wire(send);
  bank_.modify(send, 30);
  bank_.run(100);
  bank_.sent(send);
  expire(30);
  bank_.grant();
  bank_.sent(send);
  expire_last(10);
}

TEST_F(BankTest, ModifyInTheRetryQueueIsForTheNextTry) {
  const Send send{.timeout = 10, .retries = 2};
  waiting(send);
  expire(10);
  bank_.modify(send, 30);
  bank_.grant();
  bank_.sent(send);
  expire(30);
  bank_.grant();
  bank_.sent(send);
  expire_last(10);
}

TEST_F(BankTest, ModifyBeforeTheDescriptorIsForTheFirstTry) {
  const Send send{.timeout = 10, .retries = 1};
  EXPECT_THAT(bank_.modify(send, 30), IsNothing());
  waiting(send);
  expire(30);
  bank_.grant();
  bank_.sent(send);
  expire_last(10);
}

TEST_F(BankTest, ModifyDoesNotDisturbTheBackOff) {
  const Send send{.timeout = 10, .retries = 2, .backoff_cap = 100};
  waiting(send);
  bank_.modify(send, 35);
  expire(35);
  for (const uint32_t wait : {20u, 40u}) {
    bank_.grant();
    bank_.sent(send);
    wait == 40 ? expire_last(40) : expire(wait);
  }
}

TEST_F(BankTest, ModifyCannotMakeASendWithoutAResponseWait) {
  const Send send{.timeout = 0};
  on_wire(send);
  EXPECT_THAT(bank_.modify(send, 30), Rejects(Cause::not_waiting));
  EXPECT_THAT(bank_.sent(send), Completes(Status::success));
}

TEST_F(BankTest, ModifyOfASendThatIsAnsweredOrCancelledIsRefused) {
  const Send answered{.slot = 0, .tid_low = 1}, cancelled{.slot = 1, .tid_low = 2};
  on_wire(answered);
  bank_.response(answered);
  on_wire(cancelled);
  bank_.cancel(cancelled);
  for (const Send& s : {answered, cancelled}) {
    EXPECT_THAT(bank_.modify(s, 30), Rejects(Cause::not_waiting));
    EXPECT_THAT(bank_.announce(s, 30), Rejects(Cause::not_waiting));
  }
}

TEST_F(BankTest, ModifyReachesNoFurtherThanTheDeadline) {
  waiting({.timeout = 10, .deadline = 50});
  bank_.modify({}, 1000);
  EXPECT_THAT(bank_.run(50), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::deadline)));
}

// -------------------------------------------------------------------------------------------------------- deadline

TEST_F(BankTest, ADeadlineOfTheDescriptorCountsFromItsArrival) {
  const Send send{.timeout = 30, .retries = 9, .deadline = 50};
  bank_.run(100);
  waiting(send);
  expire(30);
  bank_.grant();
  bank_.sent(send);
  EXPECT_THAT(bank_.run(19), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(AllOf(Completes(Status::deadline), AfterTries(2))));
}

TEST_F(BankTest, ATimeoutBeforeTheDeadlineIsATimeout) {
  waiting({.timeout = 10, .deadline = 50});
  bank_.run(10);
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::timeout)));
}

TEST_F(BankTest, AnAnnouncedDeadlineCoversTheTimeInTheLane) {
  const Send send{.agent = 9, .counted = true};
  EXPECT_THAT(bank_.announce(send, 20), IsNothing());
  EXPECT_THAT(bank_.run(20), IsEmpty());
  const auto actions = bank_.run(1);
  ASSERT_THAT(actions, ElementsAre(AllOf(Completes(Status::deadline), AfterTries(0))));
  EXPECT_EQ(actions[0].agent(), 9u);
  EXPECT_THAT(bank_.descriptor(send), Rejects(Cause::stale_descriptor));
}

TEST_F(BankTest, AnAnnouncedDeadlineReplacesThatOfTheDescriptor) {
  const Send send{.timeout = 1000, .deadline = 500};
  bank_.announce(send, 20);
  bank_.run(15);
  waiting(send);
  EXPECT_THAT(bank_.run(5), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::deadline)));
}

TEST_F(BankTest, ADeadlineAnnouncedAgainOnlyComesNearer) {
  const Send send;
  bank_.announce(send, 20);
  bank_.announce(send, 50);
  bank_.announce(send, 10);
  EXPECT_THAT(bank_.run(10), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::deadline)));
}

TEST_F(BankTest, ADeadlineCanBeAnnouncedWhileWaiting) {
  waiting({.timeout = 1000});
  bank_.announce({}, 5);
  EXPECT_THAT(bank_.run(5), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::deadline)));
}

TEST_F(BankTest, ADeadlineAnnouncedWhileWaitingDoesNotLengthenTheWait) {
  waiting({.timeout = 10});
  bank_.announce({}, 500);
  bank_.run(10);
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::timeout)));
}

TEST_F(BankTest, ADeadlineCoversTheRetryQueue) {
  const Send send{.timeout = 10, .retries = 1, .deadline = 40};
  waiting(send);
  expire(10);
  EXPECT_THAT(bank_.run(29), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(AllOf(Completes(Status::deadline), AfterTries(1))));
  EXPECT_TRUE(bank_.grant().wire_credit());
}

TEST_F(BankTest, ADeadlineCanBeAnnouncedInTheRetryQueue) {
  const Send send{.timeout = 10, .retries = 1};
  waiting(send);
  expire(10);
  bank_.announce(send, 7);
  EXPECT_THAT(bank_.run(7), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::deadline)));
}

TEST_F(BankTest, ATryOnTheWireOutlivesTheDeadlineUntilItIsSent) {
  const Send send{.deadline = 20};
  on_wire(send);
  EXPECT_THAT(bank_.run(500), IsEmpty());
  EXPECT_THAT(bank_.sent(send), IsNothing());
  EXPECT_THAT(bank_.jump_to(bank_.now()), ElementsAre(Completes(Status::deadline)));
}

TEST_F(BankTest, ADeadlineCanBeAnnouncedOnTheWire) {
  const Send send{.timeout = 1000};
  on_wire(send);
  bank_.announce(send, 20);
  bank_.run(10);
  bank_.sent(send);
  EXPECT_THAT(bank_.run(10), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::deadline)));
}

TEST_F(BankTest, ADescriptorOrRetryWhoseDeadlineHasPassedIsNotTransmitted) {
  const Send first{.slot = 0, .counted = true},
      retry{.slot = 1, .tid_low = 2, .timeout = 5, .retries = 1, .deadline = 20};
  waiting(retry);
  expire(5);
  bank_.announce(first, 10);
  bank_.stall(100);  // the timers are late: the turn comes first
  const abi::Action late = bank_.descriptor(first);
  EXPECT_THAT(late, AllOf(Completes(Status::deadline), AfterTries(0)));
  EXPECT_TRUE(late.window_credit());
  EXPECT_TRUE(late.wire_credit());
  EXPECT_THAT(bank_.grant(), AllOf(Completes(Status::deadline), AfterTries(1)));
  EXPECT_THAT(bank_.jump_to(bank_.now()), IsEmpty());
}

TEST_F(BankTest, ADeadlineWithoutAResponseCoversOnlyTheQueues) {
  const Send send{.timeout = 0, .deadline = 5};
  on_wire(send);
  bank_.run(50);
  EXPECT_THAT(bank_.sent(send), Completes(Status::success));
}

// ----------------------------------------------------------------------------------------------------------- flush

TEST_F(BankTest, AFlushEndsEverySendOfItsAgentAndNoOther) {
  const auto send = [](uint16_t slot, uint32_t agent) {
    return Send{.slot = slot, .agent = agent, .tid_low = slot, .counted = true};
  };
  for (uint16_t slot = 0; slot < 16; ++slot) waiting(send(slot, 1 + slot % 3));
  const auto actions = bank_.flush(2);
  ASSERT_EQ(actions.size(), 5u);
  for (const abi::Action& a : actions) {
    EXPECT_THAT(a, Completes(Status::flushed));
    EXPECT_EQ(a.agent(), 2u);
    EXPECT_EQ(a.slot() % 3, 1);
    EXPECT_TRUE(a.window_credit());
  }
  EXPECT_THAT(bank_.flush(2), IsEmpty());
  EXPECT_THAT(bank_.response(send(0, 1)), IsMatch());
}

TEST_F(BankTest, AFlushFindsASendInEveryState) {
  const auto send = [](uint16_t slot) { return Send{.slot = slot, .tid_low = slot, .timeout = 5, .retries = 1}; };
  const Send queued = send(0), sending = send(1), waits = send(2), retry = send(3), early = send(4),
             cancelled = send(5);
  waiting(retry);
  expire(5);
  bank_.announce(queued, 100);
  waiting(waits);
  for (const Send& s : {sending, early, cancelled}) on_wire(s);
  bank_.response(early);
  bank_.cancel(cancelled);
  EXPECT_THAT(bank_.flush(1),
              ElementsAre(AllOf(Completes(Status::flushed), OfSlot(0)), AllOf(Completes(Status::flushed), OfSlot(2)),
                          AllOf(Completes(Status::flushed), OfSlot(3))));
  EXPECT_THAT(bank_.sent(sending), Completes(Status::flushed));
  EXPECT_THAT(bank_.sent(early), Completes(Status::success));
  EXPECT_THAT(bank_.sent(cancelled), Completes(Status::flushed));
}

TEST_F(BankTest, AFlushStepLooksAtFourSlotsOrEndsOneSend) {
  EXPECT_EQ(bank_.flush_step(1, 0).cursor(), 4);
  waiting({.slot = 6});
  const abi::Action a = bank_.flush_step(1, 4);
  EXPECT_THAT(a, AllOf(Completes(Status::flushed), OfSlot(6)));
  EXPECT_EQ(a.cursor(), 7);
  EXPECT_TRUE(a.again());
  EXPECT_FALSE(bank_.flush_step(1, 12).again());
}

TEST_F(BankTest, OtherEventsGoOnBetweenTheStepsOfAFlush) {
  const auto send = [](uint16_t slot) { return Send{.slot = slot, .tid_low = slot, .timeout = 5, .retries = 1}; };
  const Send passed = send(0), answered = send(9), expired = send(10), other{.slot = 11, .agent = 2, .tid_low = 11};
  for (const Send& s : {answered, expired}) waiting(s);
  uint16_t cursor = bank_.flush_step(1, 0).cursor();
  on_wire(passed);  // came after the flush had passed it: the lane's drain is for those
  EXPECT_THAT(bank_.response(answered), IsMatch());
  expire(5);
  on_wire(other);
  unsigned completed = 0;
  for (bool again = true; again;) {
    const abi::Action a = bank_.flush_step(1, cursor);
    completed += a.kind() == abi::ActionKind::complete ? 1 : 0;
    cursor = a.cursor();
    again = a.again();
  }
  EXPECT_EQ(completed, 1u) << "the one that waited for its retry";
  EXPECT_THAT(bank_.sent(other), IsNothing());
  EXPECT_THAT(bank_.sent(passed), IsNothing());
}

TEST_F(BankTest, AFlushAfterACommandThatOvertookItsDescriptorEndsTheSend) {
  const Send send{.agent = 7};
  bank_.modify(send, 30);
  EXPECT_THAT(bank_.flush(7), ElementsAre(Completes(Status::flushed)));
  EXPECT_THAT(bank_.descriptor(send), Rejects(Cause::stale_descriptor));
}

TEST_F(BankTest, AFlushTakesAtMostAStepForEverySlot) {
  for (uint16_t slot = 0; slot < 16; ++slot) waiting({.slot = slot, .tid_low = slot});
  unsigned steps = 0;
  uint16_t cursor = 0;
  for (bool again = true; again; ++steps) {
    const abi::Action a = bank_.flush_step(1, cursor);
    cursor = a.cursor();
    again = a.again();
  }
  EXPECT_EQ(steps, 16u);
}

// ---------------------------------------------------------------------------------------------------------- timers

TEST_F(BankTest, EqualTimesAllFireInOnePass) {
  for (uint16_t slot = 0; slot < 16; ++slot) waiting({.slot = slot, .tid_low = slot, .timeout = 20});
  EXPECT_THAT(bank_.run(20), IsEmpty());
  const auto actions = bank_.run(1);
  EXPECT_EQ(actions.size(), 16u);
  EXPECT_THAT(actions, ::testing::Each(Completes(Status::timeout)));
}

TEST_F(BankTest, ALongStallLosesNoTimer) {
  for (uint16_t slot = 0; slot < 16; ++slot) waiting({.slot = slot, .tid_low = slot, .timeout = 1u << (slot + 4)});
  EXPECT_EQ(bank_.jump_to(1u << 20).size(), 16u);
}

}  // namespace
}  // namespace tidemill::test
