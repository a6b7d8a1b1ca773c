// SPDX-License-Identifier: Apache-2.0
/// Bank: tracker, TID matcher, timeout wheel and retry queue over its own slots. One event in, one action out, nothing
/// shared with other banks, so the whole fate of a send is decided in one place and one order.
///
/// Every event is a straight line: pick the slot, load its record, ask the tracker for a verdict, apply it. The three
/// events of a transaction (descriptor, sent, received) have a line each, the rare ones one of their own kind.
/// Work of unknown length comes in steps: an action with `again` asks for the same event once more with the action's
/// `cursor` and `cause` (and a hash of the action's TID); `more` and `wake` tell when a tick step is needed.
/// Cycles of each event: cycle_table.hpp. Rules: design policies 1-8, docs/engine/bank.md.
#pragma once
#include "retry_queue.hpp"
#include "tid_matcher.hpp"
#include "timeout_wheel.hpp"
#include "tracker.hpp"

namespace tidemill::hls {

using abi::Action;
using abi::EventKind;

template <class Memory>
class Bank {
 public:
  using Config = typename Memory::Config;

  [[gnu::always_inline]] inline Action step(const Event& e) {
    Action a;
    switch (e.kind()) {
      case EventKind::descriptor: a = on_descriptor(e); break;
      case EventKind::sent: a = on_sent(e); break;
      case EventKind::received: a = on_received(e); break;
      case EventKind::grant: a = on_grant(e); break;
      case EventKind::flush: a = on_flush(e); break;
      case EventKind::tick: a = on_tick(e); break;
      default: a = on_command(e); break;
    }
    a.wake(memory_.wake());
    a.more(Tracker::reached(e.now(), memory_.wake()));
    return a;
  }

  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }

 private:
  using Matcher = TidMatcher<Memory>;
  using Wheel = TimeoutWheel<Memory>;
  using Retries = RetryQueue<Memory>;
  static constexpr uint32_t kSlotMask = Config::kSlots - 1u;
  /// Cursor of a grant that comes again with the hash of the head's TID.
  static constexpr uint32_t kHashed = 0x8000u;

  [[gnu::always_inline]] inline Action on_descriptor(const Event& e) {
    const uint32_t slot = e.slot() & kSlotMask;
    SlotRecord r = load(slot);
    const bool named = in_range(e) & Tracker::named_by(r.flags, e) &
                       (Tracker::is_free(r.flags) | (r.flags.state() == SlotState::queued));
    if (!named) {
      Action a = answer(Tracker::reject(r.flags, Cause::stale_descriptor), e);
      a.window_credit(e.counted());
      return refuse_grant(a, e);
    }
    const SlotFlags old = r.flags;
    r = Tracker::admit(r, e);
    return take_turn(slot, old, r, e, e.hash(), e.cursor());
  }

  /// First or later try: enter the matcher unless there already, then transmit.
  [[gnu::always_inline]] inline Action take_turn(uint32_t slot, const SlotFlags& old, SlotRecord& r, const Event& e,
                                                 uint64_t hash, uint32_t skip) {
    Verdict v = Tracker::on_turn(r, e);
    if (!v.release & r.flags.expects() & !r.flags.placed()) {
      const auto search = Matcher::search(memory_, hash, skip);
      if (search.candidates != 0) {
        const uint32_t entry = Matcher::first(search), other = Matcher::slot_of(search, entry);
        const SlotFlags f = flags(other);
        const bool same = (memory_.tid(other) == r.tid) & (f.mgmt_class() == r.flags.mgmt_class()) & Tracker::is_live(f);
        if (!same) return come_again(slot, r, e, skip | (1u << entry));
        v = Tracker::complete(r.flags, Status::duplicate);
      } else {
        const uint32_t where = Matcher::vacancy(search);
        if (where == Matcher::kFull) {
          v = Tracker::on_no_room(r);
        } else {
          Matcher::insert(memory_, where, hash, slot);
          r.place.location(where);
          v.flags.placed(true);
        }
      }
    }
    store(slot, r);
    Action a = apply(slot, old, r, v, e);
    return v.action == ActionKind::transmit ? a : refuse_grant(a, e);
  }

  [[gnu::always_inline]] inline Action on_sent(const Event& e) {
    const uint32_t slot = e.slot() & kSlotMask;
    const SlotRecord r = load(slot);
    const SlotState state = r.flags.state();
    const bool on_wire = (state == SlotState::sending) | (state == SlotState::early) | (state == SlotState::cancelled);
    if (!(in_range(e) & Tracker::named_by(r.flags, e) & on_wire))
      return answer(Tracker::reject(r.flags, Cause::stale_sent), e);
    return apply(slot, r.flags, r, Tracker::on_sent(r, e), e);
  }

  [[gnu::always_inline]] inline Action on_received(const Event& e) {
    const auto search = Matcher::search(memory_, e.hash(), e.cursor());
    const uint32_t entry = Matcher::first(search), slot = Matcher::slot_of(search, entry);
    const SlotRecord r = load(slot);
    const bool candidate = search.candidates != 0, same_tid = candidate & (r.tid == e.tid());
    const Cause mismatch = Tracker::mismatch(r, e);
    if (same_tid & (mismatch == Cause::none)) return apply(slot, r.flags, r, Tracker::on_response(r), e);

    // Another send's entry: look further, and remember why the nearest one did not fit.
    const Cause known = same_tid ? mismatch : e.cause();
    const bool again = (search.candidates & ~(1u << entry)) != 0;
    Verdict v;
    v.action = again ? ActionKind::none : e.rmpp() ? ActionKind::deliver : ActionKind::drop;
    v.cause = (again | (known != Cause::none)) ? known : Cause::stale;
    Action a = answer(v, e);
    a.again(again);
    a.cursor(static_cast<uint16_t>(e.cursor() | (1u << entry)));
    return a;
  }

  [[gnu::always_inline]] inline Action on_grant(const Event& e) {
    if (Retries::empty(memory_, e.qp())) return refuse_grant(answer(Verdict{}, e), e);
    const uint32_t slot = Retries::head(memory_, e.qp());
    SlotRecord r = load(slot);
    const bool due = r.flags.state() == SlotState::retry, ours = due & (r.flags.qp() == e.qp());
    const bool hashed = (e.cursor() != 0) & (e.tid() == r.tid);
    if (ours & r.flags.expects() & !r.flags.placed() & !hashed) return come_again(slot, r, e, kHashed);

    SlotFlags old = r.flags;
    old.linked(false);
    r.flags = old;
    Action a;
    if (ours) {
      a = take_turn(slot, old, r, e, e.hash(), e.cursor());
    } else {
      // Over since, or a send of the other QP has the slot now: it goes where it belongs.
      Verdict v;
      v.flags = old;
      v.enqueue = due;
      a = refuse_grant(apply(slot, old, r, v, e), e);
    }
    // A turn that comes again must find its entry at the head again.
    if (!a.again()) Retries::pop(memory_, e.qp(), old);
    return a;
  }

  /// cancel, modify, deadline: they name a send that may still be in its lane.
  [[gnu::always_inline]] inline Action on_command(const Event& e) {
    const uint32_t slot = e.slot() & kSlotMask;
    SlotRecord r = load(slot);
    if (!(in_range(e) & Tracker::named_by(r.flags, e)))
      return answer(Tracker::reject(r.flags, Cause::stale_command), e);
    if (Tracker::is_free(r.flags)) {
      r.owner.agent(e.agent());
      memory_.owner(slot, r.owner.w0);
    }
    switch (e.kind()) {
      case EventKind::modify:
        r.place.override_wait(e.timeout());
        memory_.place(slot, r.place.w0);
        return apply(slot, r.flags, r, Tracker::on_modify(r, e), e);
      case EventKind::deadline: {
        const Verdict v = Tracker::on_deadline(r, e);
        r.limits.deadline(Tracker::deadline_of(r, e));
        memory_.limits(slot, r.limits.w0);
        return apply(slot, r.flags, r, v, e);
      }
      default: return apply(slot, r.flags, r, Tracker::on_cancel(r), e);
    }
  }

  /// Looks at four slots from the cursor on and ends the first send of the agent; `again` until all were seen.
  [[gnu::always_inline]] inline Action on_flush(const Event& e) {
    const uint32_t from = e.cursor();
    const bool hit0 = owned(from, e), hit1 = owned(from + 1u, e), hit2 = owned(from + 2u, e), hit3 = owned(from + 3u, e);
    const uint32_t passed = hit0 ? 0u : hit1 ? 1u : hit2 ? 2u : 3u;
    const uint32_t slot = (from + passed) & kSlotMask, next = from + passed + 1u;
    const SlotRecord r = load(slot);
    const Verdict v = Tracker::on_cancel(r);
    Action a = (hit0 | hit1 | hit2 | hit3) ? apply(slot, r.flags, r, v, e) : answer(Verdict{}, e);
    a.again(next < Config::kSlots);
    a.cursor(static_cast<uint16_t>(next & kSlotMask));
    a.agent(e.agent());
    return a;
  }

  [[gnu::always_inline]] inline Action on_tick(const Event& e) {
    const auto step = Wheel::step(memory_, e.now());
    if (!step.fired) return answer(Verdict{}, e);
    SlotRecord r = load(step.slot);
    r.flags.armed(false);
    const Verdict v = Tracker::on_expiry(r, e.now());
    if (v.enqueue) memory_.pace(step.slot, Tracker::next_pace(r.pace).w0);
    return apply(step.slot, r.flags, r, v, e);
  }

  /// Carries a verdict out. `r` is the record as loaded or admitted, `old` the flags in memory.
  [[gnu::always_inline]] inline Action apply(uint32_t slot, const SlotFlags& old, const SlotRecord& r, const Verdict& v,
                                             const Event& e) {
    if (old.armed() & (v.release | v.disarm | v.arm)) Wheel::disarm(memory_, slot);
    if (v.arm) Wheel::arm(memory_, slot, v.due);
    if (v.release & old.placed()) Matcher::remove(memory_, r.place.location());
    SlotFlags next = v.flags;
    next.armed(v.arm | (old.armed() & !v.disarm));
    bool queued = false;
    if (v.enqueue) queued = Retries::push(memory_, slot, next);
    if (v.release) {
      next = SlotFlags{};
      next.generation(static_cast<uint16_t>(r.flags.generation() + 1u));
      next.linked(old.linked());
      next.linked_qp(old.linked_qp());
    }
    memory_.flags(slot, next.w0);

    Action a;
    a.slot(static_cast<uint16_t>(slot));
    a.generation(r.flags.generation());
    a.agent(r.owner.agent());
    a.tid(r.tid);
    a.lane(r.owner.lane());
    a.port(r.owner.port());
    a.qp(r.flags.qp());
    a.tries(v.action == ActionKind::transmit ? v.flags.tries() : r.flags.tries());
    a.retry_queued(queued);
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
  [[gnu::always_inline]] static void outcome(Action& a, const Verdict& v, const Event& e) {
    a.kind(v.action);
    a.status(v.status);
    a.cause(v.cause);
    a.window_credit(v.window_credit);
    a.buffer(e.buffer());
    a.vendor(e.vendor());
  }

  /// The grant behind a descriptor or a retry was not used: its wire credit goes back (draining took none).
  [[gnu::always_inline]] static Action refuse_grant(Action a, const Event& e) {
    a.wire_credit(!e.drain());
    a.credit_qp(e.qp());
    return a;
  }

  [[gnu::always_inline]] static Action come_again(uint32_t slot, const SlotRecord& r, const Event& e, uint32_t cursor) {
    Action a = answer(Verdict{}, e);
    a.slot(static_cast<uint16_t>(slot));
    a.generation(r.flags.generation());
    a.tid(r.tid);
    a.again(true);
    a.cursor(static_cast<uint16_t>(cursor));
    return a;
  }

  [[gnu::always_inline]] static bool in_range(const Event& e) { return e.slot() < Config::kSlots; }
  [[gnu::always_inline]] inline SlotFlags flags(uint32_t slot) const {
    SlotFlags f;
    f.w0 = memory_.flags(slot);
    return f;
  }
  [[gnu::always_inline]] inline bool owned(uint32_t slot, const Event& e) const {
    SlotOwner owner;
    owner.w0 = memory_.owner(slot & kSlotMask);
    return (slot < Config::kSlots) & !Tracker::is_free(flags(slot & kSlotMask)) & (owner.agent() == e.agent());
  }
  [[gnu::always_inline]] inline SlotRecord load(uint32_t slot) const {
    SlotRecord r;
    r.flags.w0 = memory_.flags(slot);
    r.owner.w0 = memory_.owner(slot);
    r.tid = memory_.tid(slot);
    r.pace.w0 = memory_.pace(slot);
    r.limits.w0 = memory_.limits(slot);
    r.place.w0 = memory_.place(slot);
    r.due = memory_.due(slot);
    return r;
  }
  /// Everything but the flags, which apply() writes.
  [[gnu::always_inline]] inline void store(uint32_t slot, const SlotRecord& r) {
    memory_.owner(slot, r.owner.w0);
    memory_.tid(slot, r.tid);
    memory_.pace(slot, r.pace.w0);
    memory_.limits(slot, r.limits.w0);
    memory_.place(slot, r.place.w0);
  }

  Memory memory_;
};

}  // namespace tidemill::hls
