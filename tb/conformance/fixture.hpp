// SPDX-License-Identifier: Apache-2.0
/// The conformance suite runs unchanged on every device. A parameter names the device and who makes progress; a test
/// uses Conformance for its port and `settle()` where it waits. A board watches whatever a test does: what it finds
/// fails the test.
#pragma once
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tb/support/scripted_wire.hpp"
#include "tidemill.hpp"
#include "tb/support/watched.hpp"

namespace tidemill::test {

using namespace std::chrono_literals;

struct DeviceParam {
  std::string uri;
  Progress progress;
};
inline void PrintTo(const DeviceParam& p, std::ostream* out) {
  *out << p.uri << (p.progress == Progress::thread ? " own thread" : " polled");
}
/// The devices of this build; see main.cpp.
std::vector<DeviceParam> devices();
inline std::vector<DeviceParam> devices(Progress progress) {
  std::vector<DeviceParam> some;
  for (const DeviceParam& d : devices())
    if (d.progress == progress) some.push_back(d);
  return some;
}

/// What an agent's callbacks were told, in order. One thread at a time writes; read it when settled.
struct Log {
  struct Entry {
    enum Kind { received, completed, event } kind;
    SendId id;
    SendStatus status = SendStatus::success;
    unsigned tries = 0;
    uint64_t context = 0;
    bool matched = false;
    Mad mad;
    PortEvent port_event = PortEvent::wire_lost;
    Nanoseconds elapsed{0};
    uint8_t vendor = 0;
  };
  mutable std::mutex mutex;
  std::vector<Entry> entries;

  void add(Entry e) {
    const std::lock_guard lock(mutex);
    entries.push_back(std::move(e));
  }
  std::vector<Entry> all() const {
    const std::lock_guard lock(mutex);
    return entries;
  }
  std::size_t count(Entry::Kind kind) const {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.kind == kind; }));
  }
  std::size_t count(SendStatus status) const {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), [&](const Entry& e) {
      return e.kind == Entry::completed && e.status == status;
    }));
  }
  /// A registration whose callbacks write here.
  Registration registration(std::optional<MadFilter> unsolicited = {}) {
    Registration r;
    r.unsolicited = std::move(unsolicited);
    r.on_send = [this](const SendCompletion& c) {
      add({Entry::completed, c.id, c.status, c.tries, c.context, false, {}, {}, c.elapsed, c.vendor});
    };
    r.on_receive = [this](const Received& m) {
      add({Entry::received, m.matched.value_or(SendId{}), {}, 0, m.context, m.matched.has_value(), Mad(m.mad), {}, {}, 0});
    };
    r.on_port_event = [this](PortEvent e) { add({Entry::event, {}, {}, 0, 0, false, {}, e, {}, 0}); };
    return r;
  }
};

class Conformance : public ::testing::TestWithParam<DeviceParam> {
 protected:
  void SetUp() override { open({}); }
  void TearDown() override {
    settle();
    close();
  }

  /// Opens the device and port 1 on a scripted wire.
  void open(WireAttributes attributes, PortOptions options = {}) {
    close();
    script_ = std::make_shared<WireScript>();
    script_->attributes = attributes;
    open_device();
    if (!device_) return;
    open_port(std::make_unique<ScriptedWire>(script_), std::move(options));
  }
  /// The clock is virtual where the application polls.
  void open_device() {
    clock_ = polled() ? std::shared_ptr<Clock>(std::make_shared<VirtualClock>()) : std::make_shared<SteadyClock>();
    auto device = Device::open(GetParam().uri, {.progress = GetParam().progress, .clock = clock_});
    ASSERT_TRUE(device.ok()) << device.error().message;
    device_.emplace(std::move(device).value());
  }
  void open_port(std::unique_ptr<Wire> wire, PortOptions options = {}) {
    board_ = std::make_shared<RuntimeBoard>(RuntimeBoard::Options{.report = [](const std::string& what) { ADD_FAILURE() << what; },
                                                                  .clock = clock_,
                                                                  .wire = wire->attributes(),
                                                                  .receive_buffers = options.receive_buffers,
                                                                  .slots = device_->info().slots,
                                                                  .decided_ahead = device_->info().kind == "soft" ? 0u : 64u,
                                                                  .polled = polled()});
    auto port = device_->open_port(1, std::make_unique<WatchedWire>(board_, std::move(wire)), std::move(options));
    ASSERT_TRUE(port.ok()) << port.error().message;
    port_ = Port(board_, std::move(port).value());
  }
  void close() {
    port_ = Port();
    device_.reset();
    if (board_) board_->finish();
    board_.reset();
  }
  static bool polled() { return GetParam().progress == Progress::poll; }

  Agent register_agent(Registration r) {
    auto agent = port_.register_agent(std::move(r));
    EXPECT_TRUE(agent.ok()) << agent.error().message;
    return agent.ok() ? std::move(agent).value() : Agent();
  }

  /// Lets everything happen that needs no more time: until `done`, or a second.
  template <class Done>
  bool settle_until(Done&& done) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
      if (GetParam().progress == Progress::thread)
        std::this_thread::sleep_for(200us);
      else
        device_->poll(1);
    }
    return true;
  }
  /// A few passes, for what must not happen. Under the virtual clock time may pass too.
  void settle() {
    if (!device_) return;
    if (GetParam().progress == Progress::thread)
      std::this_thread::sleep_for(2ms);
    else
      for (int i = 0; i < 8; ++i)
        if (device_->poll(1) == 0 && i > 1) board_->idle();
  }

  static Mad request(uint8_t method = mad_method::get, uint8_t mgmt_class = 0x30) {
    Mad m = Mad::make(mgmt_class, 1, method, 0x0010);
    if (m.view().is_vendor2()) m.oui(0xabcdef);
    return m;
  }
  static SendRequest to_peer(const Mad& mad, Nanoseconds timeout = 200ms, unsigned retries = 0, uint64_t context = 0) {
    SendRequest r{.mad = mad.bytes(), .to = {}, .pace = {}, .tid = {}, .context = context};
    r.to.lid = 7;
    r.pace.timeout = timeout;
    r.pace.retries = retries;
    return r;
  }

  std::shared_ptr<Clock> clock_;
  std::optional<Device> device_;
  std::shared_ptr<WireScript> script_;
  std::shared_ptr<RuntimeBoard> board_;
  Port port_;
};

}  // namespace tidemill::test
