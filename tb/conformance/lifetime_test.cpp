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

/// What goes with the last handle, or soon after: here without a board, whose own handles would count.
class Ending : public ::testing::TestWithParam<DeviceParam> {
 protected:
  void SetUp() override {
    auto device = Device::open(GetParam().uri, {.progress = GetParam().progress, .clock = clock()});
    ASSERT_TRUE(device.ok()) << device.error().message;
    device_.emplace(std::move(device).value());
    open_port();
  }
  static bool polled() { return GetParam().progress == Progress::poll; }
  static std::shared_ptr<Clock> clock() {
    return polled() ? std::shared_ptr<Clock>(std::make_shared<VirtualClock>()) : std::make_shared<SteadyClock>();
  }
  bool open_port() {
    auto port = device_->open_port(1, std::make_unique<ScriptedWire>(script_));
    if (port.ok()) port_ = std::move(port).value();
    return port.ok();
  }
  tidemill::Agent agent(std::function<void(const SendCompletion&)> on_send) {
    Registration r;
    r.on_send = std::move(on_send);
    return std::move(port_.register_agent(std::move(r))).value();
  }
  static bool send(tidemill::Agent& agent, Nanoseconds timeout, uint64_t context = 0) {
    const Mad mad = Mad::make(0x04, 1, mad_method::get, 0x0010);
    SendRequest r{.mad = mad.bytes(), .to = {}, .pace = {}, .tid = {}, .context = context};
    r.to.lid = 7;
    r.pace.timeout = timeout;
    return agent.send(r).ok();
  }
  /// Polls as long as there is a handle to poll.
  template <class Done>
  bool wait_until(Done&& done) {
    for (const auto end = std::chrono::steady_clock::now() + 10s; !done();) {
      if (std::chrono::steady_clock::now() > end) return false;
      if (polled() && device_)
        device_->poll(1);
      else
        std::this_thread::sleep_for(200us);
    }
    return true;
  }
  bool wire_is_gone() const { return script_.use_count() == 1; }

  std::shared_ptr<WireScript> script_ = std::make_shared<WireScript>();
  std::optional<Device> device_;
  tidemill::Port port_;
  std::atomic<unsigned> completed_{0};
};

TEST_P(Ending, APortClosedInACallbackGoesWithItsWire) {
  tidemill::Agent a = agent([&](const SendCompletion&) {
    port_ = {};
    ++completed_;
  });
  ASSERT_TRUE(send(a, 1ms));
  ASSERT_TRUE(wait_until([&] { return completed_ == 1; }));
  a = {};
  EXPECT_TRUE(wait_until([&] { return wire_is_gone(); })) << "the wire lives on";
  EXPECT_TRUE(open_port()) << "its number is not free";
}

TEST_P(Ending, HandlesDroppedWhileAgentsEndWaitForThem) {
  std::atomic<bool> told = false;
  {
    tidemill::Agent a = agent([&](const SendCompletion& c) { completed_ += c.status == SendStatus::flushed; });
    for (unsigned i = 0; i < 8; ++i) ASSERT_TRUE(send(a, 1min));
    ASSERT_EQ(a.deregister_async([&] { told = true; }), Errc::ok);
    port_ = {};
    device_.reset();
  }
  EXPECT_TRUE(told);
  EXPECT_EQ(completed_, 8u);
  EXPECT_TRUE(wire_is_gone()) << "the device lives on without a handle";
}

TEST_P(Ending, EveryHandleDroppedInACallbackEndsTheDevice) {
  tidemill::Agent a;
  a = agent([&](const SendCompletion& c) {
    if (c.context == 1) {
      std::optional<Device> device = std::exchange(device_, std::nullopt);
      port_ = {};
      a = {};
    }
    ++completed_;
  });
  ASSERT_TRUE(send(a, 1min));
  ASSERT_TRUE(send(a, 1ms, 1));
  EXPECT_TRUE(wait_until([&] { return completed_ == 2; }));
  EXPECT_TRUE(wait_until([&] { return wire_is_gone(); })) << "the device lives on without a handle";
  EXPECT_TRUE(wait_until([] { return Device::open(GetParam().uri, {.progress = Progress::poll, .clock = clock()}).ok(); }))
      << "the card stays taken";
}

INSTANTIATE_TEST_SUITE_P(Devices, Ending, ::testing::ValuesIn(devices()));
INSTANTIATE_TEST_SUITE_P(Devices, Lifetime, ::testing::ValuesIn(devices(Progress::thread)));

}  // namespace
}  // namespace tidemill::test
