// SPDX-License-Identifier: Apache-2.0
/// Counters one thread adds to and any thread reads.
#pragma once
#include <atomic>
#include <cstdint>

#include "tidemill/fabric.hpp"

namespace tidemill::fabric {

class Tally {
 public:
  void add(uint64_t n = 1) { count_.store(count_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  uint64_t value() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0};
};

/// What one wire's thread counts of FabricCounters.
struct PortTally {
  Tally sent, delivered, lost, duplicated, reordered, corrupted, stale, forged, errors, flushed, unroutable, overrun;

  void add_to(FabricCounters& sum) const {
    sum.sent += sent.value();
    sum.delivered += delivered.value();
    sum.lost += lost.value();
    sum.duplicated += duplicated.value();
    sum.reordered += reordered.value();
    sum.corrupted += corrupted.value();
    sum.stale += stale.value();
    sum.forged += forged.value();
    sum.errors += errors.value();
    sum.flushed += flushed.value();
    sum.unroutable += unroutable.value();
    sum.overrun += overrun.value();
  }
};

/// MADs that crossed an adapter's port, out of it and into it.
struct Traffic {
  uint64_t out = 0, in = 0;
};

}  // namespace tidemill::fabric
