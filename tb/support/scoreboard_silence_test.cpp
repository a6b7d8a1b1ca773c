// SPDX-License-Identifier: Apache-2.0
/// The scoreboard says nothing over a right device.
#include "scoreboard_fixture.hpp"

namespace tidemill::test {
namespace {

using abi::CommandKind;
using abi::CompletionKind;
using abi::Status;
using Silence = ScoreboardTest;

TEST_F(Silence, OverAnAnsweredSend) {
  const Post p;
  waiting(p);
  receive(p);
  answer(p);
  board_.idle(now_);
  board_.finish(now_);
  expect_clean();
  EXPECT_EQ(board_.counts().by_status[static_cast<unsigned>(Status::success)], 1u);
  EXPECT_EQ(board_.outstanding(), 0u);
}

TEST_F(Silence, OverAnEarlyResponse) {
  const Post p;
  on_wire(p);
  receive(p);
  complete(p, Status::success, 1, CompletionKind::response);
  command(CommandKind::cancel, p);  // loses cleanly
  sent(p);
  complete(p, Status::success);
  board_.finish(now_);
  expect_clean();
}

TEST_F(Silence, OverRetriesWithBackOffAndATimeout) {
  const Post p{.timeout = 10, .retries = 2, .cap = 30};
  on_wire(p);
  uint8_t tries = 1;
  for (const uint32_t wait : {10u, 20u, 30u}) {
    sent(p);
    board_.idle(now_ + wait);
    pass(wait + 1);
    if (tries < 3) transmit(p, ++tries);
  }
  complete(p, Status::timeout, 3);
  board_.finish(now_);
  expect_clean();
}

TEST_F(Silence, OverCancelsInEveryPlace) {
  const Post in_lane{.slot = 0, .tid = 1}, on_the_wire{.slot = 1, .tid = 2}, waits{.slot = 2, .tid = 3};
  on_wire(on_the_wire);
  waiting(waits);
  post(in_lane);
  for (const Post& p : {in_lane, on_the_wire, waits}) command(CommandKind::cancel, p);
  complete(in_lane, Status::flushed, 0);
  complete(waits, Status::flushed);
  sent(on_the_wire, Status::error);
  complete(on_the_wire, Status::flushed);
  board_.idle(now_);
  board_.finish(now_);
  expect_clean();
}

TEST_F(Silence, OverAFlushThatVisitsEveryPlace) {
  open(1, 2);
  const Post a{.slot = 0, .lane = 1, .tid = 1}, b{.slot = 1, .lane = 1, .tid = 2};
  waiting(a);
  on_wire(b);
  command(CommandKind::flush, a);
  complete(a, Status::flushed);
  flush_done(1);
  sent(b);
  complete(b, Status::flushed);
  board_.deregistered(1, now_);
  board_.idle(now_);
  board_.finish(now_);
  expect_clean();
}

TEST_F(Silence, OverAFlushThatMeetsASendHandedDownMeanwhile) {
  const Post met{.slot = 0, .tid = 1}, missed{.slot = 1, .tid = 2};
  post(met);
  command(abi::CommandKind::flush, met);
  transmit(met);
  on_wire(missed);
  flush_done(1);
  receive(met);
  board_.dropped(7, now_);
  sent(met);
  complete(met, Status::flushed);
  sent(missed);
  receive(missed);
  answer(missed);
  board_.idle(now_);
  board_.finish(now_);
  expect_clean();
}

TEST_F(Silence, OverAFlushedTryThatIsSentAgain) {
  const Post p;
  on_wire(p);
  sent(p, Status::flushed, 1);
  transmit(p, 1);
  sent(p);
  receive(p);
  answer(p);
  board_.finish(now_);
  expect_clean();
}

TEST_F(Silence, OverAModifiedWait) {
  const Post p{.retries = 1};
  waiting(p);
  command(CommandKind::modify, p, 100);
  board_.idle(now_ + 100);
  pass(101);
  transmit(p, 2);
  sent(p);
  pass(11);
  complete(p, Status::timeout, 2);
  board_.finish(now_);
  expect_clean();
}

TEST_F(Silence, OverStaleInput) {
  const Post p, next{.generation = 1};
  sent(p);
  waiting(p);
  sent(p);
  command(CommandKind::cancel, next);
  receive(p);
  answer(p);
  sent(p);
  command(CommandKind::modify, p, 5);
  receive(p);
  board_.dropped(7, now_);
  board_.finish(now_);
  expect_clean();
}

}  // namespace
}  // namespace tidemill::test
