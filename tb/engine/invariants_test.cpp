// SPDX-License-Identifier: Apache-2.0
/// The invariants of the engine, each by its number. The scoreboard watches all of them in every test; here each is
/// brought into the situations in which it could break.
#include <gmock/gmock.h>

#include <numeric>

#include "bank_fixture.hpp"
#include "lives.hpp"

namespace tidemill::test {
namespace {

using abi::Cause;
using abi::CompletionKind;
using abi::Status;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Config = hls::BankConfig<5, 4>;
using OneBank = WatchedEngine<Config>;
using FourBanks = WatchedEngine<Config, 2>;

/// What can happen to a send, wherever it stands.
enum class Blow { response, cancel, flush, close, error, lost, deadline, time };
constexpr std::array kBlows{Blow::response, Blow::cancel, Blow::flush,    Blow::close,
                            Blow::error,    Blow::lost,   Blow::deadline, Blow::time};

void strike(Stage& e, SendName n, Blow blow) {
  switch (blow) {
    case Blow::response:
      e.respond(n);
      break;
    case Blow::cancel:
      e.cancel(n);
      break;
    case Blow::flush:
      e.flush(1);
      break;
    case Blow::close:
      e.close(0);
      break;
    case Blow::error:
      e.sent(n, Status::error);
      break;
    case Blow::lost:
      e.sent(n, Status::flushed);
      break;
    case Blow::deadline:
      e.announce(n, 3);
      break;
    case Blow::time:
      e.pass(50);
      break;
  }
}

// Two blows in every order, in every place.
TEST(Invariants, I01_ExactlyOneCompletion) {
  for (const Place place : kPlaces) {
    for (const Blow first : kBlows) {
      for (const Blow second : kBlows) {
        SCOPED_TRACE(std::string(name_of(place)) + ", blows " + std::to_string(static_cast<int>(first)) + " and " +
                     std::to_string(static_cast<int>(second)));
        Stage e;
        const SendName n = e.send_in(place);
        strike(e, n, first);
        e.settle();
        strike(e, n, second);
        e.unblock();
        e.pass(30);
        e.end();
        EXPECT_EQ(e.completions(n), 1u);
      }
    }
  }
}

TEST(Invariants, I03_ResponseBeforeCompletion) {
  Stage e;
  const SendName early = e.send_in(Place::early);
  EXPECT_EQ(e.log().back().kind(), CompletionKind::response);
  EXPECT_EQ(e.completions(early), 0u);
  e.sent(early);
  EXPECT_EQ(e.log().back().kind(), CompletionKind::send);
  const SendName waiting = e.send_in(Place::waiting);
  e.respond(waiting);
  EXPECT_EQ(e.log().back().kind(), CompletionKind::response_send) << "both in one entry, the response first";
  e.end();
}

TEST(Invariants, I04_AtMostOneResponse) {
  for (const Place place : kPlaces) {
    SCOPED_TRACE(name_of(place));
    Stage e;
    const SendName n = e.send_in(place);
    for (int i = 0; i < 3; ++i) e.respond(n);
    e.sent(n);
    for (int i = 0; i < 3; ++i) e.respond(n);
    EXPECT_EQ(e.responses(n), answerable(place) || place == Place::early ? 1u : 0u);
    EXPECT_EQ(e.drops().size() + e.responses(n), place == Place::early ? 7u : 6u) << "every further one is counted";
    e.end();
  }
}

TEST(Invariants, I05_NoResponseAfterCompletion) {
  for (const Place place : kPlaces) {
    SCOPED_TRACE(name_of(place));
    Stage e;
    const SendName n = e.send_in(place);
    e.cancel(n);
    e.sent(n);
    ASSERT_EQ(e.completions(n), 1u);
    const unsigned before = e.responses(n);
    e.respond(n);
    EXPECT_EQ(e.responses(n), before);
    EXPECT_EQ(e.drops().back(), Cause::stale);
    e.end();
  }
}

TEST(Invariants, I06_CancelledNeverMatches) {
  for (const Place place : kPlaces) {
    if (place == Place::early) continue;
    SCOPED_TRACE(name_of(place));
    Stage e;
    const SendName n = e.send_in(place);
    e.cancel(n);
    e.respond(n);
    e.unblock();
    e.respond(n);
    e.sent(n);
    e.respond(n);
    EXPECT_EQ(e.responses(n), 0u);
    EXPECT_EQ(e.outcome(n), Status::flushed);
    e.end();
  }
}

// We chose: a cancel after the match changes nothing.
TEST(Invariants, I07_CancelLosesToAMatch) {
  for (const Status wire : {Status::success, Status::error, Status::flushed}) {
    Stage e;
    const SendName n = e.send_in(Place::early);
    e.cancel(n);
    e.flush(1);
    e.settle();
    e.sent(n, wire, 1);
    EXPECT_EQ(e.outcome(n), wire == Status::error ? Status::error : Status::success);
    e.end();
  }
}

TEST(Invariants, I08_DeadEntriesDoNotHideLiveOnes) {
  for (const Place dead : {Place::cancelled, Place::early}) {
    SCOPED_TRACE(name_of(dead));
    OneBank e;
    e.open(0, {});
    std::vector<SendName> entries;
    for (int i = 0; i < 5; ++i) {
      entries.push_back(e.post(0, {.tid = 7}));
      e.settle();
      dead == Place::early ? e.respond(entries.back()) : e.cancel(entries.back());
    }
    const SendName live = e.post(0, {.tid = 7});
    e.settle();
    e.sent(live);
    e.respond(live);
    EXPECT_EQ(e.outcome(live), Status::success);
    e.finish({1});
  }
}

// Every combination of fields that differ: a match if and only if none does that counts.
TEST(Invariants, I09_MatchImpliesAllFields) {
  constexpr uint8_t kDirectedRoute = 0x81;
  for (const uint8_t mgmt_class : {uint8_t{0x03}, kDirectedRoute}) {
    for (const bool match_source : {false, true}) {
      for (unsigned differ = 0; differ < 64; ++differ) {
        BankDriver<SmallConfig> bank;
        const Send send{.mgmt_class = mgmt_class, .own_address = 3, .peer = 17, .match_source = match_source};
        bank.descriptor(send);
        bank.sent(send);
        const abi::Action a = bank.response(send, [&](abi::Event& e) {
          if (differ & 1u) e.mgmt_class(static_cast<uint8_t>(mgmt_class ^ 4u));
          if (differ & 2u) e.port(2);
          if (differ & 4u) e.qp(false);
          if (differ & 8u) e.grh(true);
          if (differ & 16u) e.own_address(4);
          if (differ & 32u) e.peer(18);
        });
        const unsigned address = match_source ? 8u | 16u | 32u : 8u | 16u;
        const unsigned counts = 1u | 2u | 4u | (mgmt_class == kDirectedRoute ? 0u : address);
        EXPECT_EQ(a.kind() == abi::ActionKind::respond_complete, (differ & counts) == 0) << "differ " << differ;
      }
    }
  }
}

// K-: the kernel also matches what no try has left for.
TEST(Invariants, I09_OnlyWhatWasTransmittedMatches) {
  for (const Place place : kPlaces) {
    if (place == Place::early) continue;
    SCOPED_TRACE(name_of(place));
    Stage e;
    const SendName n = e.send_in(place);
    e.respond(n);
    EXPECT_EQ(e.responses(n), answerable(place) ? 1u : 0u);
    e.end();
  }
}

TEST(Invariants, I10_CompletenessOfMatching) {
  FourBanks e({.wire_credit = {128, 128}});
  e.open(0, {});
  std::vector<SendName> names;
  while (e.has_room(0)) {
    // Neighbours share a TID and differ in class.
    const unsigned i = static_cast<unsigned>(names.size());
    names.push_back(e.post(0, {.tid = i / 4, .mgmt_class = static_cast<uint8_t>(0x10 + i % 4)}));
  }
  ASSERT_GT(names.size(), 32u);
  e.settle();
  for (size_t i = 0; i < names.size(); i += 2) e.sent(names[i]);
  for (size_t i = names.size(); i-- > 0;) {
    e.respond(names[i]);
    EXPECT_EQ(e.responses(names[i]), 1u);
  }
  EXPECT_THAT(e.drops(), IsEmpty());
  e.finish({1});
}

TEST(Invariants, I11_NoTimerBeforeTheWire) {
  for (const Place place : {Place::lane, Place::on_wire, Place::retry, Place::resend}) {
    SCOPED_TRACE(name_of(place));
    Stage e;
    const SendName n = e.send_in(place);
    e.pass(1000);
    ASSERT_EQ(e.completions(n), 0u);
    e.unblock();
    ASSERT_TRUE(e.on_wire(n));
    e.pass(1000);
    ASSERT_EQ(e.completions(n), 0u);
    e.sent(n);
    e.pass(Stage::kTimeout);
    EXPECT_EQ(e.completions(n), 0u);
    e.end();
  }
}

TEST(Invariants, I11_NoTimerBehindAWindow) {
  OneBank e;
  e.open(0, {.window = 1});
  const SendName first = e.post(0, {.timeout = 500}), second = e.post(0, {.timeout = 10});
  e.settle();
  e.sent(first);
  e.pass(499);
  EXPECT_EQ(e.outcome(second), std::nullopt);
  e.respond(first);
  e.settle();
  e.sent(second);
  e.pass(10);
  EXPECT_EQ(e.outcome(second), std::nullopt);
  e.pass(1);
  EXPECT_EQ(e.outcome(second), Status::timeout);
  e.finish({1});
}

// A tick step is made whenever one is asked for, so lateness is nought, however many expire at once.
TEST(Invariants, I12_NeverEarlyBoundedlyLate) {
  FourBanks e({.wire_credit = {128, 128}});
  e.open(0, {});
  std::vector<std::pair<SendName, uint32_t>> timeouts;
  for (uint32_t i = 0; e.has_room(0); ++i) {
    const uint32_t timeout = i % 2 == 0 ? 700 : 1 + (i * 2654435761u >> 22);
    timeouts.emplace_back(e.post(0, {.timeout = timeout}), timeout);
  }
  e.settle();
  e.sent_all();
  const uint32_t start = e.now();
  e.pass(1100);
  ASSERT_EQ(e.board().outstanding(), 0u);
  for (const auto& c : e.log()) {
    const auto found =
        std::find_if(timeouts.begin(), timeouts.end(), [&](const auto& t) { return t.first.slot == c.slot(); });
    EXPECT_EQ(c.now(), start + found->second + 1u);
  }
  e.finish({1});
}

// And each expiry costs one step, plus a few for time itself: the declared bound in cycles.
TEST(Invariants, I12_AnExpiryCostsOneStep) {
  OneBank e({.wire_credit = {64, 64}});
  e.open(0, {});
  for (int i = 0; i < 32; ++i) e.post(0, {.timeout = 20});
  e.settle();
  e.sent_all();
  e.pass(20);
  const uint64_t before = e.engine().counters().events;
  e.pass(1);
  EXPECT_LE(e.engine().counters().events - before, 32u + 3u);
  EXPECT_EQ(e.board().outstanding(), 0u);
}

TEST(Invariants, I13_NumberOfTries) {
  for (uint8_t retries = 0; retries < 5; ++retries) {
    for (uint8_t recoveries = 0; recoveries < 3; ++recoveries) {
      OneBank e;
      e.open(0, {});
      const SendName n = e.post(0, {.timeout = 5, .retries = retries});
      e.settle();
      for (uint8_t recovery = 1; recovery <= recoveries; ++recovery) {
        e.sent(n, Status::flushed, recovery);
        e.settle();
      }
      while (e.on_wire(n)) {
        e.sent(n);
        e.pass(6);
      }
      EXPECT_EQ(e.outcome(n), Status::timeout);
      EXPECT_EQ(e.tries(n), 1u + retries + recoveries);
      EXPECT_EQ(e.log().back().tries(), 1u + retries);
      e.finish({1});
    }
  }
}

TEST(Invariants, I13_ASendWithoutATimeoutHasOneTryAndNoMatch) {
  OneBank e;
  e.open(0, {});
  const SendName n = e.post(0, {.timeout = 0, .retries = 3});
  e.settle();
  e.respond(n);
  e.pass(100);
  e.sent(n);
  EXPECT_EQ(e.outcome(n), Status::success);
  EXPECT_EQ(e.tries(n), 1u);
  EXPECT_EQ(e.responses(n), 0u);
  e.finish({1});
}

// The engine fetches a descriptor once. What is written over it later changes no try, and the slot is not given to
// another send before the completion.
TEST(Invariants, I14_EveryTryIsOfTheSameSend) {
  OneBank e;
  e.open(0, {.qp = false});
  const SendName n = e.post(0, {.timeout = 5, .retries = 3, .qp = false});
  e.settle();
  e.scribble_on_rings();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(e.on_wire(n));
    EXPECT_EQ(e.transmitted().back().port(), 1);
    EXPECT_FALSE(e.transmitted().back().qp());
    e.sent(n);
    e.pass(6);
  }
  EXPECT_EQ(e.outcome(n), Status::timeout);
  e.finish({1});
}

TEST(Invariants, I23_QueueConservation) {
  OneBank e({.wire_credit = {3, 3}});
  e.open(0, {});
  std::vector<SendName> names;
  for (int i = 0; i < 20; ++i) names.push_back(e.post(0, {.timeout = 0}));
  for (size_t done = 0; done < names.size(); ++done) {
    e.settle();
    EXPECT_EQ(e.wire().size(), std::min<size_t>(3, names.size() - done)) << "one goes for each that comes back";
    EXPECT_EQ(e.board().outstanding(), names.size() - done);
    e.sent(names[done]);
  }
  e.finish({1});
}

TEST(Invariants, I24_HandDownInOrderOfAcceptance) {
  OneBank e({.wire_credit = {2, 2}});
  e.open(0, {.window = 3});
  std::vector<SendName> names;
  for (int i = 0; i < 20; ++i) names.push_back(e.post(0, {.timeout = 3}));
  while (e.board().outstanding() != 0) {
    e.sent_all();
    e.pass(1);
  }
  ASSERT_THAT(e.transmitted(), SizeIs(20));
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(e.transmitted()[i].slot(), names[i].slot);
  e.finish({1});
}

// The arbiter's count of window slots equals the sends that hold one, in every place and after every blow.
TEST(Invariants, I25_CreditConservation) {
  const auto in_use = [](Stage& e) {
    abi::LaneState lane;
    lane.w1 = e.engine().arbiter().memory().lane_high(1);
    return lane.in_use();
  };
  const auto holders = [](Stage& e) {
    uint16_t count = 0;
    for (uint32_t slot = 0; slot < Config::kSlots; ++slot) {
      abi::SlotFlags f;
      f.w0 = e.engine().bank(0).memory().flags(slot);
      count = static_cast<uint16_t>(count + (f.counted() ? 1 : 0));
    }
    return count;
  };
  for (const Blow first : kBlows) {
    for (const Blow second : kBlows) {
      SCOPED_TRACE(std::to_string(static_cast<int>(first)) + " and " + std::to_string(static_cast<int>(second)));
      Stage e;
      e.open(1, {.window = 2});
      std::vector<SendName> names;
      for (int i = 0; i < 4; ++i) names.push_back(e.post(1, {.timeout = 10, .retries = 1}));
      for (const Blow blow : {first, second}) {
        for (const SendName& n : names) strike(e, n, blow);
        e.settle();
        EXPECT_EQ(in_use(e), holders(e));
        EXPECT_LE(in_use(e), 2);
        e.unblock();
        e.sent_all();
        e.pass(5);
        EXPECT_EQ(in_use(e), holders(e));
      }
      e.end();
      EXPECT_EQ(in_use(e), 0);
    }
  }
}

TEST(Invariants, I26_NoStall) {
  OneBank e({.wire_credit = {4, 4}});
  e.open(0, {.window = 3});
  std::vector<SendName> names;
  for (int i = 0; i < 30; ++i) names.push_back(e.post(0, {.timeout = 5}));
  for (unsigned done = 0; done < 30; ++done) {
    e.settle();
    ASSERT_EQ(e.wire().size(), std::min(3u, 30u - done)) << "each slot given back is used in the same step";
    e.respond({e.wire().front().slot(), e.wire().front().generation()});
    e.sent({e.wire().front().slot(), e.wire().front().generation()});
  }
  e.finish({1});
}

// A slot's former send left an entry in the retry queue of QP0, whose wire returns nothing any more.
TEST(Invariants, I26_AWireWithoutCreditHoldsUpNoRetryOfTheOtherQp) {
  OneBank e({.wire_credit = {1, 1}});
  e.open(0, {.qp = false});
  e.open(1, {.qp = true});
  const SendName over = e.post(0, {.timeout = 2, .retries = 1, .qp = false});
  e.settle();
  e.sent(over);
  const SendName stuck = e.post(0, {.timeout = 0, .qp = false});
  e.settle();
  ASSERT_TRUE(e.on_wire(stuck)) << "QP0's only credit";
  e.pass(4);  // the first one's retry finds no credit
  e.cancel(over);
  e.settle();
  ASSERT_TRUE(e.outcome(over));
  const SendName successor = e.post(1, {.timeout = 2, .retries = 1, .qp = true});
  ASSERT_EQ(successor.slot, over.slot);
  e.settle();
  e.sent(successor);
  e.pass(4);
  EXPECT_TRUE(e.on_wire(successor)) << "its second try";
  e.sent_all();
  e.respond(successor);
  e.finish({1});
}

TEST(Invariants, I27_FairService) {
  WatchedEngine<hls::BankConfig<8, 6>, 0, 8> e({.wire_credit = {4, 4}});
  constexpr std::array<uint8_t, 8> kWeights{1, 2, 3, 1, 5, 1, 2, 1};
  const unsigned all = std::accumulate(kWeights.begin(), kWeights.end(), 0u);
  for (uint16_t lane = 0; lane < 8; ++lane) e.open(lane, {.weight = kWeights[lane]});
  std::map<SendName, uint16_t> lane_of;
  for (int i = 0; i < 32; ++i) {
    for (uint16_t lane = 0; lane < 8; ++lane) lane_of[e.post(lane, {.timeout = 0})] = lane;
  }
  while (e.board().outstanding() > 32) {
    e.settle();
    e.sent_all();
  }
  // While all have work: from one hand-down of a lane to its next, no more than everyone's share.
  std::array<size_t, 8> last{}, served{};
  for (size_t i = 0; i < all * 6; ++i) {
    const uint16_t lane = lane_of.at({e.transmitted()[i].slot(), e.transmitted()[i].generation()});
    if (served[lane]++ != 0) {
      EXPECT_LE(i - last[lane], all - kWeights[lane] + 1u) << "lane " << lane;
    }
    last[lane] = i;
  }
  for (uint16_t lane = 0; lane < 8; ++lane) EXPECT_EQ(served[lane], 6u * kWeights[lane]);
  e.finish({1});
}

TEST(Invariants, I28_RepliesAreNotBlockedByRequests) {
  OneBank e({.wire_credit = {8, 8}});
  e.open(0, {.window = 2});
  e.open(1, {});
  for (int i = 0; i < 20; ++i) e.post(0, {.timeout = 100});
  e.settle();
  e.sent_all();
  for (int i = 0; i < 10; ++i) {
    const SendName reply = e.post(1, {.timeout = 0});
    e.settle();
    ASSERT_TRUE(e.on_wire(reply));
    e.sent(reply);
  }
  e.finish({1});
}

TEST(Invariants, I30_StateBeforeMatch) {
  FourBanks e;
  e.open(0, {});
  std::vector<SendName> names;
  for (int i = 0; i < 10; ++i) names.push_back(e.post(0, {.timeout = 1000}));
  e.settle();
  e.sent_all();
  std::vector<std::vector<uint64_t>> before;
  for (uint32_t bank = 0; bank < 4; ++bank) before.push_back(state_of(e.engine().bank(bank).memory()));
  for (uint32_t i = 0; i < 500; ++i) {
    e.respond(names[i % 10], [&](abi::Received& r) {
      r.rmpp(i % 3 == 0);
      if (i % 2 == 0) r.tid((r.tid() & ~uint64_t{0xffffffffu}) | (0x80000000u + i));
      if (i % 2 == 1) r.port(9);
    });
  }
  for (uint32_t bank = 0; bank < 4; ++bank) EXPECT_EQ(state_of(e.engine().bank(bank).memory()), before[bank]);
  EXPECT_EQ(e.drops().size() + e.unsolicited(), 500u);
  e.finish({1});
}

// K-: since 2025 the kernel swallows the error of a request.
TEST(Invariants, I31_ErrorIsolation) {
  OneBank e;
  e.open(0, {});
  std::vector<SendName> names;
  for (int i = 0; i < 6; ++i) names.push_back(e.post(0, {.timeout = 50, .retries = 2}));
  e.settle();
  e.sent(names[2], Status::error);
  EXPECT_EQ(e.outcome(names[2]), Status::error);
  for (const size_t i : {0, 1, 3, 4, 5}) e.sent(names[i], Status::flushed, 1);
  EXPECT_EQ(e.log().size(), 1u) << "the others see nothing";
  e.settle();
  ASSERT_THAT(e.wire(), SizeIs(5));
  size_t at = 0;
  for (const size_t i : {0, 1, 3, 4, 5}) EXPECT_EQ(e.wire()[at++].slot(), names[i].slot) << "in their old order";
  e.sent_all(Status::flushed, 1);
  for (const size_t i : {0, 1, 3, 4, 5}) EXPECT_EQ(e.outcome(names[i]), Status::flushed) << "once a recovery";
  e.finish({1});
}

TEST(Invariants, I31_WithoutRecoveryAllAreFlushed) {
  OneBank e;
  e.open(0, {});
  std::vector<SendName> names;
  for (int i = 0; i < 6; ++i) names.push_back(e.post(0, {.retries = 2}));
  e.settle();
  e.sent_all(Status::flushed, 0);
  for (const SendName& n : names) EXPECT_EQ(e.outcome(n), Status::flushed);
  e.finish({1});
}

// However doorbells and steps fall together: the same is transmitted, in the same order.
TEST(Invariants, I34_WakeUpsCarryNoCount) {
  const auto run = [](unsigned steps_between, unsigned idle_steps) {
    OneBank e({.wire_credit = {4, 4}});
    e.open(0, {.window = 4});
    e.open(1, {.weight = 2});
    for (unsigned i = 0; i < 24; ++i) {
      e.post(i % 2, {.timeout = 0});
      if (steps_between != 0 && i % steps_between == 0) e.engine().step(0, 1);
    }
    while (e.board().outstanding() != 0) {
      e.settle();
      for (unsigned i = 0; i < idle_steps; ++i) EXPECT_FALSE(e.engine().step(0));
      e.sent_all();
    }
    return e.transmitted().size();
  };
  for (const unsigned steps_between : {0u, 1u, 2u, 5u}) {
    for (const unsigned idle_steps : {0u, 3u}) EXPECT_EQ(run(steps_between, idle_steps), 24u);
  }
}

TEST(Invariants, I35_EqualDeadlinesFireInOnePass) {
  FourBanks e({.wire_credit = {128, 128}});
  e.open(0, {});
  std::vector<SendName> names;
  while (e.has_room(0))
    names.push_back(
        e.post(0, {.timeout = names.size() % 2 == 0 ? 40u : 1000u, .deadline = names.size() % 4 == 3 ? 40u : 0u}));
  e.settle();
  e.sent_all();
  e.pass(40);
  EXPECT_EQ(e.board().outstanding(), names.size());
  e.pass(1);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto want = i % 2 == 0   ? std::optional(Status::timeout)
                      : i % 4 == 3 ? std::optional(Status::deadline)
                                   : std::nullopt;
    EXPECT_EQ(e.outcome(names[i]), want);
    EXPECT_EQ(e.completions(names[i]), want ? 1u : 0u);
  }
  e.finish({1});
}

}  // namespace
}  // namespace tidemill::test
