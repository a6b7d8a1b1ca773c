// SPDX-License-Identifier: Apache-2.0
/// Bank: tracker, TID matcher, timeout wheel and retry queue over its own slots. One event in, one action out, nothing
/// shared with other banks, so the whole fate of a send is decided in one place and one order.
///
/// Every event goes the same way: pick the slot, load its record, ask the tracker for a verdict, carry it out. The three
/// events of a transaction (descriptor, sent, received) have a straight line each, all the rest shares one.
/// Work of unknown length comes in steps: an action with `again` asks for the same event once more with the action's
/// `cursor` and `cause` (and a hash of the action's TID); `more` and `wake` tell when a tick step is needed.
/// Cycles of each event: cycle_table.hpp. Rules: design policies 1-8, docs/engine/bank.md.
#pragma once
#include "bank_answer.hpp"
#include "rare.hpp"
#include "retry_queue.hpp"
#include "slot_table.hpp"
#include "tid_matcher.hpp"
#include "timeout_wheel.hpp"
#include "tracker.hpp"

namespace tidemill::hls {

using abi::EventKind;

template <class Memory>
class Bank {
 public:
  using Config = typename Memory::Config;

  [[gnu::always_inline]] inline Action step(const Event& e) {
    Action a;
    bool answered = false;
    if (e.kind() == EventKind::descriptor) answered = descriptor(e, a);
    if (e.kind() == EventKind::sent) answered = sent(e, a);
    if (e.kind() == EventKind::received) answered = received(e, a);
    if (e.kind() == EventKind::tick) answered = fired(e, a);
    a.straight(answered);
    if (!answered) a = rest(e);
    a.wake(memory_.wake());
    a.more(Tracker::reached(e.now(), memory_.wake()));
    return a;
  }

  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }

 private:
  using Answer = BankAnswer;
  using Matcher = TidMatcher<Memory>;
  using Wheel = TimeoutWheel<Memory>;
  using Retries = RetryQueue<Memory>;
  using Slots = SlotTable<Memory>;
  static constexpr uint32_t kSlotMask = Config::kSlots - 1u;
  /// Cursor of a grant that comes again with the hash of the head's TID.
  static constexpr uint32_t kHashed = 0x8000u;

  /// Straight line: a new send, with nobody in its way in the matcher, is transmitted.
  [[gnu::always_inline]] inline bool descriptor(const Event& e, Action& a) {
    const uint32_t slot = e.slot() & kSlotMask;
    const auto search = Matcher::search(memory_, e.hash(), e.cursor());
    const SlotRecord before = Slots::load(memory_, slot);
    const SlotFlags old = before.flags;
    const bool named = in_range(e) & Tracker::named_by(old, e) &
                       (Tracker::is_free(old) | (old.state() == SlotState::queued));
    if (!named) {
      a = Answer::answer(Tracker::reject(old, Cause::stale_descriptor), e);
      a.window_credit(e.counted());
      Answer::refuse_grant(a, e);
      return true;
    }
    SlotRecord r = Tracker::admit(before, e);
    const Verdict v = Tracker::on_turn(r, e);
    const uint32_t where = Matcher::vacancy(search);
    const bool enters = r.flags.expects(), room = (search.candidates == 0) & (where != Matcher::kFull);
    if (v.release | (enters & !room) | old.armed()) return false;
    Matcher::put_searched_if(memory_, enters, search, where, Matcher::entry_of(e.hash(), slot));
    r.place.location(enters ? where : 0u);
    SlotFlags next = v.flags;
    next.placed(enters);
    Slots::store(memory_, slot, r, next);
    a = Answer::about(slot, r, v, e);
    return true;
  }

  /// Straight line: a try has left and waits for its response.
  [[gnu::always_inline]] inline bool sent(const Event& e, Action& a) {
    const uint32_t slot = e.slot() & kSlotMask;
    const SlotRecord r = Slots::load(memory_, slot);
    const SlotState state = r.flags.state();
    const bool on_wire = (state == SlotState::sending) | (state == SlotState::early) | (state == SlotState::cancelled);
    if (!(in_range(e) & Tracker::named_by(r.flags, e) & on_wire)) {
      a = Answer::answer(Tracker::reject(r.flags, Cause::stale_sent), e);
      return true;
    }
    const Verdict v = Tracker::on_sent(r, e);
    const bool waits = v.flags.state() == SlotState::waiting;
    if (waits) {
      Wheel::arm(memory_, slot, v.due);
      SlotFlags next = v.flags;
      next.armed(true);
      memory_.flags(slot, next.w0);
      a = Answer::about(slot, r, v, e);
      return true;
    }
    if (!v.release | r.flags.placed() | r.flags.armed()) return false;
    memory_.flags(slot, Tracker::freed(r.flags).w0);  // it expected no response: no timer, no entry in the matcher
    a = Answer::about(slot, r, v, e);
    return true;
  }

  /// Straight line for every response: it matches, or says why not.
  [[gnu::always_inline]] inline bool received(const Event& e, Action& a) {
    const auto search = Matcher::search(memory_, e.hash(), e.cursor());
    const uint32_t entry = Matcher::first(search), slot = Matcher::slot_of(search, entry);
    const SlotRecord r = Slots::load(memory_, slot);
    const auto timer = Wheel::neighbours(memory_, slot);
    const bool candidate = search.candidates != 0, same_tid = candidate & (r.tid == e.tid());
    const Cause mismatch = Tracker::mismatch(r, e);
    if (!(same_tid & (mismatch == Cause::none))) {
      // Another send's entry: look further, and remember why the nearest one did not fit.
      const Cause known = same_tid ? mismatch : e.cause();
      const bool again = (search.candidates & ~(1u << entry)) != 0;
      Verdict v;
      v.action = again ? ActionKind::none : e.rmpp() ? ActionKind::deliver : ActionKind::drop;
      v.cause = (again | (known != Cause::none)) ? known : Cause::stale;
      a = Answer::answer(v, e);
      a.again(again);
      a.cursor(static_cast<uint16_t>(e.cursor() | (1u << entry)));
      return true;
    }
    const Verdict v = Tracker::on_response(r);
    Wheel::disarm_if(memory_, v.release & r.flags.armed(), timer);
    Matcher::put_searched_if(memory_, v.release, search, Matcher::location_of(search, entry), 0);
    memory_.flags(slot, v.release ? Tracker::freed(r.flags).w0 : v.flags.w0);
    a = Answer::about(slot, r, v, e);
    return true;
  }

  /// Straight line: a timer fires; its send is over, or waits for its next try.
  [[gnu::always_inline]] inline bool fired(const Event& e, Action& a) {
    const auto expired = Wheel::expired(memory_);
    const uint32_t slot = expired.slot & kSlotMask;
    const SlotRecord r = Slots::load(memory_, slot);
    const auto timer = Wheel::neighbours(memory_, slot);
    const Verdict v = Tracker::on_expiry(r, e.now());
    if (!expired.fired | v.arm) return false;
    Wheel::disarm_if(memory_, true, timer);
    Matcher::put_if(memory_, v.release & r.flags.placed(), r.place.location(), 0);
    SlotFlags next = v.flags;
    next.armed(false);
    const bool queued = Retries::push_if(memory_, v.enqueue, slot, next);
    memory_.flags(slot, v.release ? Tracker::freed(r.flags).w0 : next.w0);
    memory_.pace(slot, v.enqueue ? Tracker::next_pace(r.pace).w0 : r.pace.w0);
    memory_.wake(memory_.wheel_now());
    a = Answer::about(slot, r, v, e);
    a.retry_queued(queued);
    return true;
  }

  /// What an event that no straight line answers is about.
  struct Case {
    uint32_t slot = 0;
    SlotRecord r;       ///< As loaded or admitted, with what the event itself changes.
    SlotFlags old;      ///< As in memory, but for a queue entry that is taken out already.
    typename Wheel::List::Neighbours timer{};  ///< Where it stands in the wheel, while armed.
    bool ours = false;  ///< A grant: the head waits for its turn in this QP's queue.
    typename Matcher::Search search{};  ///< Of a descriptor or grant.
    bool enters = false;                ///< Into the matcher, at `r.place.location`.
    bool again = false;
    uint32_t cursor = 0;  ///< With `again`.
  };

  /// All that is not straight: pick the slot, load its record, ask for a verdict, carry it out.
  TIDEMILL_RARE Action rest(Event e) {
    Case c;
    Action a;
    const bool answered = e.kind() == EventKind::grant   ? grant(e, c, a)
                          : e.kind() == EventKind::flush ? flush(e, c, a)
                          : e.kind() == EventKind::tick  ? tick(e, c, a)
                                                         : named(e, c, a);
    if (answered) {
      a.straight(e.kind() != EventKind::tick);
      return a;
    }
    const Verdict v = judge(e, c);
    return c.again ? Answer::come_again(c.slot, c.r, e, c.cursor) : carry_out(e, c, v);
  }

  [[gnu::always_inline]] inline void load(Case& c, uint32_t slot) const {
    c.slot = slot;
    c.r = Slots::load(memory_, slot);
    c.old = c.r.flags;
    c.timer = Wheel::neighbours(memory_, slot);
  }

  // Each of these loads what its event is about; true if that has given the answer already.

  /// The head of a retry queue; its TID's hash comes with the second step.
  [[gnu::always_inline]] inline bool grant(const Event& e, Case& c, Action& a) {
    if (Retries::empty(memory_, e.qp())) {
      a = Answer::answer(Verdict{}, e);
      Answer::refuse_grant(a, e);
      return true;
    }
    c.slot = Retries::head(memory_, e.qp());
    c.search = Matcher::search(memory_, e.hash(), e.cursor());
    load(c, c.slot);
    c.ours = (c.r.flags.state() == SlotState::retry) & (c.r.flags.qp() == e.qp());
    const bool hashed = (e.cursor() != 0) & (e.tid() == c.r.tid);
    Retries::unlink(c.r.flags, e.qp());
    c.old = c.r.flags;
    if (c.ours & c.r.flags.expects() & !c.r.flags.placed() & !hashed) {
      c.cursor = kHashed;
      a = Answer::come_again(c.slot, c.r, e, c.cursor);
      return true;
    }
    return false;
  }

  /// Looks at four slots from the cursor on and ends the first send of the agent; `again` until all were seen.
  [[gnu::always_inline]] inline bool flush(const Event& e, Case& c, Action& a) {
    const uint32_t from = e.cursor();
    const bool hit0 = Slots::owned(memory_, from, e.agent()), hit1 = Slots::owned(memory_, from + 1u, e.agent()),
               hit2 = Slots::owned(memory_, from + 2u, e.agent()), hit3 = Slots::owned(memory_, from + 3u, e.agent());
    const uint32_t passed = hit0 ? 0u : hit1 ? 1u : hit2 ? 2u : 3u;
    c.slot = (from + passed) & kSlotMask;
    if (hit0 | hit1 | hit2 | hit3) {
      load(c, c.slot);
      return false;
    }
    a = Answer::answer(Verdict{}, e);
    Answer::flush_from(a, from + passed + 1u, Config::kSlots);
    return true;
  }

  [[gnu::always_inline]] inline bool tick(const Event& e, Case& c, Action& a) {
    const auto expired = Wheel::expired(memory_);
    if (!expired.fired) {
      Wheel::advance(memory_, e.now());
      a = Answer::answer(Verdict{}, e);
      return true;
    }
    memory_.wake(memory_.wheel_now());
    load(c, expired.slot);
    return false;
  }

  /// Events that name a slot: what the straight lines left over, and commands for a send that may still be in its lane.
  [[gnu::always_inline]] inline bool named(const Event& e, Case& c, Action& a) {
    load(c, e.slot() & kSlotMask);
    if (e.kind() == EventKind::sent) return false;
    if (e.kind() == EventKind::descriptor) {
      c.search = Matcher::search(memory_, e.hash(), e.cursor());
      c.r = Tracker::admit(c.r, e);
      return false;
    }
    c.r.owner.agent(Tracker::is_free(c.old) ? e.agent() : c.r.owner.agent());
    if (in_range(e) & Tracker::named_by(c.old, e)) return false;
    a = Answer::answer(Tracker::reject(c.old, Cause::stale_command), e);
    return true;
  }

  [[gnu::always_inline]] inline Verdict judge(const Event& e, Case& c) const {
    Verdict v;
    switch (e.kind()) {
      case EventKind::descriptor:
      case EventKind::grant: return turn(e, c);
      case EventKind::sent: return Tracker::on_sent(c.r, e);
      case EventKind::modify:
        v = Tracker::on_modify(c.r, e);
        c.r.place.override_wait(e.timeout());
        return v;
      case EventKind::deadline:
        v = Tracker::on_deadline(c.r, e);
        c.r.limits.deadline(Tracker::deadline_of(c.r, e));
        return v;
      case EventKind::tick:
        v = Tracker::on_expiry(c.r, e.now());
        v.disarm = true;
        c.r.pace = v.enqueue ? Tracker::next_pace(c.r.pace) : c.r.pace;
        return v;
      default: return Tracker::on_cancel(c.r);
    }
  }

  /// The turn of a first or later try: enter the matcher unless there already, then transmit.
  [[gnu::always_inline]] inline Verdict turn(const Event& e, Case& c) const {
    Verdict v;
    if (!c.ours & (e.kind() == EventKind::grant)) {
      v.flags = c.old;  // over since; a send of the other QP stands in that one's queue, if it waits for a try
      return v;
    }
    v = Tracker::on_turn(c.r, e);
    if (v.release | !c.r.flags.expects() | c.r.flags.placed()) return v;
    const uint32_t where = Matcher::vacancy(c.search);
    if (c.search.candidates != 0) {
      const uint32_t entry = Matcher::first(c.search), other = Matcher::slot_of(c.search, entry);
      const SlotFlags f = Slots::flags(memory_, other);
      c.again = !((memory_.tid(other) == c.r.tid) & (f.mgmt_class() == c.r.flags.mgmt_class()) & Tracker::is_live(f));
      c.cursor = e.cursor() | (1u << entry);
      return Tracker::complete(c.r.flags, Status::duplicate);
    }
    if (where == Matcher::kFull) return Tracker::on_no_room(c.r);
    c.enters = true;
    c.r.place.location(where);
    v.flags.placed(true);
    return v;
  }

  /// The one path of every event that is not straight.
  [[gnu::always_inline]] inline Action carry_out(const Event& e, const Case& c, const Verdict& v) {
    const bool turn = (e.kind() == EventKind::descriptor) | (e.kind() == EventKind::grant);
    // What is seldom wanted is jumped over here: each of these takes its turn at the links, and not all can be wanted.
    const bool leaves = v.release & c.old.placed();
    if (c.enters | leaves) Matcher::put_if(memory_, true, c.r.place.location(), leaves ? 0u : Matcher::entry_of(e.hash(), c.slot));
    if (e.kind() == EventKind::grant) Retries::pop_if(memory_, true, e.qp());
    if (c.old.armed() & (v.release | v.disarm | v.arm)) Wheel::disarm_if(memory_, true, c.timer);
    if (v.arm) Wheel::arm(memory_, c.slot, v.due);
    SlotFlags next = v.flags;
    next.armed(v.arm | (c.old.armed() & !v.disarm));
    bool queued = false;
    if (v.enqueue) queued = Retries::push(memory_, c.slot, next);
    next.w0 = v.release ? Tracker::freed(c.old).w0 : next.w0;
    Slots::store(memory_, c.slot, c.r, next);

    Action a = Answer::about(c.slot, c.r, v, e);
    a.retry_queued(queued);
    if (turn & (v.action != ActionKind::transmit)) Answer::refuse_grant(a, e);
    if (e.kind() == EventKind::flush) Answer::flush_from(a, c.slot + 1u, Config::kSlots);
    return a;
  }

  [[gnu::always_inline]] static bool in_range(const Event& e) { return e.slot() < Config::kSlots; }

  Memory memory_;
};

}  // namespace tidemill::hls
