// SPDX-License-Identifier: Apache-2.0
/// TID matcher: from the hash of a TID to the slots that may hold it. Two tables of four-entry buckets
/// (an entry goes to the emptier of its two buckets) and one bucket of four as a stash for what finds both full.
///
/// Constant time: three buckets are read, twelve fingerprints compared. An entry never moves, so its location
/// can be kept beside the slot and removal needs no search. The caller compares the full key of a candidate and,
/// if it is another's, searches again with the candidate in `skip`.
/// No room is reported, never made: the caller keeps the send and tries again.
/// Source: Azar et al., "Balanced Allocations" (1999); buckets as in Dietzfelbinger and Weidling (2007).
#pragma once
#include <stdint.h>

#include "bucket.hpp"
#include "lowest_bit.hpp"

namespace tidemill::hls {

template <class Memory>
struct TidMatcher {
  using Config = typename Memory::Config;
  static constexpr unsigned kWays = 4;
  static constexpr unsigned kEntries = 3 * kWays;  ///< Candidates of one search: two buckets and the stash.
  static constexpr uint32_t kSlotMask = Config::kSlots - 1u;
  static constexpr uint32_t kFingerprintMask = ~Bucket::kValid & ~kSlotMask;

  /// What one search read. Bit 4 t + w of `candidates` is way w of bucket t.
  struct Search {
    uint32_t row0, row1;
    typename Memory::Row bucket0, bucket1, stash;
    uint32_t candidates;
  };

  [[gnu::always_inline]] static constexpr uint32_t row(uint64_t hash, unsigned table) {
    return static_cast<uint32_t>(hash >> (table * Config::kBucketBits)) & (Config::kBuckets - 1u);
  }
  [[gnu::always_inline]] static constexpr uint32_t fingerprint(uint64_t hash) {
    return (static_cast<uint32_t>(hash >> (2 * Config::kBucketBits)) << Config::kSlotBits) & kFingerprintMask;
  }

  /// Host only: a search for `hash` follows soon.
  [[gnu::always_inline]] static void expect(const Memory& m, uint64_t hash) {
    m.expect_bucket(0, row(hash, 0));
    m.expect_bucket(1, row(hash, 1));
  }

  /// Reads the buckets of `hash` and compares fingerprints; `skip` takes out entries already looked at.
  [[gnu::always_inline]] static Search search(const Memory& m, uint64_t hash, uint32_t skip) {
    Search s;
    s.row0 = row(hash, 0);
    s.row1 = row(hash, 1);
    s.bucket0 = m.row(0, s.row0);
    s.bucket1 = m.row(1, s.row1);
    s.stash = m.row(2, 0);
    const uint32_t want = Bucket::kValid | fingerprint(hash), mask = Bucket::kValid | kFingerprintMask;
    s.candidates = (s.bucket0.equal(want, mask) | (s.bucket1.equal(want, mask) << 4) | (s.stash.equal(want, mask) << 8)) & ~skip;
    return s;
  }

  /// Number of the lowest candidate (there must be one), and its slot.
  [[gnu::always_inline]] static uint32_t first(const Search& s) { return lowest(s.candidates); }
  [[gnu::always_inline]] static uint32_t slot_of(const Search& s, uint32_t entry) {
    const auto& b = (entry & 8u) ? s.stash : (entry & 4u) ? s.bucket1 : s.bucket0;
    return b.entry(entry & 3u) & kSlotMask;
  }

  /// Where a new entry would go: a location, or kFull.
  static constexpr uint32_t kFull = 0xffffffffu;
  [[gnu::always_inline]] static uint32_t vacancy(const Search& s) {
    const uint32_t free0 = s.bucket0.empty(), free1 = s.bucket1.empty(), free2 = s.stash.empty();
    const bool take0 = (free0 != 0) & (count(free0) >= count(free1));
    const bool take1 = !take0 & (free1 != 0);
    const bool take2 = !take0 & !take1 & (free2 != 0);
    return take0 ? location(0, s.row0, lowest(free0))
         : take1 ? location(1, s.row1, lowest(free1))
         : take2 ? location(2, 0, lowest(free2))
                 : kFull;
  }

  [[gnu::always_inline]] static constexpr uint32_t entry_of(uint64_t hash, uint32_t slot) {
    return Bucket::kValid | fingerprint(hash) | slot;
  }
  /// Writes the entry at a location that vacancy() gave for the same search.
  [[gnu::always_inline]] static void insert(Memory& m, uint32_t where, uint64_t hash, uint32_t slot) {
    put_if(m, true, where, entry_of(hash, slot));
  }
  [[gnu::always_inline]] static void remove(Memory& m, uint32_t where) { put_if(m, true, where, 0); }

  /// Writes an entry at a location (0: empties it), or nothing unless `really`.
  [[gnu::always_inline]] static void put_if(Memory& m, bool really, uint32_t where, uint32_t entry) {
    const uint32_t row = (where >> 4) & (Config::kBuckets - 1u), table = (where >> 2) & 3u;
    if constexpr (Memory::kBranches) {
      if (really) m.entry(table, row, where & 3u, entry);
    } else {
      Bucket b = m.bucket(table, row);
      b.entry(where & 3u, entry);
      m.bucket(really ? table : kNoTable, row, b);
    }
  }
  /// The same at a location of this search. Hardware has the buckets in hand and need not read them again.
  [[gnu::always_inline]] static void put_searched_if(Memory& m, bool really, const Search& s, uint32_t where,
                                                     uint32_t entry) {
    if constexpr (Memory::kBranches) {
      put_if(m, really, where, entry);
    } else {
      const uint32_t table = really ? (where >> 2) & 3u : kNoTable;
      const auto with = [where, entry](Bucket b, bool changes) {
        Bucket changed = b;
        changed.entry(where & 3u, entry);
        b.low = changes ? changed.low : b.low;
        b.high = changes ? changed.high : b.high;
        return b;
      };
      m.bucket(0, s.row0, with(s.bucket0, table == 0));
      m.bucket(1, s.row1, with(s.bucket1, table == 1));
      m.bucket(2, 0, with(s.stash, table == 2));
    }
  }
  /// Location of number `entry` of a search.
  [[gnu::always_inline]] static uint32_t location_of(const Search& s, uint32_t entry) {
    return location(entry >> 2, (entry & 8u) ? 0u : (entry & 4u) ? s.row1 : s.row0, entry & 3u);
  }

 private:
  static constexpr uint32_t kNoTable = 3;

  [[gnu::always_inline]] static constexpr uint32_t location(uint32_t table, uint32_t row, uint32_t way) {
    return (row << 4) | (table << 2) | way;
  }
  [[gnu::always_inline]] static constexpr uint32_t count(uint32_t mask) {
    return static_cast<uint32_t>(0x4332322132212110u >> (4 * mask)) & 7u;  // digit i: bits set in i
  }
  [[gnu::always_inline]] static uint32_t lowest(uint32_t mask) { return lowest_bit(mask | kNone); }
  static constexpr uint32_t kNone = 1u << kEntries;
};

}  // namespace tidemill::hls
