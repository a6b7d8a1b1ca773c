// SPDX-License-Identifier: Apache-2.0
/// Soak runs of moderate length with fixed seeds: every rule holds, and the faults really happen.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "faulty_engine.hpp"
#include "host/tool/soak/run.hpp"

namespace tidemill::test {
namespace {

using soak::Options;
using soak::Result;
using soak::Size;

struct Case {
  const char* name;
  Options options;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Options with(uint64_t seed, uint64_t transactions, uint32_t banks, Size size = Size::card, uint32_t outstanding = 4096) {
  return {.transactions = transactions, .seed = seed, .banks = banks, .outstanding = outstanding, .size = size, .rates = {}};
}
/// Every rate set to the same value.
Options rated(Options options, double rate, double flush) {
  for (const soak::RateInfo& info : soak::kRates) options.rates.*info.value = rate;
  options.rates.flush = flush;
  return options;
}
Options but(Options options, double soak::Rates::*rate, double value) {
  options.rates.*rate = value;
  return options;
}

std::string text(const Result& result) {
  std::string all = "replay: " + replay_command(result.options, result.tally.posted);
  for (const std::string& violation : result.violations) all += "\n" + violation;
  return all;
}

class SoakSeeds : public ::testing::TestWithParam<Case> {};

TEST_P(SoakSeeds, BreakNoRule) {
  const Result result = run(GetParam().options, {});
  EXPECT_TRUE(result.passed()) << text(result);
  EXPECT_EQ(result.tally.posted, GetParam().options.transactions);
  EXPECT_EQ(result.tally.completed, result.tally.posted);
}

INSTANTIATE_TEST_SUITE_P(
    Fixed, SoakSeeds,
    ::testing::Values(Case{"EightBanks", with(1, 60'000, 8)}, Case{"OneBank", with(2, 40'000, 1)},
                      Case{"SixteenBanks", with(3, 40'000, 16)}, Case{"FewOutstanding", with(4, 20'000, 8, Size::card, 8)},
                      Case{"TinyWithOneBank", with(3, 30'000, 1, Size::tiny, 64)},
                      Case{"TinyWithTwoBanks", with(7, 30'000, 2, Size::tiny, 64)},
                      Case{"TinyWithFourBanks", with(5, 30'000, 4, Size::tiny, 64)},
                      Case{"NoFaults", rated(with(6, 20'000, 8), 0, 0)},
                      Case{"EverythingAtOnce", rated(with(8, 20'000, 1, Size::tiny, 64), 0.3, 0.01)},
                      Case{"NothingIsAnswered", but(with(9, 10'000, 8), &soak::Rates::loss, 1)},
                      Case{"NothingLeaves", but(with(10, 10'000, 8), &soak::Rates::wire_error, 1)},
                      Case{"AlwaysDeregistering", but(with(11, 500, 8), &soak::Rates::flush, 1)}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Soak, MeetsEveryStatusAndEveryCauseOfADrop) {
  const Result result = run(rated(with(12, 60'000, 1, Size::tiny, 64), 0.1, 0.001), {});
  ASSERT_TRUE(result.passed()) << text(result);
  for (unsigned i = 0; i < abi::kStatusCount; ++i)
    EXPECT_NE(result.tally.by_status[i], 0u) << name_of(static_cast<abi::Status>(i));
  using abi::Cause;
  for (const Cause cause : {Cause::stale, Cause::duplicate, Cause::cancelled, Cause::wrong_class, Cause::wrong_port, Cause::wrong_address, Cause::never_sent})
    EXPECT_NE(result.tally.dropped[static_cast<unsigned>(cause)], 0u) << name_of(cause);
  for (const Cause cause : {Cause::stale_descriptor, Cause::stale_sent, Cause::stale_command, Cause::not_waiting})
    EXPECT_NE(result.counters.rejected[static_cast<unsigned>(cause)], 0u) << name_of(cause);
  for (const soak::FaultInfo& fault : soak::kFaults) EXPECT_NE(result.tally.faults.*fault.count, 0u) << fault.name;
  EXPECT_NE(result.counters.no_room, 0u) << "the tiny matcher was never full";
}

TEST(Soak, RepeatsARunThatWasStoppedAtAnyTime) {
  for (const unsigned stop_after : {3u, 20u, 41u}) {
    Options options = with(13, soak::kUnlimited, 8);
    unsigned asked = 0;
    const Result stopped = run(options, {.stop = [&] { return ++asked > stop_after; }});
    options.transactions = stopped.tally.posted;
    const Result repeated = run(options, {});
    EXPECT_TRUE(stopped.passed()) << text(stopped);
    EXPECT_EQ(repeated.tally.posted, stopped.tally.posted);
    EXPECT_EQ(repeated.tally.fingerprint, stopped.tally.fingerprint);
    EXPECT_EQ(repeated.ticks, stopped.ticks);
  }
}

TEST(Soak, DrawsAnotherRunWithAnotherSeed) {
  EXPECT_NE(run(with(1, 2000, 8), {}).tally.fingerprint, run(with(2, 2000, 8), {}).tally.fingerprint);
}

class PlantedFault : public ::testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsFoundAndFoundAgain) {
  const soak::Hooks hooks{.make_engine = faulty(GetParam().name)};
  Options options = with(1, 20'000, 8);
  if (GetParam().name != std::string("flush-overlooked")) options.rates.flush = 0;
  const Result found = run(options, hooks);
  ASSERT_FALSE(found.passed());
  EXPECT_THAT(found.violations.front(), ::testing::StartsWith(GetParam().rule));
  options.transactions = found.tally.posted;
  const Result again = run(options, hooks);
  ASSERT_FALSE(again.passed());
  EXPECT_EQ(again.violations.front(), found.violations.front());
}

INSTANTIATE_TEST_SUITE_P(Every, PlantedFault, ::testing::ValuesIn(faults().begin(), faults().end()), [](const auto& test) {
  std::string name = test.param.name;
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
});

}  // namespace
}  // namespace tidemill::test
