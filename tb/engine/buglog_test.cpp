// SPDX-License-Identifier: Apache-2.0
/// What went wrong elsewhere, played on this engine. A letter with a number: a fault of the Linux kernel's MAD layer, A
/// reported in public, B seen in its code.
#include <gmock/gmock.h>

#include "lives.hpp"

namespace tidemill::test {
namespace {

using abi::Cause;
using abi::Status;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using OneBank = WatchedEngine<hls::BankConfig<5, 4>>;
using Roomy = WatchedEngine<hls::BankConfig<9, 8>, 1>;

// A1: post, sent, cancel, and the response before the flush was carried out: it was matched.
TEST(BugLog, AResponseAfterACancelIsDroppedAndTheSendFlushed) {
  OneBank e;
  e.open(0, {});
  const SendName n = e.post(0, {.timeout = 100});
  e.settle();
  e.sent(n);
  e.cancel(n);
  e.respond(n);
  EXPECT_EQ(e.responses(n), 0u);
  EXPECT_EQ(e.completions(n), 1u);
  EXPECT_EQ(e.outcome(n), Status::flushed);
  EXPECT_THAT(e.drops(), SizeIs(1));
  e.finish({1});
}

// A5: header and payload were changed after they had been mapped for the device.
TEST(BugLog, ATryIsDescribedByWhatWasAcceptedNotByWhatIsInTheRingLater) {
  OneBank e;
  e.open(0, {});
  const SendName n = e.post(0, {.timeout = 5, .retries = 1});
  e.settle();
  e.sent(n);
  e.scribble_on_rings();
  e.pass(6);
  ASSERT_TRUE(e.on_wire(n));
  e.sent(n);
  e.respond(n);
  EXPECT_EQ(e.outcome(n), Status::success);
  e.finish({1});
}

// A8: a completion for a work request that had been released was dereferenced.
TEST(BugLog, ReportsForReleasedOrUnknownSendsAreCountedAndDropped) {
  OneBank e;
  e.open(0, {});
  const SendName n = e.post(0);
  e.settle();
  e.sent(n);
  e.respond(n);
  const size_t log = e.log().size();
  for (const SendName forged : {n, SendName{0, 7}, SendName{31, 0}, SendName{32, 0}, SendName{0xffff, 0xffff}}) {
    for (const Status s : {Status::success, Status::error, Status::flushed}) e.sent(forged, s, 1);
  }
  e.settle();
  EXPECT_EQ(e.engine().counters().rejected[static_cast<unsigned>(Cause::stale_sent)], 15u);
  EXPECT_EQ(e.log().size(), log);
  e.finish({1});
}

// A11: thousands of equal deadlines held a lock for 26 seconds while another agent's responses waited.
TEST(BugLog, AnotherAgentsResponsesAreServedBetweenTheStepsOfAMassExpiry) {
  Roomy e({.wire_credit = {1024, 1024}});
  e.open(0, {});
  e.open(1, {});
  constexpr unsigned kMany = 200, kOthers = 20;
  for (unsigned i = 0; i < kMany; ++i) {
    e.post(0, {.timeout = 100});
    e.settle();
  }
  e.sent_all();
  std::vector<SendName> others;
  for (unsigned i = 0; i < kOthers; ++i) others.push_back(e.post(1, {.agent = 2, .timeout = 1000}));
  e.settle();
  for (const SendName& n : others) e.sent(n);
  e.stall(101);
  for (const SendName& n : others) {
    e.engine().step(e.now(), 1);
    const uint64_t before = e.engine().counters().events;
    e.respond(n);
    EXPECT_EQ(e.engine().counters().events - before, 1u) << "one event, whatever expires";
    EXPECT_EQ(e.outcome(n), Status::success);
  }
  EXPECT_GT(e.board().outstanding(), 0u) << "the mass was still expiring";
  e.settle();
  EXPECT_EQ(e.engine().counters().completed[static_cast<unsigned>(Status::timeout)], kMany);
  e.finish({2});
}

// A14: 1,000 segments with a live agent id and a wrong TID made reassembly state.
TEST(BugLog, UnmatchedRmppSegmentsMakeNoState) {
  OneBank e;
  e.open(0, {});
  const SendName n = e.post(0, {.timeout = 1000});
  e.settle();
  e.sent(n);
  const uint64_t before = e.engine().counters().bank_cycles;
  for (uint32_t segment = 0; segment < 1000; ++segment) {
    e.respond(n, [&](abi::Received& r) {
      r.rmpp(true);
      r.tid((uint64_t{1} << 32) | (0x10000u + segment));
    });
  }
  EXPECT_EQ(e.unsolicited(), 1000u);
  EXPECT_EQ(e.engine().counters().bank_cycles - before, 1000u * hls::declared_cycles(abi::EventKind::received, true));
  EXPECT_EQ(e.outcome(n), std::nullopt);
  e.respond(n);
  EXPECT_EQ(e.outcome(n), Status::success);
  e.finish({1});
}

// A15: the cost of a segment grew with what had come before it.
TEST(BugLog, AResponseCostsTheSameWithManyOutstanding) {
  Roomy e({.wire_credit = {1024, 1024}});
  e.open(0, {});
  for (const unsigned more : {1u, 50u, 200u}) {
    std::vector<SendName> names;
    for (unsigned i = 0; i < more; ++i) {
      names.push_back(e.post(0, {.timeout = 100000}));
      e.settle();
    }
    e.sent_all();
    const uint64_t before = e.engine().counters().events;
    e.respond(names.front());
    EXPECT_EQ(e.engine().counters().events - before, 1u);
  }
  e.finish({1});
}

// A21: a local failure and a timeout at the same tick both removed the entry.
TEST(BugLog, AFailureAtTheTickOfTheTimeoutCompletesOnce) {
  for (const bool failure_first : {true, false}) {
    OneBank e;
    e.open(0, {});
    const SendName n = e.post(0, {.timeout = 10, .retries = 1, .deadline = 30});
    e.settle();
    e.sent(n);
    e.pass(11);
    ASSERT_TRUE(e.on_wire(n));
    e.stall(20);
    if (failure_first) e.sent(n, Status::error);
    e.settle();
    e.sent(n, Status::error);
    e.pass(50);
    EXPECT_EQ(e.completions(n), 1u);
    EXPECT_EQ(e.outcome(n), Status::error);
    e.finish({1});
  }
}

// A22: in one state an outstanding MAD was not cancelled, and destruction waited for its long timeout.
TEST(BugLog, AFlushDoesNotWaitForALongTimeout) {
  constexpr uint32_t k68Seconds = 68'000'000u / 1024u * 1000u;
  for (const Place place : {Place::announced, Place::on_wire, Place::waiting, Place::retry, Place::resend}) {
    SCOPED_TRACE(name_of(place));
    Stage e;
    const SendName n = e.send_in(place);
    e.modify(n, k68Seconds);
    e.flush(1);
    e.settle();
    if (place == Place::on_wire) e.sent(n);
    EXPECT_EQ(e.outcome(n), Status::flushed) << "at the same tick";
    EXPECT_THAT(e.flushed(), ElementsAre(1u));
    e.end();
  }
}

// A24: an owner waited for less than the layer may take.
TEST(BugLog, ASendTakesNoLongerThanItsTriesAndItsQueues) {
  for (uint8_t retries = 0; retries < 6; ++retries) {
    OneBank e;
    e.open(0, {});
    const SendName n = e.post(0, {.timeout = 20, .retries = retries});
    e.settle();
    const uint32_t start = e.now();
    constexpr uint32_t kOnTheWire = 3;
    while (!e.outcome(n)) {
      e.pass(1);
      if (e.on_wire(n) && (e.now() - start) % (20 + 1 + kOnTheWire) == kOnTheWire) e.sent(n);
    }
    EXPECT_EQ(e.now() - start, (retries + 1u) * (20u + 1u + kOnTheWire));
    e.finish({1});
  }
}

// A25: 100 agents with a timeout of 1 ms and thousands of retries took the shared queue.
TEST(BugLog, AHundredHastyRetriersLeaveTheirShareToOthers) {
  WatchedEngine<hls::BankConfig<8, 7>, 0, 101> e({.wire_credit = {16, 16}, .retry_weight = 1, .retry_class = 2});
  for (uint16_t lane = 0; lane <= 100; ++lane) e.open(lane, {.weight = 1});
  for (uint16_t agent = 1; agent <= 100; ++agent)
    e.post(static_cast<uint16_t>(agent - 1), {.agent = agent, .timeout = 1, .retries = 200});
  for (unsigned tick = 0; tick < 60; ++tick) {
    e.sent_all();
    e.pass(1);
  }
  ASSERT_EQ(e.wire().size(), 16u) << "retries take all of the wire";
  const SendName polite = e.post(100, {.agent = 101, .timeout = 1000});
  unsigned rounds = 0;
  while (e.tries(polite) == 0 && rounds < 10) {
    e.sent_all();
    e.pass(1);
    ++rounds;
  }
  EXPECT_EQ(rounds, 1u) << "its lane's next turn";
  std::vector<uint32_t> agents(101);
  for (uint32_t agent = 1; agent <= 101; ++agent) agents[agent - 1] = agent;
  e.finish(agents);
}

// A26: one direction starved the other, and a timer armed again kept its old time.
TEST(BugLog, ATimerArmedAgainMoves) {
  for (const uint32_t ticks : {3u, 40u}) {
    OneBank e;
    e.open(0, {});
    const SendName n = e.post(0, {.timeout = 20});
    e.settle();
    e.sent(n);
    e.pass(5);
    e.modify(n, ticks);
    e.pass(ticks);
    EXPECT_EQ(e.outcome(n), std::nullopt);
    e.pass(1);
    EXPECT_EQ(e.outcome(n), Status::timeout);
    e.finish({1});
  }
}
TEST(BugLog, RequestsAndRepliesShareTheWire) {
  OneBank e({.wire_credit = {2, 2}});
  e.open(0, {});
  e.open(1, {});
  std::vector<SendName> requests, replies;
  for (int i = 0; i < 10; ++i) {
    requests.push_back(e.post(0));
    replies.push_back(e.post(1, {.timeout = 0}));
  }
  for (int round = 0; round < 5; ++round) {
    e.settle();
    e.sent_all();
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(e.tries(requests[i]), 1u);
    EXPECT_EQ(e.tries(replies[i]), 1u);
  }
  e.finish({1});
}

// B3: equal deadlines fired newest first; nobody may depend on an order, but all must fire, each once.
TEST(BugLog, EqualDeadlinesAllFire) {
  OneBank e;
  e.open(0, {});
  std::vector<SendName> names;
  for (int i = 0; i < 30; ++i) names.push_back(e.post(0, {.timeout = 10}));
  e.settle();
  e.sent_all();
  e.pass(11);
  for (const SendName& n : names) EXPECT_EQ(e.completions(n), 1u);
  e.finish({1});
}

// B4: no timer ran in the backlog.
TEST(BugLog, ADeadlineCoversTheTimeBehindAWindow) {
  OneBank e;
  e.open(0, {.window = 1});
  const SendName first = e.post(0, {.timeout = 1000}), behind = e.post(0);
  e.announce(behind, 50);
  e.settle();
  e.sent(first);
  e.pass(50);
  EXPECT_EQ(e.outcome(behind), std::nullopt);
  e.pass(1);
  EXPECT_EQ(e.outcome(behind), Status::deadline);
  EXPECT_EQ(e.tries(behind), 0u);
  e.respond(first);
  e.finish({1});
}

// B5: the local failure of a second try was reported as a timeout, with tries left.
TEST(BugLog, TheFailureOfALaterTryIsReportedAsAnError) {
  OneBank e;
  e.open(0, {});
  const SendName n = e.post(0, {.timeout = 5, .retries = 3});
  e.settle();
  e.sent(n);
  e.pass(6);
  e.sent(n, Status::error);
  EXPECT_EQ(e.outcome(n), Status::error);
  EXPECT_EQ(e.log().back().tries(), 2);
  e.finish({1});
}

// B6: posts were accepted on an agent that was closing. The engine's part: a closed lane transmits nothing more.
TEST(BugLog, WhatIsPostedToAClosingLaneIsFlushedNotTransmitted) {
  OneBank e;
  e.open(0, {.window = 1});
  e.post(0, {.timeout = 1000, .retries = 3});
  e.settle();
  e.close(0);
  const SendName late = e.post(0, {.timeout = 1000, .retries = 3});
  e.settle();
  EXPECT_EQ(e.outcome(late), Status::flushed);
  EXPECT_EQ(e.tries(late), 0u);
  e.finish({1});
}

// B7: a request that had never been sent was matched in the backlog.
TEST(BugLog, AQueuedRequestIsNotMatched) {
  OneBank e;
  e.open(0, {.window = 1});
  const SendName first = e.post(0, {.timeout = 1000}), queued = e.post(0);
  e.settle();
  e.respond(queued);
  EXPECT_EQ(e.responses(queued), 0u);
  EXPECT_THAT(e.drops(), ElementsAre(Cause::stale));
  e.announce(queued, 1000);
  e.respond(queued);
  EXPECT_THAT(e.drops(), ElementsAre(Cause::stale, Cause::stale));
  e.sent(first);
  e.respond(first);
  e.settle();
  e.sent(queued);
  e.respond(queued);
  EXPECT_EQ(e.outcome(queued), Status::success);
  e.finish({1});
}

}  // namespace
}  // namespace tidemill::test
