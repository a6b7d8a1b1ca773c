// SPDX-License-Identifier: Apache-2.0
/// Rings between host and card, in memory that both see. Entries are the words of an abi layout.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <memory>

#include "device/card.hpp"
#include "tidemill/abi.hpp"

namespace tidemill::device {

/// Registers of a ring.
inline uint32_t ring_register(uint32_t first, abi::Ring ring) {
  return first + 0x20u * static_cast<uint32_t>(ring);
}

inline void start_ring(Card& card, abi::Ring ring, uint64_t address, unsigned bits) {
  card.write(ring_register(abi::reg::ring_base_low, ring), static_cast<uint32_t>(address));
  card.write(ring_register(abi::reg::ring_base_high, ring), static_cast<uint32_t>(address >> 32));
  card.write(ring_register(abi::reg::ring_bits, ring), bits);
}

/// Host to card. What finds no room waits here, in order; nothing is lost.
template <class Entry>
class OutgoingRing {
 public:
  OutgoingRing(Card& card, abi::Ring ring, unsigned bits, const std::atomic<uint32_t>& consumed)
      : card_(card),
        ring_(ring),
        mask_((1u << bits) - 1u),
        consumed_(consumed),
        memory_(card.memory(sizeof(Entry) << bits)) {
    start_ring(card, ring, memory_->address(), bits);
  }

  void put(const Entry& e) { waiting_.push_back(e); }
  /// Puts what waits into the ring, as far as there is room, and tells the card.
  void flush() {
    const uint32_t before = producer_;
    auto* const entries = reinterpret_cast<Entry*>(memory_->host());
    while (!waiting_.empty() && producer_ - consumed_.load(std::memory_order_acquire) <= mask_) {
      entries[producer_++ & mask_] = waiting_.front();
      waiting_.pop_front();
    }
    if (producer_ == before) return;
    ring_to_card(*memory_, before, producer_, mask_ + 1, sizeof(Entry));
    std::atomic_thread_fence(std::memory_order_release);
    card_.write(ring_register(abi::reg::ring_producer, ring_), producer_);
  }
  bool waiting() const { return !waiting_.empty(); }

 private:
  Card& card_;
  abi::Ring ring_;
  uint32_t mask_;
  const std::atomic<uint32_t>& consumed_;
  std::unique_ptr<CardMemory> memory_;
  std::deque<Entry> waiting_;
  uint32_t producer_ = 0;
};

/// Card to host. An entry is new when its lap bit, in the word `owner_word`, is that of the lap.
template <class Entry, unsigned owner_word>
class IncomingRing {
 public:
  IncomingRing(Card& card, abi::Ring ring, unsigned bits) : bits_(bits), memory_(card.memory(sizeof(Entry) << bits)) {
    start_ring(card, ring, memory_->address(), bits);
  }

  /// The next entry, if there is one.
  bool take(Entry& e) {
    constexpr unsigned kWords = sizeof(Entry) / 8;
    if (next_ == fetched_) fetch();
    auto* const words =
        reinterpret_cast<uint64_t*>(memory_->host()) + std::size_t{next_ & ((1u << bits_) - 1u)} * kWords;
    uint64_t copy[kWords];
    copy[owner_word] = std::atomic_ref(words[owner_word]).load(std::memory_order_acquire);
    for (unsigned w = 0; w < kWords; ++w)
      if (w != owner_word) copy[w] = std::atomic_ref(words[w]).load(std::memory_order_relaxed);
    Entry read;
    std::memcpy(&read, copy, sizeof read);
    if (read.owner() != ((next_ >> bits_ & 1u) == 0)) {
      fetched_ = next_;
      return false;
    }
    e = read;
    ++next_;
    return true;
  }

 private:
  /// Of memory that is not the host's own, what comes next, up to the end of the ring.
  void fetch() {
    constexpr uint32_t kAhead = 64;
    const uint32_t at = next_ & ((1u << bits_) - 1u), count = std::min(kAhead, (1u << bits_) - at);
    memory_->from_card(at * sizeof(Entry), count * sizeof(Entry));
    fetched_ = next_ + count;
  }

  unsigned bits_;
  std::unique_ptr<CardMemory> memory_;
  uint32_t next_ = 0;
  uint32_t fetched_ = 0;  ///< Up to here entries were fetched since one was found to be old.
};

}  // namespace tidemill::device
