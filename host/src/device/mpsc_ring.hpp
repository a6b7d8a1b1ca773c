// SPDX-License-Identifier: Apache-2.0
/// Bounded ring of many producers and one consumer without a lock: each entry carries the number of the lap in which it
/// may be written or read next. Source: D. Vyukov, bounded MPMC queue (2010).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace tidemill::device {

template <class T>
class MpscRing {
 public:
  /// `entries` is a power of two.
  explicit MpscRing(uint64_t entries) : mask_(entries - 1), entries_(std::make_unique<Entry[]>(entries)) {
    for (uint64_t i = 0; i < entries; ++i) entries_[i].turn.store(i, std::memory_order_relaxed);
  }

  /// False if the ring is full.
  bool push(const T& value) {
    uint64_t at = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Entry& entry = entries_[at & mask_];
      const int64_t lead = static_cast<int64_t>(entry.turn.load(std::memory_order_acquire) - at);
      if (lead < 0) return false;
      if (lead == 0 && tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
        entry.value = value;
        entry.turn.store(at + 1, std::memory_order_release);
        return true;
      }
      if (lead > 0) at = tail_.load(std::memory_order_relaxed);
    }
  }

  bool pop(T& value) {
    Entry& entry = entries_[head_ & mask_];
    if (entry.turn.load(std::memory_order_acquire) != head_ + 1) return false;
    value = entry.value;
    entry.turn.store(head_ + mask_ + 1, std::memory_order_release);
    ++head_;
    return true;
  }

  bool empty() const { return entries_[head_ & mask_].turn.load(std::memory_order_acquire) != head_ + 1; }

 private:
  struct Entry {
    std::atomic<uint64_t> turn;
    T value;
  };
  uint64_t mask_;
  std::unique_ptr<Entry[]> entries_;
  alignas(64) std::atomic<uint64_t> tail_{0};
  alignas(64) uint64_t head_ = 0;
};

}  // namespace tidemill::device
