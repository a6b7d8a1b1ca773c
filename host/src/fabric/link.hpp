// SPDX-License-Identifier: Apache-2.0
/// State of an adapter's link. Any thread may change it; every wire reads it.
/// It is the number of changes so far: even is up. A MAD in flight compares it at both ends of its way, so that a break
/// loses what is on the link even if the link is mended before the MAD is due.
#pragma once
#include <atomic>
#include <cstdint>

namespace tidemill::fabric {

class Link {
 public:
  static bool is_up(uint32_t state) { return (state & (kRemoved | 1u)) == 0; }
  static bool is_removed(uint32_t state) { return (state & kRemoved) != 0; }
  /// How often it has gone down.
  static uint32_t breaks(uint32_t state) { return ((state & ~kRemoved) + 1) / 2; }

  uint32_t state() const { return state_.load(std::memory_order_acquire); }

  void set(bool up) {
    uint32_t seen = state();
    while (!is_removed(seen) && is_up(seen) != up && !state_.compare_exchange_weak(seen, (seen + 1) & ~kRemoved)) {
    }
  }
  void remove() { state_.fetch_or(kRemoved); }

 private:
  static constexpr uint32_t kRemoved = 0x80000000;
  std::atomic<uint32_t> state_{0};
};

}  // namespace tidemill::fabric
