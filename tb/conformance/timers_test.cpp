// SPDX-License-Identifier: Apache-2.0
/// No timer is early, whenever in a pass it was asked for: a clock that stalls the reader, as a scheduler may, lets the
/// application post between the reading of the time and its use.
#include <functional>

#include "fixture.hpp"

namespace tidemill::test {
namespace {

/// Stands still; runs `stall` once, after reading and before returning, at the reading it is set for.
class StallingClock final : public Clock {
 public:
  Nanoseconds now() const override {
    const Nanoseconds read = now_;
    if (stall_ && countdown_-- == 0) std::exchange(stall_, nullptr)();
    return read;
  }
  void advance(Nanoseconds by) { now_ += by; }
  void stall_at(int reading, std::function<void()> stall) {
    countdown_ = reading;
    stall_ = std::move(stall);
  }
  bool stalled() const { return !stall_; }
  void disarm() { stall_ = nullptr; }

 private:
  Nanoseconds now_{0};
  mutable int countdown_ = 0;
  mutable std::function<void()> stall_;
};

class Timers : public ::testing::TestWithParam<DeviceParam> {
 protected:
  void SetUp() override {
    if (!GetParam().uri.starts_with("soft:")) GTEST_SKIP() << "a card reads its own clock";
    auto device = Device::open(GetParam().uri, {.progress = Progress::poll, .clock = clock_});
    ASSERT_TRUE(device.ok()) << device.error().message;
    device_.emplace(std::move(device).value());
    port_ = device_->open_port(1, std::make_unique<ScriptedWire>(script_)).value();
    agent_ = port_
                 .register_agent({.on_send =
                                      [this](const SendCompletion& c) {
                                        ended_ = clock_->now();
                                        completion_ = c;
                                      },
                                  .on_receive = [](const Received&) {}})
                 .value();
    request_ = Mad::make(0x30, 1, mad_method::get, 0x10);
    request_.oui(0xabcdef);
  }
  SendRequest to_peer(Nanoseconds timeout, Nanoseconds deadline = {}) const {
    SendRequest r{
        .mad = request_.bytes(), .to = {}, .pace = {.timeout = timeout, .deadline = deadline}, .tid = {}, .context = 0};
    r.to.lid = 7;
    return r;
  }
  /// Small steps until the send has ended.
  void run_until_ended() {
    for (int i = 0; i < 400 && !completion_; ++i) {
      device_->poll(16);
      clock_->advance(100us);
    }
  }

  std::shared_ptr<StallingClock> clock_ = std::make_shared<StallingClock>();
  std::shared_ptr<WireScript> script_ = std::make_shared<WireScript>();
  std::optional<Device> device_;
  tidemill::Port port_;
  tidemill::Agent agent_;
  Mad request_;
  Nanoseconds ended_{0};
  std::optional<SendCompletion> completion_;
};
INSTANTIATE_TEST_SUITE_P(Devices, Timers, ::testing::ValuesIn(devices(Progress::poll)));

constexpr int kReadings = 8;  ///< More than a poll makes.

TEST_P(Timers, ADeadlineCountsFromItsPostThoughTheTimeWasReadBefore) {
  for (int reading = 0; reading < kReadings; ++reading) {
    Nanoseconds posted{0};
    completion_.reset();
    clock_->stall_at(reading, [&] {
      clock_->advance(2ms);
      posted = clock_->now();
      ASSERT_TRUE(agent_.send(to_peer(1s, 3ms)).ok());
    });
    device_->poll(16);
    if (!clock_->stalled()) {
      clock_->disarm();
      break;
    }
    run_until_ended();
    ASSERT_TRUE(completion_) << "reading " << reading;
    EXPECT_EQ(completion_->status, SendStatus::deadline);
    EXPECT_GE(ended_ - posted, 3ms) << "reading " << reading;
    EXPECT_GE(completion_->elapsed, 3ms) << "reading " << reading;
  }
}

TEST_P(Timers, AModifiedWaitCountsFromItsModifyThoughTheTimeWasReadBefore) {
  for (int reading = 0; reading < kReadings; ++reading) {
    completion_.reset();
    const auto id = agent_.send(to_peer(10s));
    ASSERT_TRUE(id.ok());
    for (int i = 0; i < 4; ++i) device_->poll(16);
    Nanoseconds asked{0};
    clock_->stall_at(reading, [&] {
      clock_->advance(2ms);
      asked = clock_->now();
      ASSERT_EQ(agent_.modify(id.value(), 3ms), Errc::ok);
    });
    device_->poll(16);
    if (!clock_->stalled()) {
      clock_->disarm();
      EXPECT_EQ(agent_.cancel(id.value()), Errc::ok);
      device_->poll(16);
      break;
    }
    run_until_ended();
    ASSERT_TRUE(completion_) << "reading " << reading;
    EXPECT_EQ(completion_->status, SendStatus::timeout);
    EXPECT_GE(ended_ - asked, 3ms) << "reading " << reading;
  }
}

TEST_P(Timers, ATimeoutCountsFromTheWiresReportThoughTheTimeWasReadBefore) {
  script_->auto_sent = false;
  for (int reading = 0; reading < kReadings; ++reading) {
    completion_.reset();
    ASSERT_TRUE(agent_.send(to_peer(3ms)).ok());
    for (int i = 0; i < 4; ++i) device_->poll(16);
    const auto tries = script_->take_transmitted();
    ASSERT_EQ(tries.size(), 1u);
    Nanoseconds left{0};
    clock_->stall_at(reading, [&] {
      clock_->advance(2ms);
      left = clock_->now();
      script_->report(tries[0].token, WireStatus::sent);
    });
    device_->poll(16);
    const bool stalled = clock_->stalled();
    if (!stalled) {
      clock_->disarm();
      script_->report(tries[0].token, WireStatus::sent);
    }
    run_until_ended();
    ASSERT_TRUE(completion_) << "reading " << reading;
    EXPECT_GE(ended_ - left, 3ms) << "reading " << reading;
    if (!stalled) break;
  }
}

}  // namespace
}  // namespace tidemill::test
