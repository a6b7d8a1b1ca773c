// SPDX-License-Identifier: Apache-2.0
/// Doubly linked lists in two link memories, with a sentinel row for each list. Links are stored xor their own row, so
/// zeroed memory is a set of empty lists. All operations O(1); an item stands in at most one list.
///
///     sentinel <-> first <-> ... <-> last <-> sentinel
#pragma once
#include <stdint.h>

namespace tidemill::hls {

/// Memory has next(row), next(row, value), prev(row), prev(row, value).
template <class Memory>
struct LinkedList {
  [[gnu::always_inline]] static bool empty(const Memory& m, uint32_t list) { return m.next(list) == 0; }
  /// The sentinel itself if the list is empty.
  [[gnu::always_inline]] static uint32_t first(const Memory& m, uint32_t list) { return m.next(list) ^ list; }

  /// The sentinel itself if the list is empty.
  [[gnu::always_inline]] static uint32_t last(const Memory& m, uint32_t list) { return m.prev(list) ^ list; }
  [[gnu::always_inline]] static void append(Memory& m, uint32_t list, uint32_t last, uint32_t item) {
    m.next(item, list ^ item);
    m.prev(item, last ^ item);
    m.next(last, item ^ last);
    m.prev(list, item ^ list);
  }

  [[gnu::always_inline]] static void append(Memory& m, uint32_t list, uint32_t item) {
    append(m, list, item, [](uint32_t row) { return row; });
  }
  [[gnu::always_inline]] static void remove(Memory& m, uint32_t item) {
    remove(m, item, [](uint32_t row) { return row; });
  }

  /// Neighbours of an item, read ahead of a remove_if().
  struct Neighbours {
    uint32_t next, prev;
  };
  [[gnu::always_inline]] static Neighbours neighbours(const Memory& m, uint32_t item) {
    return {m.next(item) ^ item, m.prev(item) ^ item};
  }

  // The same, or nothing unless `really`. A branch costs hardware cycles: there, what is not wanted goes to a spare row.
  [[gnu::always_inline]] static void append_if(Memory& m, bool really, uint32_t list, uint32_t item) {
    if constexpr (Memory::kBranches) {
      if (really) append(m, list, item);
    } else {
      append(m, list, item, [really](uint32_t row) { return really ? row : Memory::kSpareRow; });
    }
  }
  [[gnu::always_inline]] static void remove_if(Memory& m, bool really, uint32_t item) {
    if constexpr (Memory::kBranches) {
      if (really) remove(m, item);
    } else {
      remove_linked_if(m, really, neighbours(m, item));
    }
  }
  [[gnu::always_inline]] static void remove_linked_if(Memory& m, bool really, const Neighbours& of) {
    if (Memory::kBranches & !really) return;
    const auto to = [really](uint32_t row) { return really ? row : spare(); };
    m.next(to(of.prev), of.next ^ of.prev);
    m.prev(to(of.next), of.prev ^ of.next);
  }

 private:
  [[gnu::always_inline]] static constexpr uint32_t spare() {
    if constexpr (Memory::kBranches) {
      return 0;
    } else {
      return Memory::kSpareRow;
    }
  }
  template <class To>
  [[gnu::always_inline]] static void append(Memory& m, uint32_t list, uint32_t item, To to) {
    const uint32_t last = m.prev(list) ^ list;
    m.next(to(item), list ^ item);
    m.prev(to(item), last ^ item);
    m.next(to(last), item ^ last);
    m.prev(to(list), item ^ list);
  }
  template <class To>
  [[gnu::always_inline]] static void remove(Memory& m, uint32_t item, To to) {
    const uint32_t next = m.next(item) ^ item, prev = m.prev(item) ^ item;
    m.next(to(prev), next ^ prev);
    m.prev(to(next), prev ^ next);
  }
};

}  // namespace tidemill::hls
