// SPDX-License-Identifier: Apache-2.0
/// What the host keeps for each slot: whose send it is, and the MAD with its address, from which the wire sends without
/// a copy. Written by the poster before the doorbell, read by the progress thread until the completion.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/slot_pool.hpp"
#include "tidemill/address.hpp"
#include "tidemill/mad.hpp"
#include "tidemill/send.hpp"

namespace tidemill::detail {

class AgentState;
class Waiter;

struct alignas(64) SendRecord {
  std::atomic<AgentState*> agent{nullptr};
  Waiter* waiter = nullptr;
  uint64_t context = 0;
  int64_t timeout_ns = 0;  ///< Of one try, as asked for.
  int64_t posted_ns = 0;
  uint32_t position = 0;  ///< Of its descriptor in the lane.
  uint16_t length = 0;
  uint8_t lane = 0;        ///< Index among its agent's lanes.
  bool holds_tid = false;  ///< It can match, and so can no other with its TID.
  uint32_t tid_place = 0;  ///< Where its TID is counted.
  uint32_t on_wire = 0;    ///< The state its try left with, until the wire has reported it. Progress only.
  /// Generation and flags: what a SendId is held against.
  std::atomic<uint32_t> state{0};

  static constexpr uint32_t kLive = 0x10000;       ///< Accepted, not completed.
  static constexpr uint32_t kCancelled = 0x20000;  ///< cancel() has returned, or is about to.
  static constexpr uint32_t kAnswered = 0x40000;   ///< Its receive callback has begun.
  static constexpr uint32_t kWasFlushed = 0x80000;  ///< So the send before it ended, of one generation less.
  static constexpr uint16_t generation_of(uint32_t state) { return static_cast<uint16_t>(state); }

  bool names(uint16_t generation) const {
    return (state.load(std::memory_order_acquire) & (kLive | 0xffffu)) == (kLive | generation);
  }
  // Cancel, response and completion meet here: whoever is first decides. After cancel() has returned true no receive
  // callback starts and the completion tells flushed; false: it came too late and changed nothing.
  bool begin_answer() { return (state.fetch_or(kAnswered, std::memory_order_acq_rel) & kCancelled) == 0; }
  bool cancel(uint16_t generation) {
    uint32_t seen = state.load(std::memory_order_acquire);
    while ((seen & (kLive | 0xffffu)) == (kLive | generation) && (seen & kAnswered) == 0) {
      if (state.compare_exchange_weak(seen, seen | kCancelled, std::memory_order_acq_rel)) return true;
    }
    // The device may have been quicker with the cancel's own command: that is as good.
    return (seen & kWasFlushed) != 0 && generation_of(seen) == static_cast<uint16_t>(generation + 1u);
  }
  void begin(uint16_t generation) {
    const uint32_t before = state.load(std::memory_order_relaxed) & kWasFlushed;
    state.store(before | kLive | generation, std::memory_order_release);
  }
  /// Ends the use of the slot; true if it was cancelled before.
  bool end(uint16_t generation, bool flushed) {
    const uint32_t next = static_cast<uint16_t>(generation + 1u) | (flushed ? kWasFlushed : 0u);
    return (state.exchange(next, std::memory_order_acq_rel) & kCancelled) != 0;
  }
};

struct SlotMemory {
  alignas(64) std::array<std::byte, kMadBytes> mad;
  Address to;
};

class SlotTable {
 public:
  SlotTable(uint32_t slots, uint32_t banks)
      : slots_(slots),
        bank_mask_(banks - 1),
        tid_mask_(std::bit_ceil(2 * slots) - 1),
        tids_(std::make_unique<std::atomic<uint32_t>[]>(tid_mask_ + 1u)),
        records_(std::make_unique<SendRecord[]>(slots)),
        memory_(new SlotMemory[slots]) {
    for (uint32_t bank = 0; bank < banks; ++bank) pools_.push_back(std::make_unique<SlotPool>(slots));
    for (uint32_t slot = slots; slot-- > 0;) give_back(slot);
  }

  SendRecord& record(uint32_t slot) { return records_[slot]; }
  SlotMemory& memory(uint32_t slot) { return memory_[slot]; }
  /// Where all MADs lie, for a wire that registers memory.
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(memory_.get(), slots_)); }
  uint32_t banks() const { return bank_mask_ + 1; }

  /// A free slot of a bank, or SlotPool::kNone.
  uint32_t take(uint32_t bank) { return pools_[bank]->pop(); }
  bool has(uint32_t bank) const { return !pools_[bank]->empty(); }
  void give_back(uint32_t slot) { pools_[slot & bank_mask_]->push(slot); }

  /// May a live send have this TID? With twice as many places as slots, half of all TIDs are free at any time.
  bool tid_taken(uint64_t tid) const { return tids_[place_of(tid)].load(std::memory_order_relaxed) != 0; }
  void hold_tid(SendRecord& record, uint64_t tid) {
    record.tid_place = place_of(tid);
    record.holds_tid = true;
    tids_[record.tid_place].fetch_add(1, std::memory_order_relaxed);
  }
  void release_tid(SendRecord& record) {
    if (record.holds_tid) tids_[record.tid_place].fetch_sub(1, std::memory_order_relaxed);
    record.holds_tid = false;
  }

 private:
  /// TIDs that follow each other stand side by side, agents apart from each other.
  uint32_t place_of(uint64_t tid) const {
    return (static_cast<uint32_t>(tid) + static_cast<uint32_t>(tid >> 32) * 0x9e3779b1u) & tid_mask_;
  }

  uint32_t slots_;
  uint32_t bank_mask_;
  uint32_t tid_mask_;
  std::unique_ptr<std::atomic<uint32_t>[]> tids_;  ///< Live sends that expect a response, by the place of their TID.
  std::unique_ptr<SendRecord[]> records_;
  std::unique_ptr<SlotMemory[]> memory_;  // left untouched until used: most slots never are
  std::vector<std::unique_ptr<SlotPool>> pools_;
};

}  // namespace tidemill::detail
