// SPDX-License-Identifier: Apache-2.0
/// The time a device, its wire and its timeouts run by.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tidemill {

using Nanoseconds = std::chrono::nanoseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Since some fixed start. Any thread.
  virtual Nanoseconds now() const = 0;
  /// A clock that stands still until someone moves it.
  virtual bool is_virtual() const { return false; }
  /// Only a virtual clock moves; time never goes back. Any thread.
  virtual void advance_to(Nanoseconds) {}
};

/// std::chrono::steady_clock.
class SteadyClock : public Clock {
 public:
  Nanoseconds now() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
};

/// Moved by the port when nothing is left to do at the present moment: a run is as fast as its work and repeats
/// exactly.
class VirtualClock : public Clock {
 public:
  Nanoseconds now() const override { return Nanoseconds(now_.load(std::memory_order_acquire)); }
  bool is_virtual() const override { return true; }
  void advance_to(Nanoseconds t) override {
    int64_t seen = now_.load(std::memory_order_relaxed);
    while (seen < t.count() && !now_.compare_exchange_weak(seen, t.count(), std::memory_order_acq_rel)) {
    }
  }

 private:
  std::atomic<int64_t> now_{0};
};

}  // namespace tidemill
