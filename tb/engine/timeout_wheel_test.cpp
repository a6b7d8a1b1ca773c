// SPDX-License-Identifier: Apache-2.0
/// The timeout wheel alone: its promises in time, on the card's configuration and on tiny ones.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "wheel_driver.hpp"

namespace tidemill::test {
namespace {

/// Lists per level, ratio, levels: 4/2/2 spans 8 ticks, 8/4/3 spans 128, 4/2/4 spans 32.
template <class Config>
class TimeoutWheel : public ::testing::Test {
 protected:
  using Driver = WheelDriver<Config>;
  using Fired = typename Driver::Fired;
  static constexpr uint32_t kSpan = Driver::kSpan;
  static constexpr bool kTiny = kSpan < 1000;

  /// Timeouts on both sides of every border: 1, the reach of each level, beyond the span.
  static std::vector<uint32_t> timeouts() {
    std::vector<uint32_t> out;
    if (kTiny) {
      for (uint32_t t = 1; t <= 4 * kSpan; ++t) out.push_back(t);
      return out;
    }
    for (unsigned level = 0; level < Config::kLevels; ++level)
      for (const uint32_t lists : {1u, Config::kLists - (1u << Config::kSpreadBits), Config::kLists})
        for (const int beside : {-1, 0, 1})
          out.push_back((lists << (Config::kSpreadBits * level)) + static_cast<uint32_t>(beside));
    out.push_back(kSpan + kSpan / 2);
    out.push_back(2 * kSpan + 12'345);
    std::erase(out, 0u);
    return out;
  }
  /// Ticks at which a wheel may stand: at, before and after borders of every level, and where ticks wrap.
  static std::vector<uint32_t> starts() {
    if (!kTiny) return {0, 0xffffffc1u};
    std::vector<uint32_t> out;
    for (uint32_t t = 0; t <= kSpan; ++t) out.push_back(t - kSpan / 2);
    return out;
  }
};

using Configs = ::testing::Types<hls::BankConfig<3, 2, 2, 1, 2>, hls::BankConfig<3, 2, 3, 2, 3>,
                                 hls::BankConfig<3, 2, 2, 1, 4>, hls::CardBankConfig>;
TYPED_TEST_SUITE(TimeoutWheel, Configs);

TYPED_TEST(TimeoutWheel, FiresEachTimerOnceInExactlyItsTickHoweverLongItWaits) {
  const auto timeouts = TestFixture::timeouts();
  for (const uint32_t start : TestFixture::starts()) {
    for (size_t first = 0; first < timeouts.size(); first += TypeParam::kSlots) {
      typename TestFixture::Driver wheel(start);
      std::vector<typename TestFixture::Fired> expected;
      uint32_t longest = 0;
      for (uint32_t slot = 0; slot < TypeParam::kSlots && first + slot < timeouts.size(); ++slot) {
        const uint32_t timeout = timeouts[first + slot], due = start + timeout;
        wheel.arm(slot, due);
        expected.push_back({slot, due, due});
        longest = std::max(longest, timeout);
      }
      auto fired = wheel.run(longest);
      EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end(),
                                 [&](const auto& a, const auto& b) { return a.at - start < b.at - start; }));
      std::sort(fired.begin(), fired.end(), [](const auto& a, const auto& b) { return a.slot < b.slot; });
      ASSERT_EQ(fired, expected) << "start " << start;
      ASSERT_TRUE(wheel.run(2 * TypeParam::kLists).empty());
    }
  }
}

TYPED_TEST(TimeoutWheel, FiresAllEqualDeadlinesInOnePass) {
  for (const uint32_t timeout : {1u, TypeParam::kLists, TestFixture::kSpan - 1u, TestFixture::kSpan + 3u}) {
    typename TestFixture::Driver wheel;
    for (uint32_t slot = 0; slot < TypeParam::kSlots; ++slot) wheel.arm(slot, timeout);
    EXPECT_TRUE(wheel.run(timeout - 1).empty());
    EXPECT_EQ(wheel.jump(1).size(), TypeParam::kSlots);
    EXPECT_FALSE(wheel.wants_step());
  }
}

TYPED_TEST(TimeoutWheel, LosesNothingWhenTheTickComesLate) {
  constexpr uint32_t kStall = 2 * TestFixture::kSpan + 5;
  typename TestFixture::Driver wheel;
  std::vector<uint32_t> dues;
  for (uint32_t slot = 0; slot < TypeParam::kSlots; ++slot) {
    dues.push_back(1 + static_cast<uint32_t>(uint64_t{slot} * 7919 % (kStall + 10)));
    wheel.arm(slot, dues.back());
  }
  const auto fired = wheel.jump(kStall);
  EXPECT_EQ(fired.size(),
            static_cast<size_t>(std::count_if(dues.begin(), dues.end(), [](uint32_t d) { return d <= kStall; })));
  EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end(), [](const auto& a, const auto& b) { return a.due < b.due; }));
  const auto rest = wheel.run(10);
  EXPECT_EQ(fired.size() + rest.size(), TypeParam::kSlots);
  for (const auto& f : rest) EXPECT_EQ(f.at, f.due);
}

TYPED_TEST(TimeoutWheel, ADisarmedTimerNeverFires) {
  for (const uint32_t timeout : TestFixture::timeouts()) {
    if (timeout > TestFixture::kSpan) break;
    typename TestFixture::Driver wheel;
    wheel.arm(0, timeout);
    wheel.arm(1, timeout);
    EXPECT_TRUE(wheel.run(timeout - 1).empty());
    wheel.disarm(0);
    const auto fired = wheel.run(2);
    ASSERT_EQ(fired.size(), 1u);
    EXPECT_EQ(fired[0].slot, 1u);
  }
}

TYPED_TEST(TimeoutWheel, ARearmedTimerFiresOnceAtItsNewTime) {
  constexpr uint32_t kFar = TestFixture::kSpan - 2;
  for (const auto& [first, second] : {std::pair{2u, kFar}, std::pair{kFar, 2u}}) {
    typename TestFixture::Driver wheel;
    wheel.arm(0, first);
    wheel.disarm(0);
    wheel.arm(0, second);
    const auto fired = wheel.run(TestFixture::kSpan);
    ASSERT_EQ(fired.size(), 1u);
    EXPECT_EQ(fired[0].at, second);
  }
}

TYPED_TEST(TimeoutWheel, ATimeThatHasPassedFiresInThisTick) {
  typename TestFixture::Driver wheel(1000);
  wheel.run(37);
  wheel.arm(0, wheel.time() - 30);
  wheel.arm(1, wheel.time());
  const auto fired = wheel.jump(0);
  ASSERT_EQ(fired.size(), 2u);
  EXPECT_FALSE(wheel.wants_step());
}

TYPED_TEST(TimeoutWheel, ATimerArmedWhileTheWheelIsLateKeepsItsTime) {
  typename TestFixture::Driver wheel;
  wheel.arm(0, 3);
  wheel.stall(TypeParam::kLists + 1);
  wheel.arm(1, wheel.time() + 4);
  wheel.arm(2, wheel.time() - 2);  // over, but the wheel has not come there yet
  const auto late = wheel.jump(0);
  ASSERT_EQ(late.size(), 2u);
  EXPECT_EQ(late[0].slot, 0u);
  EXPECT_EQ(late[1].slot, 2u);
  const auto fired = wheel.run(TypeParam::kLists);
  ASSERT_EQ(fired.size(), 1u);
  EXPECT_EQ(fired[0].slot, 1u);
  EXPECT_EQ(fired[0].at, fired[0].due);
}

TYPED_TEST(TimeoutWheel, AnIdleWheelAsksForFewSteps) {
  constexpr uint32_t kLap = TypeParam::kLists, kWord = 1u << TypeParam::kSpreadBits;
  typename TestFixture::Driver wheel;
  wheel.run(kLap);  // the empty lists within reach are spread first
  // One step to advance over a word of lists, one to spread the next list of level 1, a geometric rest for those above.
  const auto idle_lap = [&] {
    const uint64_t before = wheel.steps();
    wheel.run(kLap);
    return wheel.steps() - before;
  };
  EXPECT_LE(idle_lap(), 3 * (kLap / kWord) + TypeParam::kLevels);
  // Ticks that were busy once cost nothing on a later lap.
  for (uint32_t slot = 0; slot < kLap && slot < TypeParam::kSlots; ++slot) wheel.arm(slot, wheel.time() + 1 + slot);
  wheel.run(2 * kLap);
  EXPECT_LE(idle_lap(), 3 * (kLap / kWord) + TypeParam::kLevels);
}

}  // namespace
}  // namespace tidemill::test
