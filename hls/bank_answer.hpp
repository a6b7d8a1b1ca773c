// SPDX-License-Identifier: Apache-2.0
/// Answers of a bank: from a verdict to an action. Pure functions.
#pragma once
#include "tracker.hpp"

namespace tidemill::hls {

using abi::Action;

struct BankAnswer {
  /// An answer about a slot: `r` is its record, `v` what became of it.
  [[gnu::always_inline]] static Action about(uint32_t slot, const SlotRecord& r, const Verdict& v, const Event& e) {
    Action a;
    a.slot(static_cast<uint16_t>(slot));
    a.generation(r.flags.generation());
    a.agent(r.owner.agent());
    a.tid(r.tid);
    a.lane(r.owner.lane());
    a.port(r.owner.port());
    a.qp(r.flags.qp());
    a.tries(v.action == ActionKind::transmit ? v.flags.tries() : r.flags.tries());
    outcome(a, v, e);
    return a;
  }
  /// An answer that is about no slot of ours: what the event named goes back as it came.
  [[gnu::always_inline]] static Action answer(const Verdict& v, const Event& e) {
    Action a;
    a.slot(e.slot());
    a.generation(e.generation());
    a.agent(e.agent());
    a.tid(e.tid());
    a.lane(e.lane());
    a.port(e.port());
    a.qp(e.qp());
    outcome(a, v, e);
    return a;
  }
  /// The grant behind a descriptor or a retry was not used: its wire credit goes back (draining took none).
  [[gnu::always_inline]] static void refuse_grant(Action& a, const Event& e) {
    a.wire_credit(!e.drain());
    a.credit_qp(e.qp());
  }
  /// Nothing was done; the event is to come again with this cursor and the hash of the record's TID.
  [[gnu::always_inline]] static Action come_again(uint32_t slot, const SlotRecord& r, const Event& e, uint32_t cursor) {
    Action a = answer(Verdict{}, e);
    a.slot(static_cast<uint16_t>(slot));
    a.generation(r.flags.generation());
    a.tid(r.tid);
    a.again(true);
    a.cursor(static_cast<uint16_t>(cursor));
    return a;
  }
  /// A flush goes on at slot `next`, if there is one.
  [[gnu::always_inline]] static void flush_from(Action& a, uint32_t next, uint32_t slots) {
    a.again(next < slots);
    a.cursor(static_cast<uint16_t>(next & (slots - 1u)));
  }

 private:
  [[gnu::always_inline]] static void outcome(Action& a, const Verdict& v, const Event& e) {
    a.kind(v.action);
    a.status(v.status);
    a.cause(v.cause);
    a.window_credit(v.window_credit);
    a.buffer(e.buffer());
    a.vendor(e.vendor());
  }
};

}  // namespace tidemill::hls
