// SPDX-License-Identifier: Apache-2.0
/// Every reachable state of a tiny bank under every event of a plan: no invariant breaks on any edge.
#include <random>

#include "bank_plans.hpp"
#include "exploring.hpp"
#include "straight_memory.hpp"

namespace tidemill::explore {
namespace {

using abi::ActionKind;
using abi::Cause;
using abi::Status;

/// The plan has met these answers: its silence about them means something.
template <class Space>
void expect_met(const Space& space, std::initializer_list<ActionKind> kinds, std::initializer_list<Status> statuses,
                std::initializer_list<Cause> causes) {
  const Answers& met = space.answers();
  for (const ActionKind k : kinds) EXPECT_NE(met.kinds[static_cast<unsigned>(k)], 0u) << abi::name_of(k);
  for (const Status s : statuses) EXPECT_NE(met.statuses[static_cast<unsigned>(s)], 0u) << abi::name_of(s);
  for (const Cause c : causes) EXPECT_NE(met.causes[static_cast<unsigned>(c)], 0u) << abi::name_of(c);
}

TEST(BankStates, LifeOfRequestsAndPlainSends) {
  const auto space = life();
  explore_all(space);
  expect_met(
      space,
      {ActionKind::transmit, ActionKind::complete, ActionKind::respond, ActionKind::respond_complete, ActionKind::drop},
      {Status::success, Status::flushed, Status::error, Status::timeout},
      {Cause::stale, Cause::stale_descriptor, Cause::stale_sent, Cause::stale_command});
}

TEST(BankStates, FourSlotsAtOnce) {
  const auto space = four_slots();
  explore_all(space);
  expect_met(space, {ActionKind::respond_complete}, {Status::timeout, Status::flushed}, {Cause::cancelled});
}

TEST(BankStates, ResponsesThatAreWrongInOneField) {
  const auto space = matching();
  explore_all(space);
  expect_met(
      space, {ActionKind::respond, ActionKind::deliver}, {Status::duplicate},
      {Cause::stale, Cause::duplicate, Cause::cancelled, Cause::wrong_class, Cause::wrong_port, Cause::wrong_address});
}

TEST(BankStates, RetriesAndFlushedTriesOverBothQueuePairs) {
  const auto space = retrying();
  explore_all(space);
  expect_met(space, {ActionKind::transmit}, {Status::success, Status::timeout, Status::flushed}, {Cause::never_sent});
  EXPECT_NE(space.answers().requeued, 0u);
  EXPECT_NE(space.answers().refunded, 0u);
}

TEST(BankStates, EveryWaitOfOneSend) {
  const auto space = timing();
  explore_all(space);
  expect_met(space, {ActionKind::complete}, {Status::timeout, Status::deadline}, {Cause::not_waiting});
}

TEST(BankStates, TwoTimersThatRace) {
  const auto space = racing();
  explore_all(space);
  expect_met(space, {ActionKind::complete}, {Status::timeout, Status::deadline}, {Cause::not_waiting});
}

TEST(BankStates, CommandsBeforeAndAfterTheDescriptor) {
  const auto space = commanded();
  explore_all(space);
  expect_met(space, {ActionKind::complete}, {Status::flushed, Status::deadline},
             {Cause::not_waiting, Cause::stale_command});
}

TEST(BankStates, AFullMatcher) {
  const auto space = crowded();
  explore_all(space);
  EXPECT_NE(space.answers().requeued, 0u);
  expect_met(space, {ActionKind::transmit}, {Status::duplicate, Status::flushed}, {Cause::stale, Cause::never_sent});
}

TEST(BankStates, WaitingForRoomInTheMatcher) {
  const auto space = waiting_for_room();
  explore_all(space);
  EXPECT_NE(space.answers().requeued, 0u);
  expect_met(space, {ActionKind::transmit}, {Status::deadline}, {Cause::stale});
}

/// The same plan with other contents of dead fields, and with time about to wrap.
template <class Space>
Report elsewhere(const Space& space, uint16_t dead_bits, uint32_t base) {
  Plan plan = space.plan();
  plan.dead_bits = dead_bits;
  plan.base = base;
  return explore_all(Space(plan));
}

TEST(BankStates, AreTheSameWhateverDeadFieldsHoldAndWhereverTimeStands) {
  const auto space = commanded();
  const Report here = explore_all(space);
  for (const Report& there : {elsewhere(space, 0xffff, 0), elsewhere(space, 0x5a5a, 0u - 4u)}) {
    EXPECT_EQ(here.states, there.states);
    EXPECT_EQ(here.edges, there.edges);
    EXPECT_EQ(here.depth, there.depth);
  }
}

/// The same plan on the memory of the kernels.
template <class Memory>
void expect_same_without_branches(const BankSpace<Memory>& space) {
  const Report branches = explore_all(space);
  const Report straight = explore_all(BankSpace<StraightMemory<typename Memory::Config>>(space.plan()));
  EXPECT_EQ(branches.states, straight.states);
  EXPECT_EQ(branches.edges, straight.edges);
}

TEST(BankStates, AreTheSameInHardwareThatJumpsOverNothing) {
  expect_same_without_branches(commanded());
  expect_same_without_branches(matching());
  expect_same_without_branches(waiting_for_room());
}

TEST(BankStates, HoldEveryRandomWalkOfABankThatIsNotNormalised) {
  const auto space = life();
  Explorer explorer(space);
  if (!explorer.run(kStateLimit).complete) GTEST_SKIP() << "needs every state, which a slow build does not visit";
  const auto seed = static_cast<uint32_t>(::testing::UnitTest::GetInstance()->random_seed());
  std::mt19937 random(seed);
  auto state = space.initial();
  for (unsigned step = 0; step < 300'000; ++step) {
    const auto event = static_cast<uint16_t>(random() % space.events());
    const Edge edge = space.apply(state, event);
    ASSERT_EQ(edge.broken, nullptr) << "seed " << seed << " step " << step << " " << space.label(event);
    ASSERT_TRUE(explorer.visited(state)) << "seed " << seed << " step " << step << " " << space.label(event);
  }
}

}  // namespace
}  // namespace tidemill::explore
