// SPDX-License-Identifier: Apache-2.0
/// Doorbells of many lanes without a lock: a producer index for each lane and two levels of bits that say where to look.
/// Wake-ups carry no count: ringing twice before a visit causes one visit, which sees both. A ring is never lost: the
/// producer index is stored before the bits are looked at or set, the visitor clears a bit before it reads the index,
/// and all of it is sequentially consistent: whoever finds a bit set knows that the visit is still to come.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

namespace tidemill::device {

class Doorbells {
 public:
  explicit Doorbells(uint32_t lanes)
      : words_((lanes + 63) / 64),
        producers_(std::make_unique<std::atomic<uint32_t>[]>(lanes)),
        bits_(std::make_unique<std::atomic<uint64_t>[]>(words_)),
        summary_(std::make_unique<std::atomic<uint64_t>[]>((words_ + 63) / 64)) {}

  /// Any thread; one thread at a time for each lane.
  void ring(uint32_t lane, uint32_t producer) {
    producers_[lane].store(producer, std::memory_order_seq_cst);
    const uint32_t word = lane / 64;
    const uint64_t bit = uint64_t{1} << (lane % 64), sum = uint64_t{1} << (word % 64);
    if ((bits_[word].load(std::memory_order_seq_cst) & bit) == 0) bits_[word].fetch_or(bit, std::memory_order_seq_cst);
    if ((summary_[word / 64].load(std::memory_order_seq_cst) & sum) == 0)
      summary_[word / 64].fetch_or(sum, std::memory_order_seq_cst);
  }

  bool any() const {
    for (uint32_t s = 0; s < (words_ + 63) / 64; ++s)
      if (summary_[s].load(std::memory_order_seq_cst) != 0) return true;
    return false;
  }

  /// Calls visit(lane, producer) for each lane that rang. One thread.
  template <class Visit>
  void collect(Visit&& visit) {
    for (uint32_t s = 0; s < (words_ + 63) / 64; ++s) {
      if (summary_[s].load(std::memory_order_relaxed) == 0) continue;
      for (uint64_t sum = summary_[s].exchange(0, std::memory_order_seq_cst); sum != 0; sum &= sum - 1) {
        const uint32_t word = s * 64 + static_cast<uint32_t>(std::countr_zero(sum));
        for (uint64_t bits = bits_[word].exchange(0, std::memory_order_seq_cst); bits != 0; bits &= bits - 1) {
          const uint32_t lane = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
          visit(lane, producers_[lane].load(std::memory_order_seq_cst));
        }
      }
    }
  }

 private:
  uint32_t words_;
  std::unique_ptr<std::atomic<uint32_t>[]> producers_;
  std::unique_ptr<std::atomic<uint64_t>[]> bits_;
  std::unique_ptr<std::atomic<uint64_t>[]> summary_;
};

}  // namespace tidemill::device
