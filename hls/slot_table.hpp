// SPDX-License-Identifier: Apache-2.0
/// The tracker's records in memory. A word is a RAM of its own, so a record is read and written at once.
#pragma once
#include "tracker.hpp"

namespace tidemill::hls {

template <class Memory>
struct SlotTable {
  using Config = typename Memory::Config;

  [[gnu::always_inline]] static SlotRecord load(const Memory& m, uint32_t slot) {
    SlotRecord r;
    r.flags.w0 = m.flags(slot);
    r.owner.w0 = m.owner(slot);
    r.tid = m.tid(slot);
    r.pace.w0 = m.pace(slot);
    r.limits.w0 = m.limits(slot);
    r.place.w0 = m.place(slot);
    r.due = m.due(slot);
    return r;
  }
  /// `due` is the wheel's to write.
  [[gnu::always_inline]] static void store(Memory& m, uint32_t slot, const SlotRecord& r, const SlotFlags& flags) {
    m.flags(slot, flags.w0);
    m.owner(slot, r.owner.w0);
    m.tid(slot, r.tid);
    m.pace(slot, r.pace.w0);
    m.limits(slot, r.limits.w0);
    m.place(slot, r.place.w0);
  }
  [[gnu::always_inline]] static SlotFlags flags(const Memory& m, uint32_t slot) {
    SlotFlags f;
    f.w0 = m.flags(slot);
    return f;
  }
  /// Holds slot `number`, which may be past the last, a send of this agent?
  [[gnu::always_inline]] static bool owned(const Memory& m, uint32_t number, uint32_t agent) {
    const uint32_t slot = number & (Config::kSlots - 1u);
    SlotOwner owner;
    owner.w0 = m.owner(slot);
    return (number < Config::kSlots) & !Tracker::is_free(flags(m, slot)) & (owner.agent() == agent);
  }
};

}  // namespace tidemill::hls
