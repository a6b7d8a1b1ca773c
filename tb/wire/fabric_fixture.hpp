// SPDX-License-Identifier: Apache-2.0
/// Plays the runtime on a wire: sends MADs, keeps what comes back.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tidemill/fabric.hpp"

namespace tidemill::test {

/// Everything a wire reports.
struct Sink final : WireSink {
  struct Sent {
    uint64_t token;
    WireStatus status;
    uint8_t vendor, recovery;
  };
  struct Got {
    Qp qp;
    Address from;
    Mad mad;
  };
  void sent(uint64_t token, WireStatus status, uint8_t vendor, uint8_t recovery) override {
    reports.push_back({token, status, vendor, recovery});
  }
  bool received(const WireReceived& r) override {
    if (buffers[static_cast<int>(r.qp)] == 0) return false;
    --buffers[static_cast<int>(r.qp)];
    EXPECT_EQ(r.mad.size(), kMadBytes);
    got.push_back({r.qp, r.from, Mad(MadView(r.mad.first<kMadBytes>()))});
    return true;
  }
  void event(PortEvent e) override { events.push_back(e); }

  std::size_t count(WireStatus status) const {
    std::size_t n = 0;
    for (const Sent& s : reports) n += s.status == status;
    return n;
  }

  std::size_t buffers[2] = {~std::size_t{0}, ~std::size_t{0}};  ///< Free receive buffers of each QP.
  std::vector<Sent> reports;
  std::vector<Got> got;
  std::vector<PortEvent> events;
};

/// A wire in virtual time.
class Station {
 public:
  Station(SimulatedFabric& fabric, std::shared_ptr<Clock> clock, unsigned node, bool responders = true)
      : clock_(std::move(clock)), wire_(std::move(fabric.attach(node, responders)).value()) {}

  Sink sink;

  Wire& wire() { return *wire_; }
  uint16_t lid() const { return wire_->attributes().lid; }

  /// MADs stay readable until the end of the station.
  void send(const Mad& mad, const Address& to, Qp qp) {
    mads_.push_back(mad);
    wire_->transmit({.token = ++tokens_, .qp = qp, .to = to, .mad = mads_.back().bytes()});
  }
  void poll() { wire_->poll(sink); }
  /// Moves the clock from event to event until nothing is under way.
  void run() {
    for (int i = 0; i < 10'000'000; ++i) {
      const std::optional<Nanoseconds> next = wire_->next_event();
      if (!next) return;
      clock_->advance_to(*next);
      poll();
    }
    FAIL() << "the fabric never comes to rest";
  }
  /// Sends and runs; the response, if one came.
  std::optional<Mad> ask(const Mad& mad, const Address& to, Qp qp) {
    const std::size_t before = sink.got.size();
    send(mad, to, qp);
    run();
    if (sink.got.size() == before) return std::nullopt;
    EXPECT_EQ(sink.got.size(), before + 1);
    return sink.got.back().mad;
  }

 private:
  std::shared_ptr<Clock> clock_;
  std::unique_ptr<Wire> wire_;
  std::deque<Mad> mads_;
  uint64_t tokens_ = 0;
};


/// Where the SMI of a LID listens.
inline Address smi(uint16_t lid) { return {.lid = lid, .qpn = 0}; }
inline Address gsi(uint16_t lid) { return {.lid = lid}; }

inline Mad echo(uint64_t tid, uint8_t method = mad_method::get) {
  return Mad::make(kEchoClass, 1, method, 0x0001).oui(kEchoOui).tid(tid);
}

/// A directed-route Get over the ports of `path`.
inline Mad directed(uint16_t attribute, const std::vector<uint8_t>& path, uint32_t modifier = 0) {
  Mad smp = Mad::make(mad_class::subn_directed, 1, mad_method::get, attribute, modifier);
  smp.dr_slid(kPermissiveLid).dr_dlid(kPermissiveLid).hop_count(static_cast<uint8_t>(path.size()));
  for (unsigned i = 0; i < path.size(); ++i) smp.initial_path(i + 1, path[i]);
  return smp;
}

inline std::shared_ptr<Clock> virtual_clock() { return std::make_shared<VirtualClock>(); }

}  // namespace tidemill::test
