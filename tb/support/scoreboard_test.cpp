// SPDX-License-Identifier: Apache-2.0
/// The scoreboard names the invariant that a wrong device breaks: one planted fault a test.
#include <functional>

#include "scoreboard_fixture.hpp"

namespace tidemill::test {
namespace {

using abi::CommandKind;
using abi::CompletionKind;
using abi::Status;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ScoreboardTest, I01_FindsASecondCompletion) {
  const Post p{.timeout = 0};
  on_wire(p);
  sent(p);
  complete(p, Status::success);
  complete(p, Status::success);
  expect_broken("I1 ");
}

TEST_F(ScoreboardTest, I01_FindsAMissingCompletion) {
  waiting({});
  board_.finish(now_);
  EXPECT_THAT(found_, ElementsAre(HasSubstr("I1 ")));
}

TEST_F(ScoreboardTest, I01_FindsACompletionThatDoesNotFollowItsCancel) {
  waiting({});
  command(CommandKind::cancel, {});
  board_.idle(now_);
  expect_broken("I1 ");
}

TEST_F(ScoreboardTest, I02_FindsOutputForWhatWasNotAccepted) {
  transmit({});
  expect_broken("I2 ");
  complete({.slot = 3}, Status::success);
  expect_broken("I2 ");
}

TEST_F(ScoreboardTest, I03_FindsSuccessWithoutAResponse) {
  waiting({});
  complete({}, Status::success);
  expect_broken("I3 ");
}

TEST_F(ScoreboardTest, I04_FindsASecondResponse) {
  on_wire({});
  for (int i = 0; i < 2; ++i) {
    receive({});
    complete({}, Status::success, 1, CompletionKind::response);
  }
  expect_broken("I4 ");
}

TEST_F(ScoreboardTest, I05_FindsAResponseAfterTheCompletion) {
  waiting({});
  pass(11);
  complete({}, Status::timeout);
  receive({});
  complete({}, Status::success, 1, CompletionKind::response);
  expect_broken("I5 ");
}

TEST_F(ScoreboardTest, I06_FindsAMatchedCancelledSend) {
  on_wire({});
  command(CommandKind::cancel, {});
  receive({});
  complete({}, Status::success, 1, CompletionKind::response);
  expect_broken("I6 ");
}

TEST_F(ScoreboardTest, I06_FindsACancelledSendThatEndsOtherwise) {
  on_wire({.timeout = 0});
  command(CommandKind::cancel, {});
  sent({});
  complete({}, Status::success);
  expect_broken("I6 ");
}

TEST_F(ScoreboardTest, I07_FindsAnAnsweredSendThatEndsAsFlushed) {
  on_wire({});
  receive({});
  complete({}, Status::success, 1, CompletionKind::response);
  command(CommandKind::cancel, {});
  sent({});
  complete({}, Status::flushed);
  expect_broken("I7 ");
}

TEST_F(ScoreboardTest, I08_FindsALiveSendHiddenByADeadOne) {
  on_wire({});
  command(CommandKind::cancel, {});
  on_wire({.slot = 1});
  receive({});
  board_.dropped(7, now_);
  expect_broken("I8 ");
}

TEST_F(ScoreboardTest, I09_FindsEveryFieldThatDiffers) {
  uint16_t generation = 0;
  const auto matched_although = [&](const std::function<void(abi::Received&)>& change) {
    const Post p{.generation = generation++};
    waiting(p);
    receive(p, change);
    answer(p);
    expect_broken("I9 ");
  };
  matched_although([](abi::Received& r) { r.tid(r.tid() ^ (1ull << 63)); });
  matched_although([](abi::Received& r) { r.mgmt_class(4); });
  matched_although([](abi::Received& r) { r.port(2); });
  matched_although([](abi::Received& r) { r.qp(false); });
  matched_although([](abi::Received& r) { r.grh(true); });
  matched_although([](abi::Received& r) { r.own_address(6); });
  matched_although([](abi::Received& r) { r.response(false); });
}

TEST_F(ScoreboardTest, I09_FindsAMatchedSendThatNeverLeft) {
  post({});
  receive({});
  complete({}, Status::success, 0, CompletionKind::response);
  expect_broken("I9 ");
}

TEST_F(ScoreboardTest, I10_FindsALostResponse) {
  waiting({});
  receive({});
  board_.dropped(7, now_);
  expect_broken("I10 ");
}

TEST_F(ScoreboardTest, I11_FindsATimerThatRunsOnTheWire) {
  on_wire({});
  pass(1000);
  transmit({}, 2);
  EXPECT_THAT(found_, Contains(HasSubstr("I11 ")));
}

TEST_F(ScoreboardTest, I12_FindsAnEarlyTimeoutAndAnEarlyRetry) {
  waiting({});
  pass(10);
  complete({}, Status::timeout);
  expect_broken("I12 ");
  const Post p{.slot = 1, .tid = 2, .retries = 1};
  waiting(p);
  pass(10);
  transmit(p, 2);
  expect_broken("I12 ");
}

TEST_F(ScoreboardTest, I12_FindsALateTimeout) {
  waiting({});
  pass(11);
  board_.idle(now_);
  expect_broken("I12 ");
}

TEST_F(ScoreboardTest, I13_FindsTooManyAndTooFewTries) {
  waiting({});
  pass(11);
  transmit({}, 2);
  expect_broken("I13 ");
  const Post p{.slot = 1, .tid = 2, .retries = 1};
  waiting(p);
  pass(11);
  complete(p, Status::timeout);
  expect_broken("I13 ");
}

TEST_F(ScoreboardTest, I13_FindsAFlushedTryThatIsSentTwiceInOneRecovery) {
  on_wire({});
  sent({}, Status::flushed, 1);
  transmit({}, 1);
  sent({}, Status::flushed, 1);
  transmit({}, 1);
  EXPECT_THAT(found_, Contains(HasSubstr("I13 ")));
}

TEST_F(ScoreboardTest, I14_FindsOtherBytesInALaterTry) {
  const Post p{.retries = 1};
  post(p, 0xabc);
  transmit(p, 1, 0xabc);
  sent(p);
  pass(11);
  transmit(p, 2, 0xabd);
  expect_broken("I14 ");
}

TEST_F(ScoreboardTest, I15_FindsOutputAfterDeregistration) {
  post({.agent = 9});
  board_.deregistered(9, now_);
  expect_broken("I16 ");
  transmit({});
  expect_broken("I15 ");
}

TEST_F(ScoreboardTest, I16_FindsASendThatAFlushForgot) {
  waiting({});
  command(CommandKind::flush, {});
  flush_done(1);
  expect_broken("I16 ");
}

TEST_F(ScoreboardTest, I16_FindsAFlushedSendThatNobodyFlushed) {
  waiting({});
  complete({}, Status::flushed);
  expect_broken("I16 ");
}

TEST_F(ScoreboardTest, I17_FindsAPostOnAClosingAgent) {
  board_.closing(1);
  post({});
  expect_broken("I17 ");
}

TEST_F(ScoreboardTest, I23_FindsMoreTriesOnTheWireThanCredits) {
  for (uint16_t slot = 0; slot < 5; ++slot) on_wire({.slot = slot, .tid = slot});
  expect_broken("I23 ");
  board_.wire_grown(true, 2);
  on_wire({.slot = 5, .tid = 5});
  EXPECT_THAT(found_, ::testing::IsEmpty());
}

TEST_F(ScoreboardTest, I24_FindsALaneOutOfOrder) {
  post({.slot = 0, .tid = 1});
  post({.slot = 1, .tid = 2});
  transmit({.slot = 1, .tid = 2});
  expect_broken("I24 ");
}

TEST_F(ScoreboardTest, I25_FindsAWindowExceeded) {
  open(1, 1);
  on_wire({.slot = 0, .lane = 1, .tid = 1});
  on_wire({.slot = 1, .lane = 1, .tid = 2});
  expect_broken("I25 ");
}

TEST_F(ScoreboardTest, I25_FindsANarrowedWindowExceeded) {
  open(1, 2);
  on_wire({.slot = 0, .lane = 1, .tid = 1});
  weigh(1, 1);
  on_wire({.slot = 1, .lane = 1, .tid = 2});
  expect_broken("I25 ");
  weigh(1, 3);
  on_wire({.slot = 2, .lane = 1, .tid = 3});
  EXPECT_THAT(found_, ::testing::IsEmpty());
}

TEST_F(ScoreboardTest, I25_FindsAWindowSlotGivenBackTwice) {
  open(1, 2);
  const Post a{.slot = 0, .lane = 1, .tid = 1}, b{.slot = 1, .lane = 1, .tid = 2};
  on_wire(a);
  on_wire(b);
  receive(a);
  complete(a, Status::success, 1, CompletionKind::response);
  sent(a);
  complete(a, Status::success);
  on_wire({.slot = 2, .lane = 1, .tid = 3});
  expect_clean();
  on_wire({.slot = 3, .lane = 1, .tid = 4});
  expect_broken("I25 ");
}

TEST_F(ScoreboardTest, I26_FindsAStalledLaneAndAStalledRetry) {
  open(1, 1);
  post({.slot = 0, .lane = 1, .tid = 1});
  board_.idle(now_);
  expect_broken("I26 ");
  transmit({.slot = 0, .tid = 1});
  const Post p{.slot = 1, .tid = 2, .retries = 1};
  waiting(p);
  pass(11);
  board_.idle(now_);
  expect_broken("I26 ");
}

TEST_F(ScoreboardTest, I27_FindsAStarvedLane) {
  open(1, 0, 2);
  post({.slot = 0, .lane = 0, .tid = 100});
  for (uint16_t slot = 1; slot < 4; ++slot) {
    const Post p{.slot = slot, .lane = 1, .tid = slot, .timeout = 0};
    on_wire(p);
    sent(p);
    complete(p, Status::success);
  }
  transmit({.slot = 0, .tid = 100});
  expect_broken("I27 ");
}

TEST_F(ScoreboardTest, I28_FindsAReplyThatWaitsWithCreditAtHand) {
  post({.timeout = 0});
  board_.idle(now_);
  expect_broken("I28 ");
}

TEST_F(ScoreboardTest, I29_FindsABufferThatComesBackTwiceOrNever) {
  receive({});
  board_.dropped(7, now_);
  board_.dropped(7, now_);
  expect_broken("I29 ");
  receive({});
  board_.finish(now_);
  expect_broken("I29 ");
}

TEST_F(ScoreboardTest, I31_FindsASwallowedError) {
  on_wire({});
  sent({}, Status::error, 0, 3);
  board_.idle(now_);
  expect_broken("I31 ");
  complete({}, Status::error, 1, CompletionKind::send, 4);
  expect_broken("I31 ");
}

TEST_F(ScoreboardTest, FindsADeadlineThatComesTooEarlyOrFromNowhere) {
  waiting({});
  complete({}, Status::deadline);
  expect_broken("policy 3");
  const Post p{.slot = 1, .tid = 2};
  post(p);
  command(CommandKind::deadline, p, 20);
  pass(20);
  complete(p, Status::deadline, 0);
  expect_broken("I12 ");
}

TEST_F(ScoreboardTest, FindsADeadlineThatIsIgnored) {
  post({});
  command(CommandKind::deadline, {}, 5);
  pass(6);
  transmit({});
  expect_broken("policy 3");
}

TEST_F(ScoreboardTest, FindsADuplicateThatIsNoneAndOneThatIsTransmitted) {
  post({});
  complete({}, Status::duplicate, 0);
  expect_broken("policy 7");
  waiting({.generation = 1});
  on_wire({.slot = 1});
  expect_broken("policy 7");
}

TEST_F(ScoreboardTest, KnowsNothingOfBeforeAReset) {
  waiting({});
  board_.reset();
  board_.finish(now_);
  expect_clean();
  complete({}, Status::timeout);
  expect_broken("I2 ");
}

TEST_F(ScoreboardTest, NamesTheSendAndTheTick) {
  waiting({.slot = 5, .agent = 9, .tid = 0x2a});
  complete({.slot = 5, .agent = 9, .tid = 0x2a}, Status::success);
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_THAT(found_[0],
              ::testing::AllOf(HasSubstr("slot 5 generation 0 agent 9 tid 0x90000002a"), HasSubstr("tick 100")));
}

TEST_F(ScoreboardTest, JudgesNoOrderAcrossRings) {
  ScoreboardOptions options = this->options();
  options.in_order = false;
  board_ = Scoreboard(options);
  open(0, 1);
  const Post a{.slot = 0, .tid = 1}, b{.slot = 1, .tid = 2};
  post(a);
  post(b);
  transmit(b);
  transmit(a);
  command(CommandKind::cancel, a);  // on its way to the device, which answers first
  receive(a);
  complete(a, Status::success, 1, CompletionKind::response);
  sent(a);
  complete(a, Status::success);
  board_.idle(now_);
  expect_clean();
}

}  // namespace
}  // namespace tidemill::test
