// SPDX-License-Identifier: Apache-2.0
/// Random events for the send arbiter: lanes of all classes opening, filling, draining; credits short most of the time;
/// events that name no lane or one in the wrong state. Replayable from its seed.
#pragma once
#include <array>
#include <cstdint>
#include <random>

#include "tidemill/abi.hpp"

namespace tidemill::test {

class RandomArbiterEvents {
 public:
  RandomArbiterEvents(uint64_t seed, uint32_t lanes) : random_(seed), lanes_(lanes) {}

  abi::ArbiterEvent next() {
    abi::ArbiterEvent e;
    e.lane(lane());
    e.qp(one_in(2));
    const uint32_t kind = below(32);
    if (kind < 15) {
      e.kind(abi::ArbiterKind::grant);
    } else if (kind < 19) {
      e.kind(abi::ArbiterKind::doorbell);
      e.count(static_cast<uint16_t>(1u + below(4)));
    } else if (kind < 23) {
      e.kind(abi::ArbiterKind::window_credit);
      e.lane(one_in(8) ? lane() : counted_[below(kRemembered)]);
    } else if (kind < 26) {
      e.kind(abi::ArbiterKind::wire_credit);
      e.count(static_cast<uint16_t>(1u + below(6)));
    } else if (kind < 29) {
      configure(e, abi::ArbiterKind::open_lane);
    } else if (kind < 30 && one_in(4)) {
      e.kind(abi::ArbiterKind::close_lane);
    } else {
      configure(e, abi::ArbiterKind::weigh_lane);
    }
    return e;
  }
  void learn(const abi::ArbiterEvent&, const abi::ArbiterAction& a) {
    if (a.granted() & a.counted()) counted_[below(kRemembered)] = a.lane();
  }

 private:
  static constexpr uint32_t kRemembered = 64;

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool one_in(uint32_t n) { return below(n) == 0; }
  /// Few lanes, far apart, so that each sees much; sometimes any, also one that is not there.
  uint16_t lane() { return static_cast<uint16_t>(one_in(64) ? below(lanes_ + 8) : (below(48) * 22u) % lanes_); }
  void configure(abi::ArbiterEvent& e, abi::ArbiterKind kind) {
    e.kind(kind);
    e.service_class(static_cast<uint8_t>(below(4)));
    e.weight(static_cast<uint8_t>(one_in(32) ? 0 : 1u + below(5)));
    e.count(static_cast<uint16_t>(below(4)));
  }

  std::mt19937_64 random_;
  uint32_t lanes_;
  std::array<uint16_t, kRemembered> counted_{};
};

}  // namespace tidemill::test
