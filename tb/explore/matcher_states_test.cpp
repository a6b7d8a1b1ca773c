// SPDX-License-Identifier: Apache-2.0
/// Every occupancy of a tiny TID matcher.
#include "exploring.hpp"
#include "matcher_space.hpp"

namespace tidemill::explore {
namespace {

TEST(MatcherStates, TwoBucketsAndTheStashWithTwoFingerprints) {
  const Report report = explore_all(MatcherSpace<0, 2>());
  EXPECT_TRUE(!report.complete || report.states == 531'441u)
      << "each of 12 places empty or with one of two fingerprints";
}
TEST(MatcherStates, FourBucketsAndTheStash) {
  const Report report = explore_all(MatcherSpace<1, 1>());
  EXPECT_TRUE(!report.complete || report.states == 1u << 20) << "each of 20 places empty or taken";
}

}  // namespace
}  // namespace tidemill::explore
