// SPDX-License-Identifier: Apache-2.0
// Arbiter, credit counter and tick generator: exact turns, limits and counts.
#include <Vtidemill_credit_counter.h>
#include <Vtidemill_round_robin.h>
#include <Vtidemill_tick_generator.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace {

template <class Model>
void clock(Model& model) {
  model.clk_i = 0;
  model.eval();
  model.clk_i = 1;
  model.eval();
}

template <class Model>
void reset(Model& model) {
  model.rst_i = 1;
  clock(model);
  clock(model);
  model.rst_i = 0;
  model.eval();
}

TEST(RoundRobin, GivesEachItsTurnEveryCycle) {
  Vtidemill_round_robin arbiter;
  reset(arbiter);
  arbiter.request_i = 0xf;
  arbiter.accept_i = 1;
  for (int cycle = 0; cycle < 100; ++cycle) {
    arbiter.eval();
    ASSERT_EQ(arbiter.grant_o, 1 << cycle % 4) << cycle;
    clock(arbiter);
  }
}

TEST(RoundRobin, HoldsAGrantUntilItIsAccepted) {
  Vtidemill_round_robin arbiter;
  reset(arbiter);
  arbiter.request_i = 0x4;
  clock(arbiter);
  arbiter.request_i = 0x7;
  for (int cycle = 0; cycle < 10; ++cycle) {
    arbiter.eval();
    ASSERT_EQ(arbiter.grant_o, 0x4);
    clock(arbiter);
  }
}

TEST(CreditCounter, StartsFullAndRunsDryAfterItsLimit) {
  Vtidemill_credit_counter credits;
  reset(credits);
  credits.take_i = 1;
  int taken = 0;
  for (; credits.available_o && taken < 100; ++taken) clock(credits);
  EXPECT_EQ(taken, 64);
  EXPECT_FALSE(credits.error_o);
  clock(credits);
  EXPECT_TRUE(credits.error_o);
  EXPECT_EQ(credits.credits_o, 0);
}

TEST(CreditCounter, TakesSeveralGivesInACycleAndStopsAtItsLimit) {
  Vtidemill_credit_counter credits;
  reset(credits);
  credits.take_i = 1;
  for (int i = 0; i < 3; ++i) clock(credits);
  credits.take_i = 0;
  credits.give_i = 3;
  clock(credits);
  EXPECT_EQ(credits.credits_o, 63);
  EXPECT_FALSE(credits.error_o);
  clock(credits);
  EXPECT_EQ(credits.credits_o, 64);
  EXPECT_TRUE(credits.error_o);
}

TEST(TickGenerator, TicksAreTheSumOfTheIncrements) {
  Vtidemill_tick_generator ticks;
  reset(ticks);
  const std::uint32_t increment = 17179869;  // A tick of 1 us at 250 MHz: 2^32 / 250, rounded down.
  ticks.increment_i = increment;
  ticks.write_i = 1;
  clock(ticks);
  ticks.write_i = 0;
  std::uint32_t strobes = 0;
  for (std::uint64_t cycle = 1; cycle <= 100000; ++cycle) {
    clock(ticks);
    strobes += ticks.tick_o;
    ASSERT_EQ(ticks.ticks_o, cycle * increment >> 32) << cycle;
    ASSERT_EQ(ticks.ticks_o, strobes) << cycle;
  }
}

}  // namespace
