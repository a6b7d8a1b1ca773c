// SPDX-License-Identifier: Apache-2.0
/// Retry queue of a bank, one per QP: slots that wait for the retry lane of their QP, in the order in which they came.
///
/// Singly linked, O(1). A slot stands at most once in each queue: flag `linked` has a bit for each. A send that ends
/// while it stands there is not unlinked (its deadline may be watched by the wheel at the same time, so the queue has
/// links of its own); its entry is skipped when its turn comes, or serves the slot's next send of that QP. Entries left
/// over from one QP so delay nothing of the other one, whose wire may have no credit. The length always equals the retry
/// lane's count in the arbiter and no queue can overflow.
#pragma once
#include "tidemill/abi.hpp"

namespace tidemill::hls {

template <class Memory>
struct RetryQueue {
  [[gnu::always_inline]] static bool empty(const Memory& m, unsigned qp) { return m.retry_count(qp) == 0; }
  [[gnu::always_inline]] static uint32_t head(const Memory& m, unsigned qp) { return m.retry_head(qp); }

  /// Stands this slot in the queue of `qp`?
  [[gnu::always_inline]] static bool holds(const abi::SlotFlags& flags, unsigned qp) {
    return ((flags.linked() >> qp) & 1u) != 0;
  }
  /// The flags of a slot taken out of the queue of `qp`.
  [[gnu::always_inline]] static void unlink(abi::SlotFlags& flags, unsigned qp) {
    flags.linked(static_cast<uint8_t>(flags.linked() & ~(1u << qp)));
  }

  /// Appends a slot to the queue of its QP unless it stands there already; sets the flags. True if it was appended.
  [[gnu::always_inline]] static bool push(Memory& m, uint32_t slot, abi::SlotFlags& flags) {
    return push_if(m, true, slot, flags);
  }
  /// The same, or nothing unless `really`. Written without branches: the queue's words keep what they held.
  [[gnu::always_inline]] static bool push_if(Memory& m, bool really, uint32_t slot, abi::SlotFlags& flags) {
    const unsigned qp = flags.qp();
    const bool add = really & !holds(flags, qp), first = empty(m, qp);
    const uint32_t tail = m.retry_tail(qp);
    m.retry_head(qp, (add & first) ? slot : m.retry_head(qp));
    m.retry_next(qp, tail, (add & !first) ? slot : m.retry_next(qp, tail));
    m.retry_tail(qp, add ? slot : tail);
    m.retry_count(qp, m.retry_count(qp) + (add ? 1u : 0u));
    flags.linked(static_cast<uint8_t>(flags.linked() | ((add ? 1u : 0u) << qp)));
    return add;
  }

  /// Takes the head out of a queue that is not empty. The caller writes the flags.
  [[gnu::always_inline]] static void pop(Memory& m, unsigned qp, abi::SlotFlags& flags) {
    pop_if(m, true, qp);
    unlink(flags, qp);
  }
  [[gnu::always_inline]] static void pop_if(Memory& m, bool really, unsigned qp) {
    const uint32_t head = m.retry_head(qp);
    m.retry_head(qp, really ? m.retry_next(qp, head) : head);
    m.retry_count(qp, m.retry_count(qp) - (really ? 1u : 0u));
  }
};

}  // namespace tidemill::hls
