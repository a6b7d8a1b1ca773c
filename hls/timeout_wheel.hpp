// SPDX-License-Identifier: Apache-2.0
/// Timeout wheel: hierarchical timing wheel over 32-bit ticks, doubly linked lists in RAM.
///
/// Level l has 2^ListBits lists of 2^(SpreadBits l) ticks each and reaches that many lists ahead of now. A list of
/// level l is spread into the levels below as soon as they reach its end, which is 2^ListBits - 2^SpreadBits units of
/// the level below before its time (448 ticks with 512 lists and a ratio of 64), so that a burst is not late.
/// arm, disarm, re-arm O(1). Never early. One step fires one timer, moves one, or advances now by up to 2^SpreadBits ticks.
/// Timeouts past the span of the top level wait in its farthest list and are placed again when it is spread.
/// Source: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (1987), scheme 7.
#pragma once
#include <stdint.h>

#include "linked_list.hpp"
#include "lowest_bit.hpp"

namespace tidemill::hls {

template <class Memory>
struct TimeoutWheel {
  using Config = typename Memory::Config;
  using List = LinkedList<Memory>;
  static constexpr uint32_t kListMask = Config::kLists - 1u;
  static constexpr uint32_t kSpread = 1u << Config::kSpreadBits;  ///< Level-0 lists in one occupancy word.

  struct Step {
    bool fired;     ///< The timer of `slot` expired.
    uint32_t slot;  ///< With fired.
  };

  /// Arms a disarmed timer to fire at tick `due`, or at the current tick if that has passed.
  [[gnu::always_inline]] static void arm(Memory& m, uint32_t slot, uint32_t due) { arm_if(m, true, slot, due); }
  [[gnu::always_inline]] static void disarm(Memory& m, uint32_t slot) { disarm_if(m, true, slot); }

  // The same, or nothing unless `really`.
  [[gnu::always_inline]] static void arm_if(Memory& m, bool really, uint32_t slot, uint32_t due) {
    if (Memory::kBranches & !really) return;
    const uint32_t now = m.wheel_now(), wake = m.wake();
    const uint32_t at = before(due, now) ? now : due;
    m.due(slot, really ? at : m.due(slot));
    link_if(m, really, slot, place(now, at));
    m.wake((really & before(at, wake)) ? at : wake);
  }
  [[gnu::always_inline]] static void disarm_if(Memory& m, bool really, uint32_t slot) { List::remove_if(m, really, slot); }
  /// In two parts: what a disarm reads can so be read together with all else that is read of the slot.
  [[gnu::always_inline]] static auto neighbours(const Memory& m, uint32_t slot) { return LinkedList<Memory>::neighbours(m, slot); }
  template <class Neighbours>
  [[gnu::always_inline]] static void disarm_if(Memory& m, bool really, const Neighbours& of) { List::remove_linked_if(m, really, of); }

  /// One step towards `time`. After it, wake() tells the first tick at which a step is needed again.
  [[gnu::always_inline]] static Step step(Memory& m, uint32_t time) {
    const Step s = expired(m);
    if (s.fired) {
      disarm(m, s.slot);
      m.wake(m.wheel_now());
    } else {
      advance(m, time);
    }
    return s;
  }
  // The same in parts. Who is to fire now, still armed: the caller disarms it and sets wake() to wheel_now().
  [[gnu::always_inline]] static Step expired(const Memory& m) {
    const uint32_t current = sentinel(0, m.wheel_now()), link = m.next(current);
    return {link != 0, link ^ current};
  }
  // What a step does if nobody fires.
  [[gnu::always_inline]] static void advance(Memory& m, uint32_t time) {
    const uint32_t now = m.wheel_now();
    const uint32_t next = next_stop(m, now);
    const bool late = before(now, time);
    const uint32_t target = before(time, next) ? time : next;
    const unsigned blocking = boundary(target) ? unspread(m, target) : 0u;
    if (late & (blocking == 0)) {
      m.busy(word_of(now), m.busy(word_of(now)) & ~passed(now, target));
      m.wheel_now(target);
      m.wake(wake_after(m, target));
      return;
    }
    const unsigned level = blocking != 0 ? blocking : spreadable(m, now);
    if (level != 0) spread(m, level, now);
    m.wake(late ? now : wake_after(m, now));
  }

  /// True if a is before b, modulo 2^32.
  [[gnu::always_inline]] static constexpr bool before(uint32_t a, uint32_t b) {
    return static_cast<int32_t>(a - b) < 0;
  }

 private:
  [[gnu::always_inline]] static constexpr uint32_t unit(unsigned level) { return Config::kSpreadBits * level; }
  /// Distance between two list numbers of a level; they wrap at 2^(32 - unit).
  [[gnu::always_inline]] static constexpr uint32_t distance(unsigned level, uint32_t from, uint32_t to) {
    return (to - from) & (0xffffffffu >> unit(level));
  }
  [[gnu::always_inline]] static constexpr uint32_t sentinel(unsigned level, uint32_t list) {
    return Config::kSlots + level * Config::kLists + (list & kListMask);
  }

  /// Sentinel of the list for `due`: the lowest level that reaches it, else the farthest list of the top.
  [[gnu::always_inline]] static uint32_t place(uint32_t now, uint32_t due) {
    unsigned level = 0;  // if a level reaches `due`, all above it do
    for (unsigned l = 0; l < Config::kLevels; ++l) level += reaches(l, now, due) ? 0u : 1u;
    const unsigned top = Config::kLevels - 1;
    return level > top ? sentinel(top, (now >> unit(top)) + kListMask) : sentinel(level, due >> unit(level));
  }

  [[gnu::always_inline]] static bool reaches(unsigned level, uint32_t now, uint32_t due) {
    return due - (now >> unit(level) << unit(level)) < Config::kLists << unit(level);
  }

  [[gnu::always_inline]] static void link_if(Memory& m, bool really, uint32_t slot, uint32_t list) {
    List::append_if(m, really, list, slot);
    const uint32_t index = list - Config::kSlots, word = word_of(index);
    const bool nearest = really & (index < Config::kLists);
    m.busy(word, m.busy(word) | (uint64_t{nearest} << (index & (kSpread - 1u))));
  }

  // The occupancy word of the current 2^SpreadBits ticks lets now jump over empty lists. A bit is set on arming and
  // cleared when now passes: a disarmed timer costs at most one idle step.
  [[gnu::always_inline]] static constexpr uint32_t word_of(uint32_t tick) { return (tick & kListMask) >> Config::kSpreadBits; }
  [[gnu::always_inline]] static constexpr bool boundary(uint32_t tick) { return (tick & (kSpread - 1u)) == 0; }
  /// Bits of the ticks from now to before `target`, which is at most the end of the word. Lower bits are one lap ahead.
  [[gnu::always_inline]] static uint64_t passed(uint32_t now, uint32_t target) {
    const uint64_t from = ~uint64_t{0} << (now & (kSpread - 1u));
    const uint64_t to = boundary(target) ? ~uint64_t{0} : (uint64_t{1} << (target & (kSpread - 1u))) - 1u;
    return from & to;
  }
  /// First occupied tick after now in its word, else the start of the next word.
  [[gnu::always_inline]] static uint32_t next_stop(const Memory& m, uint32_t now) {
    const uint32_t bit = now & (kSpread - 1u);
    const uint64_t rest = (m.busy(word_of(now)) >> bit) >> 1;
    const uint32_t jump = rest != 0 ? 1u + lowest_bit(rest) : kSpread - bit;
    return now + jump;
  }

  /// Lowest level whose list for `target` is not spread yet, so that now may not reach it; 0 for none.
  [[gnu::always_inline]] static unsigned unspread(const Memory& m, uint32_t target) {
    unsigned found = 0;
    for (unsigned up = 1; up < Config::kLevels; ++up) {
      const unsigned level = Config::kLevels - up;
      const uint32_t list = target >> unit(level);
      found = spread_next(m, level) == (list & (0xffffffffu >> unit(level))) ? level : found;
    }
    return found;
  }
  /// Lowest level whose next list the level below reaches entirely; 0 for none.
  [[gnu::always_inline]] static unsigned spreadable(const Memory& m, uint32_t now) {
    unsigned found = 0;
    for (unsigned up = 1; up < Config::kLevels; ++up) {
      const unsigned level = Config::kLevels - up;
      const uint32_t last = ((spread_next(m, level) + 1u) << Config::kSpreadBits) - 1u;
      found = distance(level - 1, now >> unit(level - 1), last) < Config::kLists ? level : found;
    }
    return found;
  }
  [[gnu::always_inline]] static uint32_t wake_after(const Memory& m, uint32_t now) {
    const bool work = (!List::empty(m, sentinel(0, now)) | (spreadable(m, now) != 0));
    return work ? now : next_stop(m, now);
  }

  /// Number of the next list of a level to spread. At reset list 0 counts as spread: now stands in it.
  [[gnu::always_inline]] static uint32_t spread_next(const Memory& m, unsigned level) {
    return (m.spread_count(level) + 1u) & (0xffffffffu >> unit(level));
  }
  [[gnu::always_inline]] static void spread(Memory& m, unsigned level, uint32_t now) {
    const uint32_t list = sentinel(level, spread_next(m, level));
    if (List::empty(m, list)) {
      m.spread_count(level, m.spread_count(level) + 1u);
    } else {
      const uint32_t slot = List::first(m, list);
      List::remove(m, slot);
      link_if(m, true, slot, place(now, m.due(slot)));
    }
  }
};

}  // namespace tidemill::hls
