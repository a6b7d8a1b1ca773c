// SPDX-License-Identifier: Apache-2.0
/// The life of one send in a bank: transmitted, sent, answered or failed; what it is called; what it holds.
#include "bank_fixture.hpp"

namespace tidemill::test {
namespace {

using abi::Cause;
using abi::Status;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(BankTest, TransmitsADescriptorAndCompletesItWithItsResponse) {
  const Send send{.slot = 3};
  EXPECT_THAT(bank_.descriptor(send), AllOf(IsTransmit(), OfSlot(3), AfterTries(1)));
  EXPECT_THAT(bank_.sent(send), IsNothing());
  EXPECT_THAT(bank_.response(send), AllOf(IsMatch(), OfSlot(3), AfterTries(1)));
}

TEST_F(BankTest, CompletesASendWithoutATimeoutWhenItIsSent) {
  const Send send{.timeout = 0};
  on_wire(send);
  EXPECT_THAT(bank_.sent(send), Completes(Status::success));
}

TEST_F(BankTest, NeverAnswersASendWithoutATimeout) {
  const Send send{.timeout = 0};
  on_wire(send);
  EXPECT_THAT(bank_.response(send), Drops(Cause::stale));
}

TEST_F(BankTest, TellsWhoseSendItIs) {
  const Send send{.slot = 5, .agent = 0xabcdef, .tid_low = 77, .lane = 40, .port = 2, .qp = false};
  const abi::Action transmit = bank_.descriptor(send);
  EXPECT_EQ(transmit.port(), 2);
  EXPECT_FALSE(transmit.qp());
  bank_.sent(send);
  const abi::Action match = bank_.response(
      send, [](abi::Event&) {}, 9);
  EXPECT_EQ(match.agent(), 0xabcdefu);
  EXPECT_EQ(match.tid(), send.tid());
  EXPECT_EQ(match.lane(), 40);
  EXPECT_EQ(match.port(), 2);
  EXPECT_EQ(match.buffer(), 9);
}

TEST_F(BankTest, AnEarlyResponseIsDeliveredAtOnceAndCompletesWithTheSentReport) {
  const Send send;
  on_wire(send);
  EXPECT_THAT(bank_.response(send), IsEarlyMatch());
  EXPECT_THAT(bank_.sent(send), Completes(Status::success));
}

TEST_F(BankTest, AnEarlyResponseStopsTheTimer) {
  const Send send{.timeout = 5, .retries = 3};
  on_wire(send);
  bank_.response(send);
  EXPECT_THAT(bank_.run(100), IsEmpty());
}

TEST_F(BankTest, AnEarlyResponseIsTheLast) {
  const Send send;
  on_wire(send);
  bank_.response(send);
  EXPECT_THAT(bank_.response(send), Drops(Cause::duplicate));
}

TEST_F(BankTest, ATryThatIsFlushedAfterItsResponseIsNotSentAgain) {
  const Send send;
  on_wire(send);
  bank_.response(send);
  EXPECT_THAT(bank_.sent(send, Status::flushed, 1), Completes(Status::success));
}

TEST_F(BankTest, AnErrorOfTheWireAfterAnEarlyResponseIsReported) {
  const Send send;
  on_wire(send);
  bank_.response(send);
  EXPECT_THAT(bank_.sent(send, Status::error), Completes(Status::error));
}

TEST_F(BankTest, AnErrorOfTheWireCompletesASendAtOnceWithItsCode) {
  const Send send{.retries = 5};
  on_wire(send);
  const abi::Action a = bank_.sent(send, Status::error, 0, 0x51);
  EXPECT_THAT(a, Completes(Status::error));
  EXPECT_EQ(a.vendor(), 0x51);
  EXPECT_THAT(bank_.run(100), IsEmpty());
}

TEST_F(BankTest, AnErrorOfTheWireHitsARetryToo) {
  const Send send{.timeout = 5, .retries = 2};
  waiting(send);
  expire(5);
  ASSERT_THAT(bank_.grant(), IsTransmit());
  EXPECT_THAT(bank_.sent(send, Status::error), AllOf(Completes(Status::error), AfterTries(2)));
}

TEST_F(BankTest, ALateResponseFindsNothing) {
  const Send send{.timeout = 5};
  waiting(send);
  ASSERT_THAT(bank_.run(6), ElementsAre(Completes(Status::timeout)));
  EXPECT_THAT(bank_.response(send), Drops(Cause::stale));
}

TEST_F(BankTest, ASlotIsFreeWithTheCompletionAndTakesTheNextGeneration) {
  const Send first, second{.generation = 1, .tid_low = 2};
  waiting(first);
  bank_.response(first);
  EXPECT_THAT(bank_.descriptor(first), Rejects(Cause::stale_descriptor));
  waiting(second);
  EXPECT_THAT(bank_.response(second), IsMatch());
}

TEST_F(BankTest, ALiveSlotTakesNoDescriptor) {
  const Send send, same_slot{.tid_low = 2}, next_generation{.generation = 1, .tid_low = 3};
  waiting(send);
  EXPECT_THAT(bank_.descriptor(same_slot), Rejects(Cause::stale_descriptor));
  EXPECT_THAT(bank_.descriptor(next_generation), Rejects(Cause::stale_descriptor));
  EXPECT_THAT(bank_.response(send), IsMatch());
}

TEST_F(BankTest, AStaleGenerationReachesNothing) {
  const Send old, live{.generation = 1, .timeout = 20};
  waiting(old);
  bank_.response(old);
  on_wire(live);
  EXPECT_THAT(bank_.sent(old), Rejects(Cause::stale_sent));
  EXPECT_THAT(bank_.cancel(old), Rejects(Cause::stale_command));
  EXPECT_THAT(bank_.modify(old, 1), Rejects(Cause::stale_command));
  EXPECT_THAT(bank_.announce(old, 1), Rejects(Cause::stale_command));
  EXPECT_THAT(bank_.sent(live), IsNothing());
  EXPECT_THAT(bank_.run(20), IsEmpty());
  EXPECT_THAT(bank_.response(live), IsMatch());
}

TEST_F(BankTest, ASecondSentReportOfATryIsStale) {
  const Send send{.timeout = 5};
  waiting(send);
  bank_.run(3);
  EXPECT_THAT(bank_.sent(send), Rejects(Cause::stale_sent));
  bank_.run(2);
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::timeout)));
}

TEST_F(BankTest, ASlotOutsideOfTheBankIsRefused) {
  const Send send{.slot = 16};
  EXPECT_THAT(bank_.descriptor(send), AllOf(Rejects(Cause::stale_descriptor), OfSlot(16)));
  EXPECT_THAT(bank_.sent(send), Rejects(Cause::stale_sent));
  EXPECT_THAT(bank_.cancel(send), Rejects(Cause::stale_command));
}

TEST_F(BankTest, GenerationsWrapAfter65535) {
  Send send{.timeout = 0};
  for (uint32_t use = 0; use < 0x10000u + 2u; ++use) {
    send.generation = static_cast<uint16_t>(use);
    ASSERT_THAT(bank_.descriptor(send), IsTransmit());
    ASSERT_THAT(bank_.sent(send), Completes(Status::success));
  }
  send.generation = 0xffff;
  EXPECT_THAT(bank_.descriptor(send), Rejects(Cause::stale_descriptor));
}

TEST_F(BankTest, TicksWrapAtTwoToThe32) {
  bank_.start_at(0xfffffff0u);
  const Send send{.timeout = 40, .retries = 1, .deadline = 100};
  waiting(send);
  EXPECT_THAT(bank_.run(40), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(IsRetryQueued()));
  EXPECT_EQ(bank_.now(), 0x19u);
  ASSERT_THAT(bank_.grant(), IsTransmit());
  bank_.sent(send);
  EXPECT_THAT(bank_.run(40), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::timeout)));
}

TEST_F(BankTest, ADeadlineWrapsWithTheTicks) {
  bank_.start_at(0xfffffff0u);
  const Send send{.timeout = 1000, .deadline = 30};
  waiting(send);
  EXPECT_THAT(bank_.run(30), IsEmpty());
  EXPECT_THAT(bank_.run(1), ElementsAre(Completes(Status::deadline)));
}

TEST_F(BankTest, TheWindowSlotComesBackWithTheFirstOfResponseCancelAndCompletion) {
  const auto send = [](uint16_t slot, uint32_t timeout = 10) {
    return Send{.slot = slot, .tid_low = slot + 1u, .timeout = timeout, .counted = true};
  };
  const Send answered = send(0), early = send(1), cancelled = send(2), late = send(3, 3), failed = send(4),
             plain = send(5, 0);
  for (const Send& s : {answered, early, cancelled, late, failed, plain})
    EXPECT_FALSE(bank_.descriptor(s).window_credit());

  bank_.sent(answered);
  EXPECT_TRUE(bank_.response(answered).window_credit());
  EXPECT_TRUE(bank_.response(early).window_credit());
  EXPECT_FALSE(bank_.sent(early).window_credit());
  EXPECT_TRUE(bank_.cancel(cancelled).window_credit());
  EXPECT_FALSE(bank_.sent(cancelled).window_credit());
  EXPECT_TRUE(bank_.sent(failed, Status::error).window_credit());
  EXPECT_TRUE(bank_.sent(plain).window_credit());
  bank_.sent(late);
  const auto actions = bank_.run(4);
  ASSERT_THAT(actions, ElementsAre(Completes(Status::timeout)));
  EXPECT_TRUE(actions[0].window_credit());
}

TEST_F(BankTest, ASendThatHoldsNoWindowSlotGivesNoneBack) {
  const Send send;
  waiting(send);
  EXPECT_FALSE(bank_.response(send).window_credit());
}

TEST_F(BankTest, ARetryKeepsItsWindowSlot) {
  const Send send{.timeout = 5, .retries = 1, .counted = true};
  waiting(send);
  bank_.run(5);
  const auto actions = bank_.run(1);
  ASSERT_THAT(actions, ElementsAre(IsRetryQueued()));
  EXPECT_FALSE(actions[0].window_credit());
  EXPECT_FALSE(bank_.grant().window_credit());
  bank_.sent(send);
  EXPECT_TRUE(bank_.response(send).window_credit());
}

TEST_F(BankTest, ARefusedDescriptorGivesBackWhatItsGrantTook) {
  const Send stale{.generation = 9, .lane = 4, .counted = true};
  const abi::Action a = bank_.descriptor(stale);
  EXPECT_THAT(a, Rejects(Cause::stale_descriptor));
  EXPECT_TRUE(a.window_credit());
  EXPECT_TRUE(a.wire_credit());
  EXPECT_TRUE(a.credit_qp());
  EXPECT_EQ(a.lane(), 4);
}

TEST_F(BankTest, ATransmissionKeepsItsWireCreditUntilItIsSent) {
  const Send send;
  EXPECT_FALSE(bank_.descriptor(send).wire_credit());
}

TEST_F(BankTest, ADrainedDescriptorCompletesAsFlushedAndTookNoCredit) {
  const Send send{.drain = true};
  const abi::Action a = bank_.descriptor(send);
  EXPECT_THAT(a, AllOf(Completes(Status::flushed), AfterTries(0)));
  EXPECT_FALSE(a.wire_credit());
  EXPECT_FALSE(a.window_credit());
}

TEST_F(BankTest, DrainingEndsASendThatIsAlsoADuplicateOrLate) {
  waiting({.slot = 0});
  EXPECT_THAT(bank_.descriptor({.slot = 1, .drain = true}), Completes(Status::flushed));
  bank_.announce({.slot = 2}, 0);
  bank_.stall(5);
  EXPECT_THAT(bank_.descriptor({.slot = 2, .tid_low = 9, .drain = true}), Completes(Status::flushed));
}

TEST_F(BankTest, ADrainedStaleDescriptorTookNoCredit) {
  const abi::Action a = bank_.descriptor({.generation = 9, .drain = true});
  EXPECT_THAT(a, Rejects(Cause::stale_descriptor));
  EXPECT_FALSE(a.wire_credit());
}

}  // namespace
}  // namespace tidemill::test
