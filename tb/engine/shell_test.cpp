// SPDX-License-Identifier: Apache-2.0
/// The engine as a whole: banks, arbiter, rings and retry lanes together, with the scoreboard on.
#include <gmock/gmock.h>

#include "watched_engine.hpp"

namespace tidemill::test {
namespace {

using abi::Cause;
using abi::Status;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Config = hls::BankConfig<5, 4>;
using OneBank = WatchedEngine<Config>;
using FourBanks = WatchedEngine<Config, 2>;

template <class Engine>
std::vector<SendName> post_many(Engine& e, uint16_t lane, unsigned count, const Ask& ask = {}) {
  std::vector<SendName> names;
  for (unsigned i = 0; i < count; ++i) names.push_back(e.post(lane, ask));
  return names;
}

TEST(Engine, CarriesARequestFromItsLaneToItsCompletion) {
  OneBank e;
  ASSERT_TRUE(e.open(0, {}));
  const SendName send = e.post(0);
  EXPECT_THAT(e.wire(), IsEmpty()) << "work is done in step()";
  e.settle();
  ASSERT_TRUE(e.on_wire(send));
  e.sent(send);
  e.respond(send);
  EXPECT_EQ(e.outcome(send), Status::success);
  EXPECT_EQ(e.engine().counters().matched, 1u);
  EXPECT_EQ(e.engine().counters().transmitted, 1u);
  e.finish({1});
}

TEST(Engine, TransmitsALaneInTheOrderOfItsRing) {
  OneBank e;
  e.open(0, {});
  const auto names = post_many(e, 0, 20);
  e.settle();
  ASSERT_THAT(e.transmitted(), SizeIs(20));
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(e.transmitted()[i].slot(), names[i].slot);
  e.finish({1});
}

TEST(Engine, AWindowHoldsALaneUntilASlotComesBack) {
  OneBank e;
  e.open(0, {.window = 2});
  const auto names = post_many(e, 0, 4);
  e.settle();
  EXPECT_THAT(e.wire(), SizeIs(2));
  e.sent_all();
  e.settle();
  EXPECT_THAT(e.wire(), IsEmpty()) << "sent is not answered";
  e.respond(names[0]);
  e.settle();
  EXPECT_THAT(e.wire(), SizeIs(1));
  e.respond(names[2]);  // early: its slot comes back before its sent report
  e.settle();
  EXPECT_THAT(e.wire(), SizeIs(2));
  e.finish({1});
}

TEST(Engine, EveryWayToEndASendGivesItsWindowSlotBack) {
  OneBank e;
  e.open(0, {.window = 1});
  const auto names = post_many(e, 0, 6, {.timeout = 5});
  const auto next_goes = [&](SendName n) {
    e.settle();
    ASSERT_TRUE(e.on_wire(n));
  };
  next_goes(names[0]);
  e.respond(names[0]);
  e.sent(names[0]);
  next_goes(names[1]);
  e.cancel(names[1]);
  next_goes(names[2]);
  e.sent(names[2], Status::error);
  next_goes(names[3]);
  e.sent(names[3], Status::flushed);
  next_goes(names[4]);
  e.sent(names[4]);
  e.pass(6);
  EXPECT_EQ(e.outcome(names[4]), Status::timeout);
  next_goes(names[5]);
  e.finish({1});
}

TEST(Engine, APlainLaneIsNotBehindTheWindowOfItsAgentsOtherLane) {
  OneBank e;
  e.open(0, {.window = 1});
  e.open(1, {});
  post_many(e, 0, 5);
  const SendName reply = e.post(1, {.timeout = 0});
  e.settle();
  EXPECT_TRUE(e.on_wire(reply));
  e.finish({1});
}

TEST(Engine, WireCreditBoundsTheTriesOnTheWireOfEachQp) {
  OneBank e({.wire_credit = {2, 3}});
  e.open(0, {.qp = false});
  e.open(1, {});
  post_many(e, 0, 8, {.qp = false});
  post_many(e, 1, 8);
  e.settle();
  EXPECT_THAT(e.wire(), SizeIs(5));
  e.sent_all();
  e.settle();
  EXPECT_THAT(e.wire(), SizeIs(5));
  e.finish({1});
}

TEST(Engine, WireCreditIsConservedWhateverTheWireReports) {
  OneBank e({.wire_credit = {4, 4}});
  e.open(0, {});
  for (unsigned round = 0; round < 20; ++round) {
    const auto names = post_many(e, 0, 4, {.timeout = 2, .retries = 1});
    e.settle();
    ASSERT_THAT(e.wire(), SizeIs(4)) << "round " << round;
    e.sent(names[0], Status::flushed, 1);
    e.sent(names[0], Status::success);  // forged: it is not on the wire
    e.cancel(names[1]);
    e.sent(names[1]);
    e.sent(names[1]);  // forged
    e.sent({77, 1});   // no such slot
    e.sent(names[2], Status::error);
    e.sent(names[3]);
    e.settle();
    while (e.board().outstanding() != 0) {
      e.sent_all();
      e.pass(1);
    }
  }
  EXPECT_EQ(e.engine().counters().rejected[static_cast<unsigned>(Cause::stale_sent)], 60u);
  e.finish({1});
}

TEST(Engine, ARefusedDescriptorCostsNoCredit) {
  OneBank e({.wire_credit = {1, 1}});
  e.open(0, {.window = 1});
  for (unsigned round = 0; round < 5; ++round) {
    const SendName overtaken = e.post(0);
    e.cancel(overtaken);
    EXPECT_EQ(e.outcome(overtaken), Status::flushed);
  }
  const SendName send = e.post(0);
  e.settle();
  EXPECT_TRUE(e.on_wire(send));
  EXPECT_EQ(e.engine().counters().rejected[static_cast<unsigned>(Cause::stale_descriptor)], 5u);
  e.finish({1});
}

TEST(Engine, ADuplicateCostsNoCreditAndTheNextGoes) {
  OneBank e({.wire_credit = {2, 2}});
  e.open(0, {.window = 2});
  const SendName first = e.post(0, {.tid = 9}), second = e.post(0, {.tid = 9}), third = e.post(0);
  e.settle();
  EXPECT_EQ(e.outcome(second), Status::duplicate);
  EXPECT_TRUE(e.on_wire(first));
  EXPECT_TRUE(e.on_wire(third));
  e.finish({1});
}

TEST(Engine, AClosedLaneDrainsWithoutWindowAndWireCredit) {
  OneBank e({.wire_credit = {1, 1}});
  e.open(0, {.window = 1});
  const auto names = post_many(e, 0, 6);
  e.settle();
  ASSERT_THAT(e.wire(), SizeIs(1));
  e.close(0);
  e.settle();
  for (unsigned i = 1; i < 6; ++i) EXPECT_EQ(e.outcome(names[i]), Status::flushed);
  EXPECT_EQ(e.outcome(names[0]), std::nullopt) << "it is on the wire";
  e.sent(names[0]);
  e.respond(names[0]);
  EXPECT_EQ(e.outcome(names[0]), Status::success);
  e.finish({1});
}

TEST(Engine, AClosedLaneTakesNoDoorbellOnceItIsReopenedItDoes) {
  OneBank e;
  EXPECT_FALSE(e.engine().doorbell(0, 1)) << "never opened";
  e.open(0, {.window = 3});
  const SendName first = e.post(0);
  e.settle();
  EXPECT_FALSE(e.open(0, {})) << "open already";
  e.close(0);
  EXPECT_TRUE(e.open(0, {.window = 1}));
  const SendName second = e.post(0);
  e.settle();
  EXPECT_FALSE(e.on_wire(second)) << "the slot taken before the reopening counts";
  e.sent(first);
  e.respond(first);
  e.settle();
  EXPECT_TRUE(e.on_wire(second));
  e.finish({1});
}

TEST(Engine, CommandsForNoLaneAreRefused) {
  OneBank e;
  EXPECT_FALSE(e.engine().doorbell(4, 1));
  abi::Command c;
  c.kind(abi::CommandKind::close_lane);
  c.lane(4);
  EXPECT_FALSE(e.engine().command(c, 0));
  c.lane(3);
  EXPECT_FALSE(e.engine().command(c, 0)) << "not open";
  c.kind(abi::CommandKind::open_lane);
  EXPECT_FALSE(e.engine().command(c, 0)) << "weight 0";
}

TEST(Engine, AFlushAndADrainTogetherCompleteEverySendOfAnAgent) {
  FourBanks e({.wire_credit = {8, 8}});
  e.open(0, {.window = 6});
  e.open(1, {});
  auto names = post_many(e, 0, 20, {.timeout = 50, .retries = 2});
  e.settle();
  for (unsigned i = 0; i < 3; ++i) e.sent(names[i]);
  e.respond(names[4]);
  e.announce(names[15], 30);
  const auto other = e.post(1, {.agent = 2});
  e.close(0);
  e.flush(1);
  e.settle();
  EXPECT_THAT(e.flushed(), ElementsAre(1u));
  EXPECT_TRUE(e.on_wire(other));
  while (!e.wire().empty()) {
    e.sent_all();
    e.settle();
  }
  for (const SendName& n : names) {
    const auto outcome = e.outcome(n);
    EXPECT_EQ(outcome, n == names[4] ? Status::success : Status::flushed);
  }
  EXPECT_EQ(e.outcome(other), std::nullopt);
  e.finish({2});
}

TEST(Engine, AFlushDoneComesAfterEveryCompletionOfTheFlush) {
  FourBanks e;
  e.open(0, {});
  const auto names = post_many(e, 0, 40, {.timeout = 100});
  e.settle();
  e.sent_all();
  e.flush(1);
  while (e.flushed().empty()) e.engine().step(e.now(), 1);
  for (const SendName& n : names) EXPECT_EQ(e.outcome(n), Status::flushed);
  e.finish({});
}

TEST(Engine, FlushesAreDoneInTheOrderInWhichTheyWereAsked) {
  FourBanks e;
  e.open(0, {});
  for (uint32_t agent = 1; agent <= 3; ++agent) post_many(e, 0, 5, {.agent = agent});
  e.settle();
  e.sent_all();
  for (const uint32_t agent : {3u, 1u, 2u}) e.flush(agent);
  e.settle();
  EXPECT_THAT(e.flushed(), ElementsAre(3u, 1u, 2u));
  e.finish({});
}

TEST(Engine, AFlushOfNothingIsDoneToo) {
  FourBanks e;
  e.flush(5);
  e.settle();
  EXPECT_THAT(e.flushed(), ElementsAre(5u));
}

TEST(Engine, TrafficGoesOnDuringAFlush) {
  OneBank e;
  e.open(0, {});
  post_many(e, 0, 10, {.agent = 1, .timeout = 100});
  e.settle();
  e.sent_all();
  e.flush(1);
  e.engine().step(e.now(), 1);
  const SendName other = e.post(0, {.agent = 2});
  e.engine().step(e.now(), 1);
  ASSERT_TRUE(e.on_wire(other));
  EXPECT_THAT(e.flushed(), IsEmpty());
  e.sent(other);
  e.respond(other);
  EXPECT_EQ(e.outcome(other), Status::success);
  e.finish({});
}

TEST(Engine, ARetryGoesThroughTheRetryLane) {
  OneBank e;
  e.open(0, {});
  const SendName send = e.post(0, {.timeout = 5, .retries = 2});
  e.settle();
  for (unsigned tries = 1; tries <= 3; ++tries) {
    ASSERT_THAT(e.wire(), SizeIs(1));
    EXPECT_EQ(e.wire()[0].tries(), tries);
    e.sent(send);
    e.pass(6);
  }
  EXPECT_EQ(e.outcome(send), Status::timeout);
  EXPECT_EQ(e.engine().counters().retried, 2u);
  e.finish({1});
}

/// A lane with work without end and a burst of retries of the same service class and weight.
TEST(Engine, RetriesAndFirstTriesShareTheWireFairly) {
  OneBank e({.wire_credit = {16, 16}, .retry_weight = 4, .retry_class = 2});
  e.open(0, {.weight = 4});
  post_many(e, 0, 16, {.timeout = 5, .retries = 1});
  e.settle();
  e.sent_all();
  e.stall(6);
  e.settle();
  ASSERT_THAT(e.wire(), SizeIs(16)) << "all are retries";
  e.sent_all();
  e.pass(6);
  ASSERT_EQ(e.board().outstanding(), 0u);

  OneBank both({.wire_credit = {8, 8}, .retry_weight = 4, .retry_class = 2});
  both.open(0, {.weight = 4});
  post_many(both, 0, 8, {.timeout = 5, .retries = 1});
  both.settle();
  both.sent_all(Status::flushed, 1);
  post_many(both, 0, 8, {.timeout = 50});
  const size_t before = both.transmitted().size();
  both.settle();
  unsigned again = 0;
  for (size_t i = before; i < both.transmitted().size(); ++i) again += both.transmitted()[i].slot() < 8 ? 1 : 0;
  EXPECT_EQ(both.transmitted().size() - before, 8u);
  EXPECT_EQ(again, 4u) << "half of the wire";
  both.finish({1});
  e.finish({1});
}

TEST(Engine, ALowerServiceClassWaitsForAHigher) {
  OneBank e({.wire_credit = {4, 4}});
  e.open(0, {.service_class = 3});
  e.open(1, {.service_class = 0});
  post_many(e, 0, 4);
  const auto urgent = post_many(e, 1, 4);
  e.settle();
  for (const SendName& n : urgent) EXPECT_TRUE(e.on_wire(n));
  e.finish({1});
}

TEST(Engine, LanesShareByWeight) {
  OneBank e({.wire_credit = {12, 12}});
  e.open(0, {.weight = 3});
  e.open(1, {.weight = 1});
  const auto heavy = post_many(e, 0, 12), light = post_many(e, 1, 12);
  e.settle();
  const auto on_wire = [&](const std::vector<SendName>& names) {
    return std::count_if(names.begin(), names.end(), [&](SendName n) { return e.on_wire(n); });
  };
  EXPECT_EQ(on_wire(heavy), 9);
  EXPECT_EQ(on_wire(light), 3);
  e.finish({1});
}

TEST(Engine, AWindowCanBeChangedWhileSendsAreInIt) {
  OneBank e;
  e.open(0, {.window = 2});
  const auto names = post_many(e, 0, 10);
  e.settle();
  EXPECT_THAT(e.wire(), SizeIs(2));
  ASSERT_TRUE(e.weigh(0, {.window = 5}));
  e.settle();
  EXPECT_THAT(e.wire(), SizeIs(5));
  ASSERT_TRUE(e.weigh(0, {.window = 1}));
  for (unsigned i = 0; i < 4; ++i) {
    e.cancel(names[i]);
    e.settle();
    EXPECT_THAT(e.wire(), SizeIs(5)) << "those above the new limit go first";
  }
  e.cancel(names[4]);
  e.settle();
  EXPECT_TRUE(e.on_wire(names[5]));
  e.finish({1});
}

TEST(Engine, TheWireCanGrow) {
  OneBank e({.wire_credit = {1, 1}});
  e.open(0, {});
  post_many(e, 0, 5);
  e.settle();
  e.grow_wire(true, 3);
  e.settle();
  EXPECT_THAT(e.wire(), SizeIs(4));
  e.finish({1});
}

TEST(Engine, AJumpInTimeLosesNoTimer) {
  FourBanks e;
  e.open(0, {});
  const auto names = post_many(e, 0, 60, {.timeout = 10});
  e.settle();
  e.sent_all();
  e.jump(1000000);
  for (const SendName& n : names) EXPECT_EQ(e.outcome(n), Status::timeout);
  e.finish({1});
}

TEST(Engine, TellsWhenTimeMattersNext) {
  FourBanks e;
  e.open(0, {});
  const auto send = e.post(0, {.timeout = 1000});
  e.settle();
  e.sent(send);
  uint32_t steps = 0;
  while (!e.outcome(send) && steps < 1000) {
    const uint32_t wake = e.engine().wake(e.now());
    ASSERT_GT(wake, e.now());
    ASSERT_LE(wake, 1001u);
    e.jump(wake - e.now());
    ++steps;
  }
  EXPECT_EQ(e.now(), 1001u);
  EXPECT_LE(steps, 40u) << "sleeping through empty time";
  e.finish({1});
}

TEST(Engine, AStepDoesNoMoreThanItsBudget) {
  OneBank e;
  e.open(0, {});
  post_many(e, 0, 20);
  EXPECT_TRUE(e.engine().step(0, 5));
  EXPECT_EQ(e.transmitted().size(), 5u);
  EXPECT_FALSE(e.engine().step(0, 100));
  EXPECT_EQ(e.transmitted().size(), 20u);
  e.finish({1});
}

TEST(Engine, ResponsesFindTheirBank) {
  FourBanks e;
  e.open(0, {});
  const auto names = post_many(e, 0, 60);
  e.settle();
  e.sent_all();
  std::array<unsigned, 4> banks{};
  for (const SendName& n : names) {
    e.respond(n);
    EXPECT_EQ(e.outcome(n), Status::success);
    ++banks[n.slot % 4];
  }
  EXPECT_THAT(banks, Each(::testing::Gt(0u)));
  e.finish({1});
}

TEST(Engine, EveryBankHasItsRetryLanes) {
  FourBanks e;
  e.open(0, {.qp = false});
  e.open(1, {.qp = true});
  post_many(e, 0, 30, {.timeout = 3, .retries = 1, .qp = false});
  post_many(e, 1, 30, {.timeout = 3, .retries = 1, .qp = true});
  e.settle();
  e.sent_all();
  e.pass(4);
  EXPECT_THAT(e.wire(), SizeIs(60)) << "every one again";
  e.sent_all();
  e.pass(4);
  EXPECT_EQ(e.board().outstanding(), 0u);
  e.finish({1});
}

TEST(Engine, AFullMatcherPutsSendsOffAndTransmitsThemLater) {
  WatchedEngine<hls::BankConfig<4, 0>> e({}, false);
  e.open(0, {});
  std::vector<SendName> names;
  for (unsigned i = 0; i < 16; ++i) names.push_back(e.post(0, {.timeout = 1000}));
  e.engine().step(0, 100);
  EXPECT_EQ(e.transmitted().size(), 12u);
  EXPECT_GE(e.engine().counters().no_room, 4u);
  for (unsigned i = 0; i < 12; ++i) {
    e.sent(names[i]);
    e.respond(names[i]);
  }
  e.settle();
  EXPECT_THAT(e.wire(), SizeIs(4));
  e.finish({1});
}

TEST(Engine, DropsAreCountedByCause) {
  OneBank e;
  e.open(0, {});
  const SendName send = e.post(0);
  e.settle();
  e.respond(send, [](abi::Received& r) { r.mgmt_class(4); });
  e.respond(send, [](abi::Received& r) { r.port(2); });
  e.respond(send, [](abi::Received& r) { r.grh(true); });
  e.respond(send, [](abi::Received& r) { r.tid(1); });
  e.respond(send);
  e.respond(send);
  e.sent(send);
  e.respond(send);
  EXPECT_THAT(e.drops(), ElementsAre(Cause::wrong_class, Cause::wrong_port, Cause::wrong_address, Cause::stale,
                                     Cause::duplicate, Cause::stale));
  EXPECT_EQ(e.engine().counters().dropped[static_cast<unsigned>(Cause::stale)], 2u);
  e.finish({1});
}

TEST(Engine, AMadThatIsNoResponseIsHandedUp) {
  OneBank e;
  e.open(0, {});
  const SendName send = e.post(0);
  e.settle();
  e.respond(send, [](abi::Received& r) { r.response(false); });
  EXPECT_EQ(e.unsolicited(), 1u);
  EXPECT_EQ(e.outcome(send), std::nullopt);
  e.finish({1});
}

TEST(Engine, ARmppResponseThatMatchesNothingIsHandedUp) {
  OneBank e;
  e.open(0, {});
  const SendName send = e.post(0);
  e.settle();
  e.sent(send);
  for (unsigned i = 0; i < 3; ++i) e.respond(send, [](abi::Received& r) { r.rmpp(true); });
  EXPECT_EQ(e.outcome(send), Status::success);
  EXPECT_EQ(e.unsolicited(), 2u);
  e.finish({1});
}

TEST(Engine, AResetForgetsEverything) {
  FourBanks e;
  e.open(0, {.window = 4});
  const auto names = post_many(e, 0, 10, {.timeout = 5, .retries = 3});
  e.flush(1);
  e.settle();
  post_many(e, 0, 10, {.timeout = 5, .retries = 3});
  e.settle();
  e.sent_all();
  e.reset();
  EXPECT_EQ(e.engine().counters().transmitted, 0u);
  EXPECT_FALSE(e.engine().doorbell(0, 1)) << "no lane is open";
  const size_t before = e.transmitted().size();
  e.sent(names[0]);
  e.pass(100);
  EXPECT_EQ(e.transmitted().size(), before);
  e.open(0, {});
  const auto send = e.post(0);
  EXPECT_EQ(send.generation, 0) << "slots start again";
  e.settle();
  e.sent(send);
  e.respond(send);
  EXPECT_EQ(e.outcome(send), Status::success);
  e.finish({1});
}

TEST(Engine, TheSeedDecidesTheBanksOfTids) {
  FourBanks one({.seed = 1}), other({.seed = 2});
  unsigned moved = 0;
  for (uint64_t tid = 0; tid < 100; ++tid) moved += one.engine().bank_of(tid) != other.engine().bank_of(tid) ? 1 : 0;
  EXPECT_GT(moved, 50u);
}

}  // namespace
}  // namespace tidemill::test
