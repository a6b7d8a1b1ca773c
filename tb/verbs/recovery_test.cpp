// SPDX-License-Identifier: Apache-2.0
/// Books and recovery, driven by sequences of completions; no device.
#include "recovery.hpp"

#include <gmock/gmock.h>

#include "send_queue.hpp"

namespace tidemill::verbs {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using Outcome = SendQueue::Outcome;
using Step = Recovery::Step;

SendReport sent(uint64_t token) {
  return {token, WireStatus::sent, 0, 0};
}
SendReport error(uint64_t token, uint8_t vendor) {
  return {token, WireStatus::error, vendor, 0};
}
SendReport flushed(uint64_t token, uint8_t recovery) {
  return {token, WireStatus::flushed, 0, recovery};
}

struct SendQueueTest : testing::Test {
  SendQueue queue{8};
  std::vector<uint32_t> handles;
  /// Ids start at 0; token of id n is 100 + n, its handle n.
  void post(unsigned count) {
    for (unsigned i = 0; i < count; ++i) queue.posted(100 + queue.next_id(), static_cast<uint32_t>(queue.next_id()));
  }
  std::vector<SendReport> reports() {
    std::vector<SendReport> r;
    queue.take(r, handles);
    return r;
  }
};

TEST_F(SendQueueTest, ACompletionSpeaksForAllBeforeIt) {
  post(4);
  queue.completed(2, Outcome::success, 0);
  EXPECT_THAT(reports(), ElementsAre(sent(100), sent(101), sent(102)));
  EXPECT_THAT(handles, ElementsAre(0, 1, 2));
  EXPECT_EQ(queue.outstanding(), 1u);
}

TEST_F(SendQueueTest, AnErrorIsThatOfItsOwnSendOnly) {
  post(4);
  queue.completed(1, Outcome::error, 4);
  EXPECT_THAT(reports(), ElementsAre(sent(100), error(101, 4)));
  queue.completed(3, Outcome::success, 0);
  EXPECT_THAT(reports(), ElementsAre(sent(102), sent(103)));
}

TEST_F(SendQueueTest, FlushedTriesWaitForTheRecoveryAndThenCarryItsNumber) {
  post(4);
  queue.completed(1, Outcome::error, 4);
  queue.completed(2, Outcome::flushed, 0);
  queue.completed(3, Outcome::flushed, 0);
  EXPECT_THAT(reports(), ElementsAre(sent(100), error(101, 4)));
  queue.held_back(200);  // given meanwhile
  queue.recovered(1);
  EXPECT_THAT(reports(), ElementsAre(flushed(102, 1), flushed(103, 1), flushed(200, 1)));
  EXPECT_FALSE(queue.has_reports());
}

TEST_F(SendQueueTest, WhatNeverComesBackCountsAsFlushedInItsOldPlace) {
  post(4);
  queue.completed(0, Outcome::flushed, 0);
  queue.held_back(200);
  queue.forget();
  queue.recovered(7);
  EXPECT_THAT(reports(),
              ElementsAre(flushed(100, 7), flushed(101, 7), flushed(102, 7), flushed(103, 7), flushed(200, 7)));
  EXPECT_THAT(handles, ElementsAre(0, 1, 2, 3));
}

TEST_F(SendQueueTest, CompletionsOfAnEarlierLifeAreIgnored) {
  post(4);
  queue.forget();
  queue.recovered(1);
  (void)reports();
  post(2);
  for (uint64_t id = 0; id < 4; ++id) queue.completed(id, Outcome::flushed, 0);
  queue.completed(17, Outcome::success, 0);
  EXPECT_FALSE(queue.has_reports());
  queue.completed(5, Outcome::success, 0);
  EXPECT_THAT(reports(), ElementsAre(sent(104), sent(105)));
}

TEST_F(SendQueueTest, WhatTheDeviceDidNotTakeEndsWithAnErrorAndThoseBehindGoAgain) {
  post(5);
  queue.not_posted(2, 0xf2);
  EXPECT_EQ(queue.outstanding(), 2u);
  EXPECT_EQ(queue.next_id(), 2u);
  queue.forget();
  queue.recovered(1);
  EXPECT_THAT(reports(),
              ElementsAre(error(102, 0xf2), flushed(100, 1), flushed(101, 1), flushed(103, 1), flushed(104, 1)));
  EXPECT_THAT(handles, testing::UnorderedElementsAre(0, 1, 2, 3, 4));
}

TEST_F(SendQueueTest, GoesRoundItsRingForEver) {
  for (unsigned round = 0; round < 100; ++round) {
    post(1 + round % 8);
    queue.completed(queue.next_id() - 1, Outcome::success, 0);
    EXPECT_EQ(reports().size(), 1 + round % 8);
    EXPECT_EQ(queue.outstanding(), 0u);
  }
}

TEST(Recovery, OfASendErrorWaitsForTheLastFlushThenResumes) {
  Recovery r;
  r.failed(0ms);
  EXPECT_FALSE(r.ready());
  EXPECT_EQ(r.next(1ms, QueuePairState::send_error, 3), Step::none);
  EXPECT_EQ(r.next(2ms, QueuePairState::send_error, 0), Step::resume);
  EXPECT_EQ(r.finished(2ms, true), 1);
  EXPECT_TRUE(r.ready());
}

TEST(Recovery, OfAnErrorRestarts) {
  Recovery r;
  r.failed(0ms);
  EXPECT_EQ(r.next(0ms, QueuePairState::error, 0), Step::restart);
  EXPECT_EQ(r.finished(0ms, true), 1);
}

TEST(Recovery, AQueuePairThatGoesOnNeedsNone) {
  Recovery r;
  r.failed(0ms);
  EXPECT_EQ(r.next(0ms, QueuePairState::working, 5), Step::none);
  EXPECT_TRUE(r.ready());
}

TEST(Recovery, WithoutAllFlushesRestartsAfterAWhile) {
  for (const auto seen : {QueuePairState::send_error, QueuePairState::error}) {
    Recovery r;
    r.failed(0ms);
    EXPECT_EQ(r.next(99ms, seen, 1), Step::none);
    EXPECT_EQ(r.next(100ms, seen, 1), Step::restart);
  }
}

TEST(Recovery, ForGoodRestartsEvenOneThatSaysItWorks) {
  Recovery r;
  r.failed(0ms, true);
  EXPECT_EQ(r.next(1ms, QueuePairState::working, 2), Step::none);
  EXPECT_EQ(r.next(100ms, QueuePairState::working, 2), Step::restart);
  EXPECT_EQ(r.finished(100ms, true), 1);
  r.failed(200ms);
  EXPECT_EQ(r.next(200ms, QueuePairState::working, 0), Step::none);
  EXPECT_TRUE(r.ready());
}

TEST(Recovery, AFailedOneIsTriedAgainAndIsNoRecovery) {
  Recovery r;
  r.failed(0ms);
  EXPECT_EQ(r.next(0ms, QueuePairState::error, 0), Step::restart);
  EXPECT_EQ(r.finished(0ms, false), 0);
  EXPECT_TRUE(r.lost());
  EXPECT_EQ(r.next(99ms, QueuePairState::error, 0), Step::none);
  EXPECT_EQ(r.next(100ms, QueuePairState::working, 0), Step::restart);
  EXPECT_EQ(r.finished(100ms, true), 1);
  EXPECT_FALSE(r.lost());
}

TEST(Recovery, NumbersGoFrom1To255AndRound) {
  Recovery r;
  for (unsigned i = 0; i < 600; ++i) {
    r.failed(0ms);
    EXPECT_EQ(r.finished(0ms, true), i % 255 + 1);
  }
}

}  // namespace
}  // namespace tidemill::verbs
