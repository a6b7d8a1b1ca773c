// SPDX-License-Identifier: Apache-2.0
/// The TID matcher of one bank, used the way the bank uses it: full keys are compared here, by the caller.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hls/bank_memory.hpp"
#include "hls/tid_matcher.hpp"

namespace tidemill::test {

template <class Config>
class MatcherDriver {
 public:
  using Memory = hls::BankMemory<Config>;
  using Matcher = hls::TidMatcher<Memory>;

  /// Slot of a key with this hash, found as the bank does: candidate by candidate.
  std::optional<uint32_t> find(uint64_t key, uint64_t hash) {
    uint32_t skip = 0;
    searches_ = 0;
    for (;;) {
      ++searches_;
      const auto search = Matcher::search(*memory_, hash, skip);
      if (search.candidates == 0) return std::nullopt;
      const uint32_t entry = Matcher::first(search), slot = Matcher::slot_of(search, entry);
      if (memory_->tid(slot) == key) return slot;
      skip |= 1u << entry;
    }
  }
  /// False if there is no room.
  bool insert(uint32_t slot, uint64_t key, uint64_t hash) {
    const uint32_t where = Matcher::vacancy(Matcher::search(*memory_, hash, 0));
    if (where == Matcher::kFull) return false;
    Matcher::insert(*memory_, where, hash, slot);
    memory_->tid(slot, key);
    location_[slot] = where;
    return true;
  }
  void remove(uint32_t slot) { Matcher::remove(*memory_, location_[slot]); }

  /// Searches that the last find() took.
  unsigned searches() const { return searches_; }
  uint32_t location(uint32_t slot) const { return location_[slot]; }
  bool in_stash(uint32_t slot) const { return ((location_[slot] >> 2) & 3u) == 2u; }
  Memory& memory() { return *memory_; }

 private:
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  std::vector<uint32_t> location_ = std::vector<uint32_t>(Config::kSlots);
  unsigned searches_ = 0;
};

}  // namespace tidemill::test
