// SPDX-License-Identifier: Apache-2.0
/// When a device ends: with its last handle, and nothing of it runs on.
#include <atomic>

#include "tb/conformance/fixture.hpp"

namespace tidemill::test {
namespace {

/// Holds every thread but its maker's while it is shut.
class GatedClock final : public Clock {
 public:
  Nanoseconds now() const override {
    while (shut && std::this_thread::get_id() != maker_) {
      held = true;
      std::this_thread::sleep_for(100us);
    }
    return SteadyClock().now();
  }
  std::atomic<bool> shut{true};
  mutable std::atomic<bool> held{false};

 private:
  std::thread::id maker_ = std::this_thread::get_id();
};

class Lifetime : public ::testing::TestWithParam<DeviceParam> {};

TEST_P(Lifetime, TheLastHandleWaitsForTheThread) {
  const auto clock = std::make_shared<GatedClock>();
  std::optional<Device> device;
  {
    auto opened = Device::open(GetParam().uri, {.progress = Progress::thread, .clock = clock});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    device.emplace(std::move(opened).value());
  }
  while (!clock->held) std::this_thread::sleep_for(100us);  // the thread is in the middle of a pass
  std::thread opener([&] {
    std::this_thread::sleep_for(20ms);
    clock->shut = false;
  });
  device.reset();
  EXPECT_FALSE(clock->shut);
  EXPECT_EQ(clock.use_count(), 1) << "the device lives on without a handle";
  opener.join();
}

INSTANTIATE_TEST_SUITE_P(Devices, Lifetime, ::testing::ValuesIn(devices(Progress::thread)));

}  // namespace
}  // namespace tidemill::test
