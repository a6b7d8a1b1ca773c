// SPDX-License-Identifier: Apache-2.0
/// The state space of a TID matcher alone: every occupancy of a tiny table, against a plain list of what stands where.
///
/// An entry is known by its fingerprint; the slot written is the number of the place where the matcher puts it, so that
/// equal occupancies are equal states.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "explorer.hpp"
#include "hls/config.hpp"
#include "hls/tid_matcher.hpp"

namespace tidemill::explore {

inline constexpr const char* kFindsAll = "a search finds the entries of its hash, all of them and no others";
inline constexpr const char* kSkips = "a search passes over what was looked at, each entry comes once";
inline constexpr const char* kEmptierBucket = "an entry goes to the emptier of its buckets, then to the stash";
inline constexpr const char* kFullWhenFull = "there is no room only if both buckets and the stash are full";
inline constexpr const char* kOneEntry = "insert and remove touch one entry";

/// BucketBits 0 or 1; Fingerprints in use.
template <unsigned BucketBits, unsigned Fingerprints>
class MatcherSpace {
 public:
  using Config = hls::BankConfig<5, BucketBits>;
  static constexpr uint32_t kRows = Config::kBuckets, kPlaces = (2 * kRows + 1) * 4;

  /// The part of a bank's memory that the matcher uses.
  struct Memory {
    using Config = MatcherSpace::Config;
    static constexpr bool kBranches = true;
    using Row = hls::Bucket;
    Row row(uint32_t table, uint32_t number) const { return bucket(table, number); }
    hls::Bucket bucket(uint32_t table, uint32_t row) const { return buckets[table * kRows + row]; }
    void entry(uint32_t table, uint32_t row, uint32_t way, uint32_t v) { buckets[table * kRows + row].entry(way, v); }
    std::array<hls::Bucket, 2 * kRows + 1> buckets{};
  };
  using Matcher = hls::TidMatcher<Memory>;

  struct State {
    Memory memory;
    std::array<uint8_t, kPlaces> print{};  ///< What stands in each place: fingerprint plus 1, or 0.
  };

  size_t events() const { return hashes() + kPlaces; }
  std::string label(size_t event) const {
    return event < hashes() ? "insert hash " + std::to_string(event)
                            : "remove place " + std::to_string(event - hashes());
  }
  State initial() const { return {}; }

  Edge apply(State& state, size_t event) const {
    if (event >= hashes()) {
      const auto place = static_cast<uint32_t>(event - hashes());
      if (state.print[place] == 0) return {.applicable = false};
      state.print[place] = 0;
      Matcher::remove(state.memory, location(place));
      return {};
    }
    const uint64_t hash = hash_of(event);
    const uint32_t where = Matcher::vacancy(Matcher::search(state.memory, hash, 0));
    const std::array<uint32_t, 3> first = rows(hash);
    const std::array<uint32_t, 3> room = {vacant(state, first[0]), vacant(state, first[1]), vacant(state, first[2])};
    if (where == Matcher::kFull)
      return {.broken = room[0] + room[1] + room[2] == 0 ? nullptr : kFullWhenFull, .changes_nothing = true};
    const uint32_t place = place_of(where);
    if (place >= kPlaces || state.print[place] != 0) return {.broken = kFullWhenFull};
    const uint32_t row = place / 4 * 4;
    const uint32_t best = room[0] > room[1] ? room[0] : room[1];
    const bool right =
        best != 0 ? (row == first[0] && room[0] == best) || (row == first[1] && room[1] == best) : row == first[2];
    if (!right) return {.broken = kEmptierBucket};
    state.print[place] = static_cast<uint8_t>(print_of(event) + 1);
    Matcher::insert(state.memory, where, hash, place);
    return {};
  }

  /// Every search of every hash, with every candidate skipped in turn.
  const char* check(const State& state) const {
    for (uint32_t place = 0; place < kPlaces; ++place) {
      const uint32_t entry = state.memory.bucket(place < 4 * kRows   ? 0
                                                 : place < 8 * kRows ? 1
                                                                     : 2,
                                                 place / 4 % kRows)
                                 .entry(place % 4);
      const uint32_t wanted =
          state.print[place] == 0 ? 0 : hls::Bucket::kValid | ((state.print[place] - 1u) << Config::kSlotBits) | place;
      if (entry != wanted) return kOneEntry;
    }
    for (size_t i = 0; i < hashes(); ++i) {
      const uint64_t hash = hash_of(i);
      uint32_t wanted = 0, skip = 0;
      const std::array<uint32_t, 3> first = rows(hash);
      for (uint32_t bucket = 0; bucket < 3; ++bucket)
        for (uint32_t way = 0; way < 4; ++way)
          if (state.print[first[bucket] + way] == print_of(i) + 1) wanted |= 1u << (bucket * 4 + way);
      if (Matcher::search(state.memory, hash, 0).candidates != wanted) return kFindsAll;
      while (wanted != 0) {
        const auto search = Matcher::search(state.memory, hash, skip);
        if (search.candidates != wanted) return kSkips;
        const uint32_t entry = Matcher::first(search);
        if ((wanted >> entry & 1u) == 0 || Matcher::slot_of(search, entry) != first[entry / 4] + entry % 4)
          return kSkips;
        skip |= 1u << entry;
        wanted &= ~(1u << entry);
      }
    }
    return nullptr;
  }
  void normalise(State&) const {}

  template <class Sink>
  void feed(const State& state, Sink& sink) const {
    for (uint32_t table = 0; table < 3; ++table)
      for (uint32_t row = 0; row < (table == 2 ? 1 : kRows); ++row) {
        sink(state.memory.bucket(table, row).low);
        sink(state.memory.bucket(table, row).high);
      }
  }
  std::string describe(const State& state) const {
    std::string text = "places ";
    for (const uint8_t print : state.print) text += print == 0 ? "." : std::to_string(print - 1);
    return text;
  }

 private:
  static constexpr size_t hashes() { return kRows * kRows * Fingerprints; }
  static constexpr uint32_t print_of(size_t i) { return static_cast<uint32_t>(i % Fingerprints); }
  static constexpr uint64_t hash_of(size_t i) {
    return (uint64_t{print_of(i)} << (2 * BucketBits)) | (i / Fingerprints);
  }
  /// First place of the two buckets and of the stash.
  static constexpr std::array<uint32_t, 3> rows(uint64_t hash) {
    const auto mask = kRows - 1u;
    return {static_cast<uint32_t>(hash & mask) * 4, kRows * 4 + static_cast<uint32_t>((hash >> BucketBits) & mask) * 4,
            kRows * 8};
  }
  static constexpr uint32_t location(uint32_t place) {
    const uint32_t table = place / (4 * kRows), row = table == 2 ? 0 : place / 4 % kRows;
    return row << 4 | table << 2 | place % 4;
  }
  static constexpr uint32_t place_of(uint32_t location) {
    return (location >> 2 & 3u) * 4 * kRows + (location >> 4) * 4 + (location & 3u);
  }
  static uint32_t vacant(const State& state, uint32_t first) {
    uint32_t count = 0;
    for (uint32_t way = 0; way < 4; ++way) count += state.print[first + way] == 0;
    return count;
  }
};

}  // namespace tidemill::explore
