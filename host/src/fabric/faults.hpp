// SPDX-License-Identifier: Apache-2.0
/// What the links do to MADs: set by any thread, copied by each wire when it has changed.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include "fabric/dice.hpp"
#include "tidemill/fabric.hpp"

namespace tidemill::fabric {

/// FabricFaults, ready to be rolled for.
struct Faults {
  Faults() = default;
  explicit Faults(const FabricFaults& asked)
      : loss(asked.loss), duplication(asked.duplication), reordering(asked.reordering), corruption(asked.corruption),
        stale(asked.stale), forged(asked.forged), send_error(asked.send_error), flush(asked.flush),
        delay(asked.delay.count() > 0 ? asked.delay.count() : 0),
        jitter(asked.delay_jitter.count() > 0 ? asked.delay_jitter.count() : 0) {
    on_links = loss.possible() || duplication.possible() || reordering.possible() || corruption.possible() ||
               stale.possible();
    timeless = delay == 0 && jitter == 0 && !reordering.possible();
    none = timeless && !on_links && !forged.possible() && !send_error.possible() && !flush.possible();
  }

  Rate loss, duplication, reordering, corruption, stale, forged, send_error, flush;
  int64_t delay = 0, jitter = 0;
  bool on_links = false;  ///< A MAD may fare ill.
  bool timeless = true;   ///< MADs arrive at once: nobody need look at the clock.
  bool none = true;       ///< And nothing else happens to them.
};

class FaultBoard {
 public:
  explicit FaultBoard(const FabricFaults& faults) : asked_(faults) {}

  void set(const FabricFaults& faults) {
    const std::lock_guard lock(mutex_);
    asked_ = faults;
    version_.fetch_add(1, std::memory_order_release);
  }
  uint32_t version() const { return version_.load(std::memory_order_acquire); }
  Faults get() const {
    const std::lock_guard lock(mutex_);
    return Faults(asked_);
  }

 private:
  mutable std::mutex mutex_;  ///< Protects asked_.
  FabricFaults asked_;
  std::atomic<uint32_t> version_{1};
};

}  // namespace tidemill::fabric
