// SPDX-License-Identifier: Apache-2.0
/// Wires and agents on the guest's two devices, rxe0 and rxe1, which see each other over a veth pair.
#pragma once
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tidemill.hpp"
#include "tidemill/verbs_wire.hpp"
#include "ud_wire.hpp"

namespace tidemill::guest {

using namespace std::chrono_literals;

inline void shell(const std::string& command) {
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

inline std::unique_ptr<VerbsWire> open_wire(VerbsOptions options) {
  auto wire = VerbsWire::open(std::move(options));
  if (!wire) ADD_FAILURE() << wire.error().message;
  return wire ? std::move(wire).value() : nullptr;
}

inline Address address_of(const VerbsIdentity& peer, const VerbsIdentity& self) {
  return {.lid = peer.lid, .qpn = peer.qpn, .grh = GlobalRoute{.gid = peer.gid, .gid_index = self.gid_index}};
}

/// `condition` within `limit`.
template <class Condition>
bool soon(Condition condition, Nanoseconds limit = 10s) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// A device of the runtime, a port on a verbs wire, an agent. Callbacks run on the device's thread.
class Side {
 public:
  explicit Side(VerbsOptions options, PortOptions port_options = {}) {
    auto wire = open_wire(std::move(options));
    identity = wire->identity();
    counters = wire->counters();
    wire_ = static_cast<verbs::UdWire*>(wire.get());
    device_ = std::make_unique<Device>(Device::open("soft:").value());
    port_ = device_->open_port(1, std::move(wire), std::move(port_options)).value();
  }

  void answer() {
    MadFilter filter = MadFilter::get_and_set(kEchoClass, 1);
    filter.oui = kEchoOui;
    agent = port_
                .register_agent({.unsolicited = filter,
                                 .on_send = [](const SendCompletion&) {},
                                 .on_receive =
                                     [this](const Received& r) {
                                       const Mad response = make_response(r.mad);
                                       (void)agent.send({.mad = response.bytes(), .to = r.from});
                                     },
                                 .on_port_event = [this](PortEvent e) { event(e); },
                                 .queue_depth = 65536})
                .value();
  }

  void ask() {
    agent = port_
                .register_agent({.on_send =
                                     [this](const SendCompletion& c) {
                                       const std::lock_guard lock(mutex_);
                                       ++ended_[c.context];
                                       ++by_status_[c.status];
                                       tries_ += c.tries;
                                       longest_ = std::max(longest_, c.elapsed);
                                       vendor_ = c.vendor;
                                     },
                                 .on_receive = [](const Received&) {},
                                 .on_port_event = [this](PortEvent e) { event(e); },
                                 .window = 0,
                                 .queue_depth = 65536})
                .value();
  }

  /// Accepts `count` requests, keeping at most `depth` outstanding.
  void send(const Address& to, unsigned count, unsigned depth, Pace pace) {
    Mad mad = Mad::make(kEchoClass, 1, mad_method::get, 1);
    mad.oui(kEchoOui);
    for (unsigned i = 0; i < count; ++i) {
      ASSERT_TRUE(soon([&] { return posted_ - ended() < depth; }, 60s));
      ASSERT_TRUE(agent.send({.mad = mad.bytes(), .to = to, .pace = pace, .context = posted_}).ok());
      ++posted_;
    }
  }

  uint64_t posted() const { return posted_; }
  uint64_t ended() const {
    const std::lock_guard lock(mutex_);
    uint64_t sum = 0;
    for (const auto& [status, n] : by_status_) sum += n;
    return sum;
  }
  uint64_t ended(SendStatus status) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_status_.find(status);
    return found == by_status_.end() ? 0 : found->second;
  }
  /// Every accepted send has completed, once.
  bool each_once() const {
    const std::lock_guard lock(mutex_);
    return ended_.size() == posted_ &&
           std::all_of(ended_.begin(), ended_.end(), [](const auto& e) { return e.second == 1; });
  }
  uint64_t tries() const {
    const std::lock_guard lock(mutex_);
    return tries_;
  }
  Nanoseconds longest() const {
    const std::lock_guard lock(mutex_);
    return longest_;
  }
  uint8_t vendor() const {
    const std::lock_guard lock(mutex_);
    return vendor_;
  }
  std::vector<PortEvent> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  bool told(PortEvent e) const {
    const auto all = events();
    return std::find(all.begin(), all.end(), e) != all.end();
  }
  verbs::UdWire& wire() { return *wire_; }
  PortStats port_stats() const { return port_.stats(); }
  void close() {
    agent = {};
    port_ = {};
  }

  VerbsIdentity identity;
  std::shared_ptr<const VerbsCounters> counters;

 private:
  void event(PortEvent e) {
    const std::lock_guard lock(mutex_);
    events_.push_back(e);
  }

  std::unique_ptr<Device> device_;
  verbs::UdWire* wire_ = nullptr;
  mutable std::mutex mutex_;
  std::map<uint64_t, unsigned> ended_;
  std::map<SendStatus, uint64_t> by_status_;
  uint64_t tries_ = 0;
  Nanoseconds longest_{0};
  uint8_t vendor_ = 0;
  std::vector<PortEvent> events_;
  std::atomic<uint64_t> posted_{0};
  Port port_;

 public:
  Agent agent;
};

}  // namespace tidemill::guest
