// SPDX-License-Identifier: Apache-2.0
/// Retry queue of a bank, one per QP: slots that wait for the retry lane of their QP, in the order in which they came.
///
/// Singly linked, O(1). A slot stands in at most one queue, once: flag `linked` says so. A send that ends while it
/// stands there is not unlinked (its deadline may be watched by the wheel at the same time, so the queue has links of
/// its own); its entry is skipped when its turn comes, or serves the next send of the slot. So the length always
/// equals the retry lane's count in the arbiter and no queue can overflow.
#pragma once
#include "tidemill/abi.hpp"

namespace tidemill::hls {

template <class Memory>
struct RetryQueue {
  [[gnu::always_inline]] static bool empty(const Memory& m, unsigned qp) { return m.retry_count(qp) == 0; }
  [[gnu::always_inline]] static uint32_t head(const Memory& m, unsigned qp) { return m.retry_head(qp); }

  /// Appends a slot unless it stands in a queue already; sets the flags. Returns true if it was appended.
  [[gnu::always_inline]] static bool push(Memory& m, uint32_t slot, abi::SlotFlags& flags) {
    return push_if(m, true, slot, flags);
  }
  /// The same, or nothing unless `really`. Written without branches: the queue's words keep what they held.
  [[gnu::always_inline]] static bool push_if(Memory& m, bool really, uint32_t slot, abi::SlotFlags& flags) {
    const unsigned qp = flags.qp();
    const bool add = really & !flags.linked(), first = empty(m, qp);
    const uint32_t tail = m.retry_tail(qp);
    m.retry_head(qp, (add & first) ? slot : m.retry_head(qp));
    m.retry_next(tail, (add & !first) ? slot : m.retry_next(tail));
    m.retry_tail(qp, add ? slot : tail);
    m.retry_count(qp, m.retry_count(qp) + (add ? 1u : 0u));
    flags.linked(flags.linked() | add);
    flags.linked_qp(add ? qp != 0 : flags.linked_qp());
    return add;
  }

  /// Takes the head out of a queue that is not empty. The caller writes the flags.
  [[gnu::always_inline]] static void pop(Memory& m, unsigned qp, abi::SlotFlags& flags) {
    pop_if(m, true, qp);
    flags.linked(false);
  }
  [[gnu::always_inline]] static void pop_if(Memory& m, bool really, unsigned qp) {
    const uint32_t head = m.retry_head(qp);
    m.retry_head(qp, really ? m.retry_next(head) : head);
    m.retry_count(qp, m.retry_count(qp) - (really ? 1u : 0u));
  }
};

}  // namespace tidemill::hls
