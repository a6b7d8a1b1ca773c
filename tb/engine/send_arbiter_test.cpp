// SPDX-License-Identifier: Apache-2.0
/// The send arbiter alone, rule by rule.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "arbiter_driver.hpp"

namespace tidemill::test {
namespace {

using ::testing::ElementsAre;

constexpr unsigned kLanes = 8;
constexpr uint16_t kPlenty = 0xffff;

class SendArbiterTest : public ::testing::Test {
 protected:
  /// An open lane with work.
  void busy(uint32_t lane, const LaneSetup& s, uint16_t descriptors = 1000) {
    ASSERT_TRUE(arbiter_.open(lane, s));
    ASSERT_TRUE(arbiter_.doorbell(lane, descriptors));
  }
  void wire() {
    arbiter_.wire_credit(false, kPlenty);
    arbiter_.wire_credit(true, kPlenty);
  }
  std::map<uint32_t, unsigned> share(unsigned grants) {
    std::map<uint32_t, unsigned> out;
    for (const uint32_t lane : arbiter_.grants(grants)) ++out[lane];
    return out;
  }

  ArbiterDriver<kLanes> arbiter_;
};

// ---- what may be granted at all

TEST_F(SendArbiterTest, GrantsNothingAtReset) {
  EXPECT_FALSE(arbiter_.grant().granted());
  EXPECT_FALSE(arbiter_.more());
  wire();
  EXPECT_FALSE(arbiter_.grant().granted());
}

TEST_F(SendArbiterTest, GrantsEachDescriptorOnce) {
  wire();
  busy(3, {}, 2);
  EXPECT_THAT(arbiter_.grants(10), ElementsAre(3, 3));
  arbiter_.doorbell(3);
  EXPECT_THAT(arbiter_.grants(10), ElementsAre(3));
}

TEST_F(SendArbiterTest, DoorbellsAddUpHoweverTheyAreSplit) {
  wire();
  arbiter_.open(0, {});
  for (const uint16_t count : {1, 0, 3, 2}) arbiter_.doorbell(0, count);
  EXPECT_EQ(arbiter_.grants(10).size(), 6u);
}

TEST_F(SendArbiterTest, TakesOneWireCreditAGrantAndGrantsNoneWithout) {
  busy(0, {.qp = true});
  EXPECT_FALSE(arbiter_.more());
  EXPECT_FALSE(arbiter_.grant().granted());
  arbiter_.wire_credit(false, 5);
  EXPECT_FALSE(arbiter_.grant().granted()) << "the credit is the other QP's";
  arbiter_.wire_credit(true, 3);
  EXPECT_EQ(arbiter_.grants(10).size(), 3u);
}

TEST_F(SendArbiterTest, AWindowBoundsWhatIsInUseAndEachSlotComesBackOnce) {
  wire();
  busy(0, {.window = 2});
  EXPECT_TRUE(arbiter_.grant().counted());
  EXPECT_TRUE(arbiter_.grant().counted());
  EXPECT_FALSE(arbiter_.grant().granted());
  EXPECT_TRUE(arbiter_.window_credit(0));
  EXPECT_EQ(arbiter_.grants(10).size(), 1u);
  EXPECT_TRUE(arbiter_.window_credit(0));
  EXPECT_TRUE(arbiter_.window_credit(0));
  EXPECT_FALSE(arbiter_.window_credit(0)) << "no slot is out";
  EXPECT_EQ(arbiter_.grants(10).size(), 2u);
}

TEST_F(SendArbiterTest, ALaneWithoutWindowIsNotLimitedAndNotCounted) {
  wire();
  busy(0, {.window = 0}, 300);
  for (int i = 0; i < 300; ++i) EXPECT_FALSE(arbiter_.grant().counted());
  EXPECT_FALSE(arbiter_.window_credit(0));
}

TEST_F(SendArbiterTest, AFullWindowHoldsBackNoOtherLane) {
  wire();
  busy(0, {.window = 1});
  busy(1, {.window = 0}, 3);
  EXPECT_EQ(arbiter_.grant().lane(), 0);
  EXPECT_THAT(arbiter_.grants(10), ElementsAre(1, 1, 1)) << "replies are not blocked by requests";
}

TEST_F(SendArbiterTest, NamesTheLaneItsQpAndWhetherMoreCanGo) {
  wire();
  busy(5, {.qp = false}, 2);
  abi::ArbiterAction a = arbiter_.grant();
  EXPECT_TRUE(a.granted());
  EXPECT_EQ(a.lane(), 5);
  EXPECT_FALSE(a.qp());
  EXPECT_FALSE(a.drain());
  EXPECT_TRUE(a.more());
  a = arbiter_.grant();
  EXPECT_TRUE(a.granted());
  EXPECT_FALSE(a.more());
}

// ---- in which order

TEST_F(SendArbiterTest, ServesAHigherClassFirstAlways) {
  wire();
  busy(0, {.service_class = 3});
  busy(1, {.service_class = 1}, 2);
  busy(2, {.qp = false, .service_class = 2}, 2);
  EXPECT_THAT(arbiter_.grants(6), ElementsAre(1, 1, 2, 2, 0, 0));
  arbiter_.doorbell(1, 1);
  EXPECT_THAT(arbiter_.grants(2), ElementsAre(1, 0));
}

TEST_F(SendArbiterTest, AHigherClassWithoutWireCreditDoesNotHoldUpTheOtherQp) {
  busy(0, {.qp = false, .service_class = 0});
  busy(1, {.qp = true, .service_class = 3});
  arbiter_.wire_credit(true, 4);
  EXPECT_THAT(arbiter_.grants(10), ElementsAre(1, 1, 1, 1));
}

TEST_F(SendArbiterTest, SharesExactlyByWeight) {
  wire();
  const std::map<uint32_t, unsigned> weights{{0, 1}, {1, 2}, {2, 3}, {3, 10}};
  for (const auto& [lane, weight] : weights) busy(lane, {.weight = static_cast<uint8_t>(weight)});
  for (int round = 0; round < 5; ++round) EXPECT_EQ(share(16), weights) << "round " << round;
}

TEST_F(SendArbiterTest, ALaneMaySendItsWeightInARow) {
  wire();
  busy(0, {.weight = 3});
  busy(1, {.weight = 2});
  EXPECT_THAT(arbiter_.grants(10), ElementsAre(0, 0, 0, 1, 1, 0, 0, 0, 1, 1));
}

TEST_F(SendArbiterTest, TheLargestWeightIs255) {
  wire();
  busy(0, {.weight = 255});
  busy(1, {.weight = 1});
  EXPECT_EQ(share(256), (std::map<uint32_t, unsigned>{{0, 255}, {1, 1}}));
  EXPECT_EQ(share(512), (std::map<uint32_t, unsigned>{{0, 510}, {1, 2}}));
}

TEST_F(SendArbiterTest, TheQpsOfAClassAlternate) {
  wire();
  busy(0, {.qp = false});
  busy(1, {.qp = true});
  busy(2, {.qp = true});
  EXPECT_EQ(share(40), (std::map<uint32_t, unsigned>{{0, 20}, {1, 10}, {2, 10}}));
}

TEST_F(SendArbiterTest, AQpAloneGetsEveryGrant) {
  busy(0, {.qp = false});
  busy(1, {.qp = true});
  arbiter_.wire_credit(true, 20);
  EXPECT_EQ(share(40), (std::map<uint32_t, unsigned>{{1, 20}}));
}

TEST_F(SendArbiterTest, QueueLengthDoesNotBuyAShare) {
  wire();
  busy(0, {}, 60'000);
  busy(1, {}, 10);
  EXPECT_EQ(share(20), (std::map<uint32_t, unsigned>{{0, 10}, {1, 10}}));
}

TEST_F(SendArbiterTest, ALaneThatComesBackWaitsAtTheEnd) {
  wire();
  busy(0, {.weight = 5}, 1);
  busy(1, {.weight = 5}, 7);
  EXPECT_EQ(arbiter_.grant().lane(), 0) << "its turn ends with its work";
  arbiter_.doorbell(0, 1);
  EXPECT_THAT(arbiter_.grants(20), ElementsAre(1, 1, 1, 1, 1, 0, 1, 1)) << "no deficit is saved up";
}

TEST_F(SendArbiterTest, AChangedWeightHoldsFromTheNextTurn) {
  wire();
  busy(0, {.weight = 4});
  busy(1, {.weight = 1});
  EXPECT_THAT(arbiter_.grants(2), ElementsAre(0, 0));
  EXPECT_TRUE(arbiter_.weigh(0, {.weight = 1}));
  EXPECT_THAT(arbiter_.grants(7), ElementsAre(0, 0, 1, 0, 1, 0, 1));
}

TEST_F(SendArbiterTest, AChangedWindowHoldsAtOnce) {
  wire();
  busy(0, {.window = 2});
  EXPECT_EQ(arbiter_.grants(10).size(), 2u);
  EXPECT_TRUE(arbiter_.weigh(0, {.weight = 1, .window = 5}));
  EXPECT_EQ(arbiter_.grants(10).size(), 3u);
  EXPECT_TRUE(arbiter_.weigh(0, {.weight = 1, .window = 1}));
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(arbiter_.window_credit(0));
    EXPECT_FALSE(arbiter_.grant().granted()) << "still at or over the new limit";
  }
  EXPECT_TRUE(arbiter_.window_credit(0));
  EXPECT_EQ(arbiter_.grants(10).size(), 1u);
}

// ---- how long a lane waits

/// docs/engine/send-arbiter.md: with W the sum of the other weights in its list, 4 (W + 1) - 1 grants go before it.
TEST_F(SendArbiterTest, TheStatedWaitIsReachedAndNotExceeded) {
  for (const uint8_t weight : {1, 2, 9}) {
    ArbiterDriver<kLanes> arbiter;
    constexpr uint32_t kWaits = 0, kMate = 1, kOtherMate = 2, kOtherQp = 3, kDrains = 4;
    for (const bool qp : {false, true}) arbiter.wire_credit(qp, kPlenty);
    const auto busy = [&](uint32_t lane, const LaneSetup& s) {
      arbiter.open(lane, s);
      arbiter.doorbell(lane, 1000);
    };
    // The last grant was this QP's, no drain: the other QP and a drain come first.
    busy(kMate, {.weight = weight});
    arbiter.grants(weight);
    busy(kOtherMate, {.weight = 5});
    busy(kOtherQp, {.qp = false});
    busy(kDrains, {});
    arbiter.close(kDrains);
    busy(kWaits, {});
    const auto order = arbiter.grants(200);
    const auto before = std::find(order.begin(), order.end(), kWaits) - order.begin();
    EXPECT_EQ(before, 4 * (weight + 5 + 1) - 1);
  }
}

// ---- lanes that open and close

TEST_F(SendArbiterTest, AClosedLaneTakesNoDoorbell) {
  wire();
  EXPECT_FALSE(arbiter_.doorbell(0));
  EXPECT_FALSE(arbiter_.close(0));
  EXPECT_FALSE(arbiter_.weigh(0, {}));
  EXPECT_TRUE(arbiter_.open(0, {}));
  EXPECT_TRUE(arbiter_.doorbell(0));
}

TEST_F(SendArbiterTest, RejectsLanesThatDoNotExist) {
  for (const uint32_t lane : {kLanes, kLanes + 1, 0xffffu}) {
    EXPECT_FALSE(arbiter_.open(lane, {}));
    EXPECT_FALSE(arbiter_.doorbell(lane));
    EXPECT_FALSE(arbiter_.close(lane));
    EXPECT_FALSE(arbiter_.window_credit(lane));
  }
}

TEST_F(SendArbiterTest, RejectsAWeightOfZero) {
  EXPECT_FALSE(arbiter_.open(0, {.weight = 0}));
  EXPECT_TRUE(arbiter_.open(0, {}));
  EXPECT_FALSE(arbiter_.weigh(0, {.weight = 0}));
}

TEST_F(SendArbiterTest, AnOpenLaneDoesNotOpenAgain) {
  EXPECT_TRUE(arbiter_.open(0, {.weight = 3}));
  EXPECT_FALSE(arbiter_.open(0, {.weight = 4}));
}

TEST_F(SendArbiterTest, AClosingLaneDrainsWithoutWireCreditOrWindow) {
  arbiter_.wire_credit(true, 1);
  busy(0, {.window = 1}, 4);
  EXPECT_FALSE(arbiter_.grant().drain());
  EXPECT_FALSE(arbiter_.grant().granted()) << "neither credit nor window is left";
  EXPECT_TRUE(arbiter_.close(0));
  EXPECT_TRUE(arbiter_.more());
  for (int i = 0; i < 3; ++i) {
    const abi::ArbiterAction a = arbiter_.grant();
    EXPECT_TRUE(a.granted() && a.drain());
    EXPECT_FALSE(a.counted());
  }
  EXPECT_FALSE(arbiter_.grant().granted());
}

TEST_F(SendArbiterTest, ADescriptorPostedToAClosingLaneDrainsToo) {
  arbiter_.open(0, {});
  arbiter_.close(0);
  EXPECT_TRUE(arbiter_.doorbell(0));
  EXPECT_TRUE(arbiter_.grant().drain());
}

TEST_F(SendArbiterTest, DrainingTakesAtMostEveryOtherGrant) {
  wire();
  busy(0, {.service_class = 3});
  busy(1, {}, 20);
  busy(2, {}, 20);
  arbiter_.close(1);
  arbiter_.close(2);
  for (int i = 0; i < 80; ++i) EXPECT_EQ(arbiter_.grant().drain(), i % 2 == 0) << i;
  EXPECT_EQ(share(40), (std::map<uint32_t, unsigned>{{0, 40}})) << "both are drained";
}

TEST_F(SendArbiterTest, AClosedLaneOpensAgainOnlyWhenItIsDrained) {
  wire();
  busy(0, {}, 2);
  arbiter_.close(0);
  EXPECT_FALSE(arbiter_.open(0, {}));
  EXPECT_EQ(arbiter_.grants(10).size(), 2u);
  EXPECT_TRUE(arbiter_.open(0, {.qp = false, .service_class = 2, .weight = 7}));
  arbiter_.doorbell(0);
  const abi::ArbiterAction a = arbiter_.grant();
  EXPECT_TRUE(a.granted());
  EXPECT_FALSE(a.drain());
  EXPECT_FALSE(a.qp());
}

TEST_F(SendArbiterTest, WindowSlotsOutWhenALaneClosesAreStillOutWhenItOpensAgain) {
  wire();
  busy(0, {.window = 2}, 2);
  EXPECT_EQ(arbiter_.grants(10).size(), 2u);
  arbiter_.close(0);
  EXPECT_TRUE(arbiter_.window_credit(0)) << "a closing lane takes its credits back";
  EXPECT_TRUE(arbiter_.open(0, {.window = 2}));
  arbiter_.doorbell(0, 5);
  EXPECT_EQ(arbiter_.grants(10).size(), 1u);
  EXPECT_TRUE(arbiter_.window_credit(0));
  EXPECT_EQ(arbiter_.grants(10).size(), 1u);
}

// ---- no wake-up is lost

TEST_F(SendArbiterTest, FindsWorkWhicheverOfWorkWindowAndWireComesLast) {
  enum What { kWork, kWindow, kWire };
  std::vector<What> order{kWork, kWindow, kWire};
  do {
    ArbiterDriver<kLanes> arbiter;
    // One slot of the window is out, and everything that is needed for another grant is missing.
    arbiter.open(0, {.window = 1});
    arbiter.doorbell(0);
    arbiter.wire_credit(true, 1);
    ASSERT_TRUE(arbiter.grant().granted());
    for (const What what : order) {
      EXPECT_FALSE(arbiter.more());
      switch (what) {
        case kWork:
          arbiter.doorbell(0);
          break;
        case kWindow:
          arbiter.window_credit(0);
          break;
        case kWire:
          arbiter.wire_credit(true, 1);
          break;
      }
    }
    EXPECT_TRUE(arbiter.more());
    EXPECT_TRUE(arbiter.grant().granted());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(SendArbiterTest, OneGrantPassServesAllDoorbellsBeforeIt) {
  wire();
  for (uint32_t lane = 0; lane < kLanes; ++lane) busy(lane, {}, 1);
  EXPECT_EQ(arbiter_.grants(100).size(), kLanes);
}

}  // namespace
}  // namespace tidemill::test
