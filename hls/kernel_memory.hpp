// SPDX-License-Identifier: Apache-2.0
/// State of a bank and of the send arbiter as separate static arrays, one RAM each, for HLS tools. Same interface as
/// bank_memory.hpp and arbiter_memory.hpp; there is one state of each configuration in a program.
///
/// What is read at several places in one step is no array but registers behind a selection: a RAM has two ports.
/// Such registers are written unconditionally, the unselected ones with what they held. Zero is the state after reset.
///
/// To an HLS tool a static scalar is a small memory, and each access waits for the one before. The arbiter's registers are
/// therefore read once when its memory is made, for one step, and written once by keep(). For the bank, whose steps end in
/// many places, that costs more than it saves.
#pragma once
#include <stdint.h>

#include "bucket.hpp"
#include "config.hpp"
#include "tidemill/abi.hpp"

namespace tidemill::hls {

/// An event of this kind, which no bank and no arbiter has, clears a kernel that is linked into a card: resets do not
/// clear RAMs. Sent by rtl/alveo/tidemill_kernel_link.sv, as an event of all ones.
constexpr uint32_t kClearKind = 15;
static_assert(kClearKind >= abi::kEventKindCount && kClearKind >= abi::kArbiterKindCount);

/// 16 bits where they suffice for a row number.
template <bool Wide>
struct LinkOf {
  using Type = uint16_t;
};
template <>
struct LinkOf<true> {
  using Type = uint32_t;
};

template <class Config_>
struct KernelBankMemory {
  using Config = Config_;
  static constexpr bool kBranches = false;  ///< What is not wanted is written to where it does no harm.
  static constexpr uint32_t kSpareRow = Config::kLinkRows;

  // Tracker.
  [[gnu::always_inline]] static uint64_t flags(uint32_t s) { return flags_[s]; }
  [[gnu::always_inline]] static void flags(uint32_t s, uint64_t v) { flags_[s] = v; }
  [[gnu::always_inline]] static uint64_t owner(uint32_t s) { return owner_[s]; }
  [[gnu::always_inline]] static void owner(uint32_t s, uint64_t v) { owner_[s] = v; }
  [[gnu::always_inline]] static uint64_t tid(uint32_t s) { return tid_[s]; }
  [[gnu::always_inline]] static void tid(uint32_t s, uint64_t v) { tid_[s] = v; }
  [[gnu::always_inline]] static uint64_t pace(uint32_t s) { return pace_[s]; }
  [[gnu::always_inline]] static void pace(uint32_t s, uint64_t v) { pace_[s] = v; }
  [[gnu::always_inline]] static uint64_t limits(uint32_t s) { return limits_[s]; }
  [[gnu::always_inline]] static void limits(uint32_t s, uint64_t v) { limits_[s] = v; }
  [[gnu::always_inline]] static uint64_t place(uint32_t s) { return place_[s]; }
  [[gnu::always_inline]] static void place(uint32_t s, uint64_t v) { place_[s] = v; }

  // TID matcher: tables 0 and 1; table 2 is the stash, of one row. Every row number fits both tables.
  using Row = Bucket;
  [[gnu::always_inline]] static Row row(uint32_t table, uint32_t number) { return bucket(table, number); }
  [[gnu::always_inline]] static Bucket bucket(uint32_t table, uint32_t row) {
    Bucket b;
    b.low = table == 0 ? low0_[row] : table == 1 ? low1_[row] : stash_low_;
    b.high = table == 0 ? high0_[row] : table == 1 ? high1_[row] : stash_high_;
    return b;
  }
  [[gnu::always_inline]] static void bucket(uint32_t table, uint32_t row, const Bucket& b) {
    low0_[row] = table == 0 ? b.low : low0_[row];
    high0_[row] = table == 0 ? b.high : high0_[row];
    low1_[row] = table == 1 ? b.low : low1_[row];
    high1_[row] = table == 1 ? b.high : high1_[row];
    stash_low_ = table == 2 ? b.low : stash_low_;
    stash_high_ = table == 2 ? b.high : stash_high_;
  }

  // Timeout wheel.
  [[gnu::always_inline]] static uint32_t next(uint32_t row) { return next_[row]; }
  [[gnu::always_inline]] static void next(uint32_t row, uint32_t v) { next_[row] = static_cast<Link>(v); }
  [[gnu::always_inline]] static uint32_t prev(uint32_t row) { return prev_[row]; }
  [[gnu::always_inline]] static void prev(uint32_t row, uint32_t v) { prev_[row] = static_cast<Link>(v); }
  [[gnu::always_inline]] static uint32_t due(uint32_t s) { return due_[s]; }
  [[gnu::always_inline]] static void due(uint32_t s, uint32_t v) { due_[s] = v; }
  [[gnu::always_inline]] static uint64_t busy(uint32_t word) { return busy_[word]; }
  [[gnu::always_inline]] static void busy(uint32_t word, uint64_t v) { busy_[word] = v; }
  [[gnu::always_inline]] static uint32_t spread_count(uint32_t level) {
    return level == 1 ? spread1_ : level == 2 ? spread2_ : spread3_;
  }
  [[gnu::always_inline]] static void spread_count(uint32_t level, uint32_t v) {
    spread1_ = level == 1 ? v : spread1_;
    spread2_ = level == 2 ? v : spread2_;
    spread3_ = level == 3 ? v : spread3_;
  }
  [[gnu::always_inline]] static uint32_t wheel_now() { return wheel_now_; }
  [[gnu::always_inline]] static void wheel_now(uint32_t v) { wheel_now_ = v; }
  [[gnu::always_inline]] static uint32_t wake() { return wake_; }
  [[gnu::always_inline]] static void wake(uint32_t v) { wake_ = v; }

  // Retry queues.
  [[gnu::always_inline]] static uint32_t retry_next(unsigned qp, uint32_t s) { return retry_next_[retry_row(qp, s)]; }
  [[gnu::always_inline]] static void retry_next(unsigned qp, uint32_t s, uint32_t v) {
    retry_next_[retry_row(qp, s)] = static_cast<uint16_t>(v);
  }
  [[gnu::always_inline]] static uint32_t retry_head(uint32_t qp) { return qp == 0 ? head0_ : head1_; }
  [[gnu::always_inline]] static void retry_head(uint32_t qp, uint32_t v) { put(qp, head0_, head1_, v); }
  [[gnu::always_inline]] static uint32_t retry_tail(uint32_t qp) { return qp == 0 ? tail0_ : tail1_; }
  [[gnu::always_inline]] static void retry_tail(uint32_t qp, uint32_t v) { put(qp, tail0_, tail1_, v); }
  [[gnu::always_inline]] static uint32_t retry_count(uint32_t qp) { return qp == 0 ? count0_ : count1_; }
  [[gnu::always_inline]] static void retry_count(uint32_t qp, uint32_t v) { put(qp, count0_, count1_, v); }

  /// Back to the state after power-up. One loop, so that the RAMs are cleared beside each other.
  static void clear() {
    for (uint32_t i = 0; i < kLargest; ++i) {
      if (i < Config::kSlots) {
        flags_[i] = 0;
        owner_[i] = 0;
        tid_[i] = 0;
        pace_[i] = 0;
        limits_[i] = 0;
        place_[i] = 0;
        due_[i] = 0;
      }
      if (i < Config::kBuckets) {
        low0_[i] = 0;
        high0_[i] = 0;
        low1_[i] = 0;
        high1_[i] = 0;
      }
      if (i <= Config::kLinkRows) {
        next_[i] = 0;
        prev_[i] = 0;
      }
      if (i < kWords) busy_[i] = 0;
      if (i < 2u * Config::kSlots) retry_next_[i] = 0;
    }
    stash_low_ = 0;
    stash_high_ = 0;
    spread1_ = 0;
    spread2_ = 0;
    spread3_ = 0;
    wheel_now_ = 0;
    wake_ = 0;
    head0_ = 0;
    head1_ = 0;
    tail0_ = 0;
    tail1_ = 0;
    count0_ = 0;
    count1_ = 0;
  }

 private:
  static_assert(Config::kLevels <= 4, "a register for each level above 0");
  using Link = typename LinkOf<(Config::kLinkRows >= 0x10000u)>::Type;
  static constexpr uint32_t kWords = Config::kLists >> Config::kSpreadBits;
  static constexpr uint32_t kLargest =
      Config::kLinkRows + 1u > 2u * Config::kSlots ? Config::kLinkRows + 1u : 2u * Config::kSlots;

  [[gnu::always_inline]] static uint32_t retry_row(unsigned qp, uint32_t s) { return qp << Config::kSlotBits | s; }
  [[gnu::always_inline]] static void put(uint32_t qp, uint32_t& of0, uint32_t& of1, uint32_t v) {
    of0 = qp == 0 ? v : of0;
    of1 = qp == 0 ? of1 : v;
  }

  inline static uint64_t flags_[Config::kSlots];
  inline static uint64_t owner_[Config::kSlots];
  inline static uint64_t tid_[Config::kSlots];
  inline static uint64_t pace_[Config::kSlots];
  inline static uint64_t limits_[Config::kSlots];
  inline static uint64_t place_[Config::kSlots];
  inline static uint64_t low0_[Config::kBuckets];
  inline static uint64_t high0_[Config::kBuckets];
  inline static uint64_t low1_[Config::kBuckets];
  inline static uint64_t high1_[Config::kBuckets];
  inline static uint64_t stash_low_;
  inline static uint64_t stash_high_;
  inline static Link next_[Config::kLinkRows + 1u];
  inline static Link prev_[Config::kLinkRows + 1u];
  inline static uint32_t due_[Config::kSlots];
  inline static uint64_t busy_[kWords];
  inline static uint32_t spread1_, spread2_, spread3_;
  inline static uint32_t wheel_now_;
  inline static uint32_t wake_;
  inline static uint16_t retry_next_[2u * Config::kSlots];
  inline static uint32_t head0_, head1_, tail0_, tail1_, count0_, count1_;
};

template <class Config_>
struct KernelArbiterMemory {
  using Config = Config_;
  static constexpr bool kBranches = false;  ///< What is not wanted is written to where it does no harm.
  static constexpr uint32_t kSpareRow = Config::kLinkRows;

  [[gnu::always_inline]] static uint64_t lane_low(uint32_t lane) { return lane_low_[lane]; }
  [[gnu::always_inline]] static void lane_low(uint32_t lane, uint64_t v) { lane_low_[lane] = v; }
  [[gnu::always_inline]] static uint64_t lane_high(uint32_t lane) { return lane_high_[lane]; }
  [[gnu::always_inline]] static void lane_high(uint32_t lane, uint64_t v) { lane_high_[lane] = v; }
  [[gnu::always_inline]] uint32_t next(uint32_t row) const { return next_[row]; }
  [[gnu::always_inline]] void next(uint32_t row, uint32_t v) {
    const uint32_t list = row - Config::kLanes, bit = row < Config::kLanes ? 0u : (1u << (list & 15u)) & kLists;
    next_[row] = static_cast<uint16_t>(v);
    listed_ = v != 0 ? listed_ | bit : listed_ & ~bit;
  }
  [[gnu::always_inline]] static uint32_t prev(uint32_t row) { return prev_[row]; }
  [[gnu::always_inline]] static void prev(uint32_t row, uint32_t v) { prev_[row] = static_cast<uint16_t>(v); }
  [[gnu::always_inline]] uint32_t listed() const { return listed_; }
  [[gnu::always_inline]] uint32_t wire_credit(uint32_t qp) const { return qp == 0 ? credit0_ : credit1_; }
  [[gnu::always_inline]] void wire_credit(uint32_t qp, uint32_t v) {
    credit0_ = qp == 0 ? v : credit0_;
    credit1_ = qp == 0 ? credit1_ : v;
  }
  [[gnu::always_inline]] uint32_t turn(uint32_t service_class) const { return (turns_ >> service_class) & 1u; }
  [[gnu::always_inline]] void turn(uint32_t service_class, uint32_t qp) {
    turns_ = (turns_ & ~(1u << service_class)) | (qp << service_class);
  }
  [[gnu::always_inline]] bool drained_last() const { return drained_last_ != 0; }
  [[gnu::always_inline]] void drained_last(bool v) { drained_last_ = v ? 1u : 0u; }

  /// Ends a step: what it made of the registers is kept.
  [[gnu::always_inline]] void keep() const {
    kept_listed = listed_;
    kept_credit0 = credit0_;
    kept_credit1 = credit1_;
    kept_turns = turns_;
    kept_drained_last = drained_last_;
  }

  /// Back to the state after power-up.
  static void clear() {
    for (uint32_t i = 0; i <= Config::kLinkRows; ++i) {
      if (i < Config::kLanes) {
        lane_low_[i] = 0;
        lane_high_[i] = 0;
      }
      next_[i] = 0;
      prev_[i] = 0;
    }
    kept_listed = 0;
    kept_credit0 = 0;
    kept_credit1 = 0;
    kept_turns = 0;
    kept_drained_last = 0;
  }

 private:
  inline static uint64_t lane_low_[Config::kLanes];
  inline static uint64_t lane_high_[Config::kLanes];
  inline static uint16_t next_[Config::kLinkRows + 1u];
  inline static uint16_t prev_[Config::kLinkRows + 1u];
  static constexpr uint32_t kLists = (1u << (Config::kLinkRows - Config::kLanes)) - 1u;  ///< Not the spare row.
  inline static uint32_t kept_listed, kept_credit0, kept_credit1, kept_turns, kept_drained_last;
  uint32_t listed_ = kept_listed;  ///< A bit for each list that is not empty.
  uint32_t credit0_ = kept_credit0, credit1_ = kept_credit1;
  uint32_t turns_ = kept_turns;  ///< A bit for each service class.
  uint32_t drained_last_ = kept_drained_last;
};

}  // namespace tidemill::hls
