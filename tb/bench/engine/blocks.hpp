// SPDX-License-Identifier: Apache-2.0
/// The engine's TID matcher and timeout wheel alone, behind the interface of rivals.hpp. 65,536 slots.
#pragma once
#include <cstdint>
#include <memory>

#include "hls/bank_memory.hpp"
#include "hls/tid_hash.hpp"
#include "hls/tid_matcher.hpp"
#include "hls/timeout_wheel.hpp"

namespace tidemill::bench {

using BlockMemory = hls::BankMemory<hls::HostBankConfig>;

/// Keyed hash, two buckets and the stash, and the full TID compared with the slot's.
class EngineMatcher {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  /// What finds no room is not entered; take() will not find it.
  void insert(uint64_t tid, uint32_t slot) {
    const uint64_t hash = hls::tid_hash(tid, kSeed);
    const uint32_t where = Matcher::vacancy(Matcher::search(*memory_, hash, 0));
    if (where == Matcher::kFull) return;
    Matcher::insert(*memory_, where, hash, slot);
    memory_->tid(slot, tid);
    memory_->place(slot, where);
  }
  uint32_t take(uint64_t tid) {
    const uint64_t hash = hls::tid_hash(tid, kSeed);
    for (uint32_t skip = 0;;) {
      const auto search = Matcher::search(*memory_, hash, skip);
      if (search.candidates == 0) return kNone;
      const uint32_t entry = Matcher::first(search), slot = Matcher::slot_of(search, entry);
      if (memory_->tid(slot) == tid) [[likely]] {
        Matcher::remove(*memory_, static_cast<uint32_t>(memory_->place(slot)));
        return slot;
      }
      skip |= 1u << entry;
    }
  }

 private:
  using Matcher = hls::TidMatcher<BlockMemory>;
  static constexpr uint64_t kSeed = 0x243f6a8885a308d3;
  std::unique_ptr<BlockMemory> memory_ = std::make_unique<BlockMemory>();
};

class EngineWheel {
 public:
  void arm(uint32_t slot, uint32_t due) { Wheel::arm(*memory_, slot, due); }
  void disarm(uint32_t slot) { Wheel::disarm(*memory_, slot); }
  uint32_t expire(uint32_t& now) {
    for (;;) {
      const auto step = Wheel::step(*memory_, now);
      if (step.fired) return step.slot;
      if (Wheel::before(now, memory_->wake())) now = memory_->wake();
    }
  }

 private:
  using Wheel = hls::TimeoutWheel<BlockMemory>;
  std::unique_ptr<BlockMemory> memory_ = std::make_unique<BlockMemory>();
};

}  // namespace tidemill::bench
