// SPDX-License-Identifier: Apache-2.0
/// State of a bank as an object: for host builds, where a process holds many devices and a test copies states.
/// A slot's record fills one cache line; links and due time of the wheel share a row. kernel_memory.hpp has the same
/// interface over separate static arrays, one RAM each, for HLS tools. Zeroed memory is a bank after reset.
#pragma once
#include <array>
#include <type_traits>

#include "config.hpp"
#include "tid_matcher.hpp"

namespace tidemill::hls {

template <class Config_>
struct BankMemory {
  using Config = Config_;
  static constexpr bool kBranches = true;  ///< What is not wanted is jumped over.
  using Link = std::conditional_t<(Config::kLinkRows > 0x10000u), uint32_t, uint16_t>;

  // Tracker.
  uint64_t flags(uint32_t s) const { return slots_[s].flags; }
  void flags(uint32_t s, uint64_t v) { slots_[s].flags = v; }
  uint64_t owner(uint32_t s) const { return slots_[s].owner; }
  void owner(uint32_t s, uint64_t v) { slots_[s].owner = v; }
  uint64_t tid(uint32_t s) const { return slots_[s].tid; }
  void tid(uint32_t s, uint64_t v) { slots_[s].tid = v; }
  uint64_t pace(uint32_t s) const { return slots_[s].pace; }
  void pace(uint32_t s, uint64_t v) { slots_[s].pace = v; }
  uint64_t limits(uint32_t s) const { return slots_[s].limits; }
  void limits(uint32_t s, uint64_t v) { slots_[s].limits = v; }
  uint64_t place(uint32_t s) const { return slots_[s].place; }
  void place(uint32_t s, uint64_t v) { slots_[s].place = v; }

  // TID matcher: tables 0 and 1; table 2 is the stash, of one row.
  using Row = BucketView;
  Row row(uint32_t table, uint32_t number) const { return {&bucket(table, number)}; }
  const Bucket& bucket(uint32_t table, uint32_t row) const { return buckets_[table * Config::kBuckets + row]; }
  void entry(uint32_t table, uint32_t row, uint32_t way, uint32_t v) { buckets_[table * Config::kBuckets + row].entry(way, v); }

  // Timeout wheel.
  uint32_t next(uint32_t row) const { return links_[row].next; }
  void next(uint32_t row, uint32_t v) { links_[row].next = static_cast<Link>(v); }
  uint32_t prev(uint32_t row) const { return links_[row].prev; }
  void prev(uint32_t row, uint32_t v) { links_[row].prev = static_cast<Link>(v); }
  uint32_t due(uint32_t s) const { return slots_[s].due; }
  void due(uint32_t s, uint32_t v) { slots_[s].due = v; }
  uint64_t busy(uint32_t word) const { return busy_[word]; }
  void busy(uint32_t word, uint64_t v) { busy_[word] = v; }
  uint32_t spread_count(uint32_t level) const { return spread_count_[level]; }
  void spread_count(uint32_t level, uint32_t v) { spread_count_[level] = v; }
  uint32_t wheel_now() const { return wheel_now_; }
  void wheel_now(uint32_t v) { wheel_now_ = v; }
  uint32_t wake() const { return wake_; }
  void wake(uint32_t v) { wake_ = v; }

  // Retry queues.
  uint32_t retry_next(unsigned qp, uint32_t s) const { return slots_[s].retry_next[qp]; }
  void retry_next(unsigned qp, uint32_t s, uint32_t v) { slots_[s].retry_next[qp] = static_cast<Link>(v); }
  uint32_t retry_head(uint32_t qp) const { return retry_[qp].head; }
  void retry_head(uint32_t qp, uint32_t v) { retry_[qp].head = v; }
  uint32_t retry_tail(uint32_t qp) const { return retry_[qp].tail; }
  void retry_tail(uint32_t qp, uint32_t v) { retry_[qp].tail = v; }
  uint32_t retry_count(uint32_t qp) const { return retry_[qp].count; }
  void retry_count(uint32_t qp, uint32_t v) { retry_[qp].count = v; }

  // Host only: what an event will touch comes near while others are served.
  [[gnu::always_inline]] void expect_slot(uint32_t s) const {
    const uint32_t slot = s & (Config::kSlots - 1u);  // a descriptor may name any
    __builtin_prefetch(&slots_[slot]);
    __builtin_prefetch(&links_[slot]);
  }
  [[gnu::always_inline]] void expect_bucket(uint32_t table, uint32_t row) const { __builtin_prefetch(&bucket(table, row)); }

 private:
  struct alignas(64) Slot {
    uint64_t flags, owner, tid, pace, limits, place;
    uint32_t due;
    Link retry_next[2];
  };
  struct LinkRow {
    Link next, prev;
  };
  struct Queue {
    uint32_t head, tail, count;
  };
  static constexpr uint32_t kWords = Config::kLists >> Config::kSpreadBits;

  std::array<Slot, Config::kSlots> slots_{};
  std::array<Bucket, 2 * Config::kBuckets + 1> buckets_{};
  std::array<LinkRow, Config::kLinkRows> links_{};
  std::array<uint64_t, kWords> busy_{};
  std::array<uint32_t, Config::kLevels> spread_count_{};
  std::array<Queue, 2> retry_{};
  uint32_t wheel_now_ = 0;
  uint32_t wake_ = 0;
};

}  // namespace tidemill::hls
