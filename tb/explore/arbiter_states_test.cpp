// SPDX-License-Identifier: Apache-2.0
/// Every reachable state of a send arbiter of three lanes.
#include "arbiter_plans.hpp"
#include "exploring.hpp"

namespace tidemill::explore {
namespace {

TEST(ArbiterStates, LanesThatOpenAndCloseWithWorkInFlight) {
  explore_all(three_lanes());
}
TEST(ArbiterStates, LanesThatChangeQueuePairClassWeightAndWindow) {
  explore_all(changing_lanes());
}
TEST(ArbiterStates, AListedLaneWaitsNoLongerThanTheBound) {
  explore_all(fair_shares());
}
TEST(ArbiterStates, DrainsDoNotStretchTheBound) {
  explore_all(shares_among_drains());
}

}  // namespace
}  // namespace tidemill::explore
