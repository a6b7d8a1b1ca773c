// SPDX-License-Identifier: Apache-2.0
/// Free slots of one bank: a lock-free stack of slot numbers, any thread. The head carries a count of its changes, so
/// that a slot taken and given back meanwhile is noticed. Last in, first out: a warm slot is used again first.
/// Source: R. K. Treiber, "Systems Programming: Coping with Parallelism" (1986).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace tidemill::detail {

class SlotPool {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  explicit SlotPool(uint32_t slots) : next_(std::make_unique<std::atomic<uint32_t>[]>(slots)) {}

  uint32_t pop() {
    uint64_t head = head_.load(std::memory_order_acquire);
    while (slot_of(head) != kNone) {
      const uint32_t next = next_[slot_of(head)].load(std::memory_order_relaxed);
      if (head_.compare_exchange_weak(head, pack(next, head), std::memory_order_acquire)) return slot_of(head);
    }
    return kNone;
  }

  void push(uint32_t slot) {
    uint64_t head = head_.load(std::memory_order_relaxed);
    do {
      next_[slot].store(slot_of(head), std::memory_order_relaxed);
    } while (!head_.compare_exchange_weak(head, pack(slot, head), std::memory_order_release));
  }

  bool empty() const { return slot_of(head_.load(std::memory_order_acquire)) == kNone; }

 private:
  static uint32_t slot_of(uint64_t head) { return static_cast<uint32_t>(head); }
  static uint64_t pack(uint32_t slot, uint64_t old) { return ((old >> 32) + 1) << 32 | slot; }

  std::unique_ptr<std::atomic<uint32_t>[]> next_;
  alignas(64) std::atomic<uint64_t> head_{kNone};
};

}  // namespace tidemill::detail
