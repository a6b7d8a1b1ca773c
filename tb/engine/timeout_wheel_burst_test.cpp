// SPDX-License-Identifier: Apache-2.0
/// How late a burst can make timers. The wheel of a card bank gets as many steps in a tick as its declared cycles allow
/// at 250 MHz, and no more. A burst delays only what stands behind it; spreading it ahead of its time delays nothing.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "hls/cycle_table.hpp"
#include "wheel_driver.hpp"

namespace tidemill::test {
namespace {

using Driver = WheelDriver<hls::CardBankConfig>;
constexpr uint32_t kSlots = hls::CardBankConfig::kSlots;
constexpr uint32_t kCyclesInATick = 256;  // 1.024 us at 250 MHz
/// Steps of each kind that fit a tick: those that turn the wheel or move a timer down, and those that fire one.
constexpr uint32_t kStepsInATick = kCyclesInATick / hls::declared_cycles(abi::EventKind::tick, false);
constexpr uint32_t kFiringSteps = kCyclesInATick / hls::declared_cycles(abi::EventKind::tick, true);

/// The most timers that a tick's steps move down in time: 448 ticks, in each a step that turns the wheel and one that fires.
constexpr uint32_t kMovable = 448 * (kStepsInATick - 2);
static_assert(kMovable + 448 <= kSlots);

/// Ticks that `count` steps take.
constexpr uint32_t service(uint32_t count, uint32_t steps = kStepsInATick) {
  return count / steps;
}

/// A wheel that has looked ahead as far as it can, with `count` timers that expire together.
Driver with_burst(uint32_t count, uint32_t timeout) {
  Driver wheel;
  wheel.jump(0);
  for (uint32_t slot = 0; slot < count; ++slot) wheel.arm(slot, timeout);
  return wheel;
}

class WheelBurst : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Timeouts, WheelBurst,
                         ::testing::Values(1u, 100u, 447u, 512u, 575u, 600u, 5'000u, 100'000u, 10'000'000u),
                         [](const auto& p) { return "After" + std::to_string(p.param) + "Ticks"; });

TEST_P(WheelBurst, ATimerIsLateByTheServiceOfWhatIsAheadOfItAndNoMore) {
  for (const uint32_t count : {1u, 16u, 256u, kMovable}) {
    Driver wheel = with_burst(count, GetParam());
    const auto fired = wheel.run(GetParam() + service(kSlots) + 2, kStepsInATick);
    ASSERT_EQ(fired.size(), count);
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_GE(fired[i].at, fired[i].due);
      // One step brings the wheel to the tick, i expiries are ahead.
      EXPECT_LE(fired[i].at - fired[i].due, service(i + 1)) << i << " of " << count;
    }
  }
}

TEST(WheelLookAhead, SpreadAheadOfItsTimeMakesNoOtherTimerLate) {
  constexpr uint32_t kOthers = 448;
  for (const uint32_t timeout : {600u, 5'000u, 100'000u, 10'000'000u}) {
    Driver wheel = with_burst(kMovable, timeout);
    // One timer in each tick of the time in which the burst moves down.
    for (uint32_t i = 0; i < kOthers; ++i) wheel.arm(kMovable + i, timeout - kOthers + i);
    const auto fired = wheel.run(timeout - 1, kStepsInATick);
    ASSERT_EQ(fired.size(), kOthers);
    for (const auto& f : fired) EXPECT_EQ(f.at, f.due);
    // And the burst itself was there in time.
    EXPECT_EQ(wheel.run(1, kStepsInATick).size(), kStepsInATick - 1);
  }
}

/// One step of each tick advances the wheel, the others move the burst down. If 448 ticks are not enough for that, what
/// is left of the move is added.
TEST(WheelLateness, ByBurstAndStepsInATick) {
  constexpr uint32_t kTimeout = 10'000, kHalf = kStepsInATick / 2;
  std::printf("| equal deadlines | %u steps a tick | %u | %u |\n| --- | --- | --- | --- |\n", kFiringSteps, kStepsInATick,
              kHalf);
  for (const uint32_t count : {1u, 16u, 256u, 1024u, kSlots}) {
    std::printf("| %u |", count);
    for (const uint32_t steps : {kFiringSteps, kStepsInATick, kHalf}) {
      Driver wheel = with_burst(count, kTimeout);
      const auto fired = wheel.run(kTimeout + service(2 * kSlots, steps), steps);
      ASSERT_EQ(fired.size(), count);
      const uint32_t late = fired.back().at - fired.back().due, move = service(count, steps - 1);
      EXPECT_LE(late, service(count, steps) + (move > 448 ? move - 448 + 2 : 0));
      std::printf(" %u (%.0f us) |", late, late * 1.024);
    }
    std::printf("\n");
  }
}

TEST(WheelLateness, AStallOfASecondIsCaughtUpInTenMilliseconds) {
  constexpr uint32_t kSecond = 976'563;
  Driver wheel;
  for (uint32_t slot = 0; slot < kSlots; ++slot) wheel.arm(slot, 1 + slot * 119);
  const uint64_t before = wheel.steps();
  const auto fired = wheel.jump(kSecond);
  EXPECT_EQ(fired.size(), kSlots);
  const uint64_t cycles = (wheel.steps() - before - kSlots) * hls::declared_cycles(abi::EventKind::tick, false) +
                          kSlots * hls::declared_cycles(abi::EventKind::tick, true);
  std::printf("steps %llu, cycles %llu, %.2f ms at 250 MHz\n", static_cast<unsigned long long>(wheel.steps() - before),
              static_cast<unsigned long long>(cycles), cycles / 250e3);
  EXPECT_LE(cycles, 10u * 250'000u);
}

}  // namespace
}  // namespace tidemill::test
