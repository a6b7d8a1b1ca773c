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

  [[gnu::always_inline]] static void append(Memory& m, uint32_t list, uint32_t item) {
    const uint32_t last = m.prev(list) ^ list;
    m.next(item, list ^ item);
    m.prev(item, last ^ item);
    m.next(last, item ^ last);
    m.prev(list, item ^ list);
  }

  [[gnu::always_inline]] static void remove(Memory& m, uint32_t item) {
    const uint32_t next = m.next(item) ^ item, prev = m.prev(item) ^ item;
    m.next(prev, next ^ prev);
    m.prev(next, prev ^ next);
  }
};

}  // namespace tidemill::hls
