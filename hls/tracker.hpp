// SPDX-License-Identifier: Apache-2.0
/// Tracker: what becomes of a send. Pure functions from the record of a slot and an event to a verdict; the bank loads
/// the record, applies the verdict and answers. No memory here, so every rule of a send's life can be read and tested
/// as a table.
///
/// States: free, queued (named before its descriptor came), sending (on the wire), waiting (timer runs), retry (in the
/// retry queue), early (response before sent), cancelled (while sending). A send is named by slot and generation: the
/// generation of a free slot is the next one it accepts, so whatever carries another one is stale.
#pragma once
#include "tidemill/abi.hpp"

namespace tidemill::hls {

using abi::ActionKind;
using abi::Cause;
using abi::Event;
using abi::SlotFlags;
using abi::SlotLimits;
using abi::SlotOwner;
using abi::SlotPace;
using abi::SlotPlace;
using abi::SlotState;
using abi::Status;

/// Everything the tracker knows of one slot.
struct SlotRecord {
  SlotFlags flags;
  SlotOwner owner;
  uint64_t tid = 0;
  SlotPace pace;
  SlotLimits limits;
  SlotPlace place;
  uint32_t due = 0;  ///< Of the timeout wheel, valid while armed.
};

/// What is to be done. `flags` is the next state unless `release`, which frees the slot.
struct Verdict {
  ActionKind action = ActionKind::none;
  Status status = Status::success;
  Cause cause = Cause::none;
  SlotFlags flags;
  bool release = false;        ///< Disarm, leave the matcher, next generation.
  bool arm = false;            ///< (Re-)arm to fire at `due`.
  bool disarm = false;
  bool enqueue = false;        ///< Into the retry queue of its QP.
  bool window_credit = false;  ///< A window slot comes back.
  uint32_t due = 0;
};

struct Tracker {
  /// Longest wait; ticks are compared modulo 2^32.
  static constexpr uint32_t kMaxTicks = 1u << 30;
  static constexpr uint8_t kDirectedRouteClass = 0x81;

  /// First tick that is surely `ticks` after any moment of tick `now`: a timer is never early.
  [[gnu::always_inline]] static constexpr uint32_t after(uint32_t now, uint32_t ticks) {
    return now + (ticks < kMaxTicks ? ticks : kMaxTicks) + 1u;
  }
  [[gnu::always_inline]] static constexpr bool reached(uint32_t now, uint32_t tick) {
    return static_cast<int32_t>(now - tick) >= 0;
  }
  [[gnu::always_inline]] static constexpr uint32_t earlier(uint32_t a, uint32_t b) {
    return static_cast<int32_t>(a - b) < 0 ? a : b;
  }

  [[gnu::always_inline]] static bool named_by(const SlotFlags& f, const Event& e) {
    return f.generation() == e.generation();
  }
  [[gnu::always_inline]] static bool is_free(const SlotFlags& f) { return f.state() == SlotState::free; }
  /// May still be answered, and so owns its TID.
  [[gnu::always_inline]] static bool is_live(const SlotFlags& f) {
    return (f.state() == SlotState::sending) | (f.state() == SlotState::waiting) | (f.state() == SlotState::retry);
  }

  [[gnu::always_inline]] static Verdict reject(const SlotFlags& f, Cause cause) {
    Verdict v;
    v.action = ActionKind::reject;
    v.cause = cause;
    v.flags = f;
    return v;
  }
  [[gnu::always_inline]] static Verdict complete(const SlotFlags& f, Status status) {
    Verdict v;
    v.action = ActionKind::complete;
    v.status = status;
    v.flags = f;
    v.release = true;
    v.window_credit = f.counted();
    return v;
  }

  /// The record of an arriving descriptor. What commands left in a queued slot stays: its deadline, its modified wait.
  [[gnu::always_inline]] static SlotRecord admit(const SlotRecord& old, const Event& e) {
    SlotRecord r;
    r.flags.state(old.flags.state());
    r.flags.modified(old.flags.modified());
    r.flags.armed(old.flags.armed());
    r.flags.linked(old.flags.linked());
    r.flags.generation(e.generation());
    r.flags.mgmt_class(e.mgmt_class());
    r.flags.retries(e.retries());
    r.flags.qp(e.qp());
    r.flags.grh(e.grh());
    r.flags.match_source(e.match_source());
    r.flags.counted(e.counted());
    r.flags.expects(e.timeout() != 0);
    r.flags.timed(old.flags.timed() | (e.deadline() != 0));
    r.owner.agent(e.agent());
    r.owner.lane(e.lane());
    r.owner.own_address(e.own_address());
    r.owner.port(e.port());
    r.tid = e.tid();
    r.pace.try_wait(e.timeout());
    r.pace.cap(e.backoff_cap());
    r.limits.deadline(old.flags.timed() ? old.limits.deadline() : after(e.now(), e.deadline()));
    r.limits.peer(e.peer());
    r.place.override_wait(old.place.override_wait());
    return r;
  }

  /// The turn of a send has come, by its descriptor or by the retry lane: to the wire, or is it over already?
  [[gnu::always_inline]] static Verdict on_turn(const SlotRecord& r, const Event& e) {
    const bool late = r.flags.timed() & reached(e.now(), r.limits.deadline());
    Verdict v = complete(r.flags, e.drain() ? Status::flushed : Status::deadline);
    if (e.drain() | late) return v;
    v.action = ActionKind::transmit;
    v.release = v.window_credit = false;
    v.flags.state(SlotState::sending);
    v.flags.tries(static_cast<uint8_t>(r.flags.tries() + (r.flags.tries() != 0xffu ? 1u : 0u)));  // 256 tries count 255
    v.disarm = true;
    return v;
  }

  /// The TID matcher has no room: wait in the retry queue, and try to enter it with the next grant.
  [[gnu::always_inline]] static Verdict on_no_room(const SlotRecord& r) {
    return requeue(r, r.flags);
  }

  /// The wire reports a try of a slot in state sending, early or cancelled.
  [[gnu::always_inline]] static Verdict on_sent(const SlotRecord& r, const Event& e) {
    const bool failed = e.status() != Status::success, flushed = e.status() == Status::flushed;
    if ((r.flags.state() == SlotState::sending) & !failed & r.flags.expects()) {
      Verdict v;
      v.flags = r.flags;
      v.flags.state(SlotState::waiting);
      v.flags.left(true);
      v.flags.modified(false);
      const uint32_t due = after(e.now(), r.flags.modified() ? r.place.override_wait() : r.pace.try_wait());
      v.due = r.flags.timed() ? earlier(due, r.limits.deadline()) : due;
      v.arm = true;
      return v;
    }
    if ((r.flags.state() == SlotState::sending) & flushed & (e.recovery() != 0) & (e.recovery() != r.flags.recovery())) {
      SlotFlags f = r.flags;
      f.recovery(e.recovery());
      f.tries(static_cast<uint8_t>(f.tries() - 1u));  // this try never left; the next grant starts it again
      return requeue(r, f);
    }
    const Status wire = flushed ? Status::flushed : failed ? Status::error : Status::success;
    const Status early = flushed ? Status::success : wire;
    return complete(r.flags, r.flags.state() == SlotState::cancelled ? Status::flushed
                           : r.flags.state() == SlotState::early     ? early
                                                                     : wire);
  }

  /// Why a response with the TID of this slot is not its response; none if it is (the match rule).
  [[gnu::always_inline]] static Cause mismatch(const SlotRecord& r, const Event& e) {
    const SlotState state = r.flags.state();
    const bool address = (r.flags.grh() == e.grh()) & (r.owner.own_address() == e.own_address()) &
                         (!r.flags.match_source() | (r.limits.peer() == e.peer()));
    const bool routed = e.mgmt_class() == kDirectedRouteClass;
    return (r.flags.mgmt_class() != e.mgmt_class())                    ? Cause::wrong_class
         : ((r.owner.port() != e.port()) | (r.flags.qp() != e.qp()))   ? Cause::wrong_port
         : (!routed & !address)                                        ? Cause::wrong_address
         : (state == SlotState::early)                                 ? Cause::duplicate
         : (state == SlotState::cancelled)                             ? Cause::cancelled
         : ((state == SlotState::retry) & !r.flags.left())             ? Cause::never_sent
                                                                       : Cause::none;
  }

  /// A response that matches a slot in state sending, waiting or retry.
  [[gnu::always_inline]] static Verdict on_response(const SlotRecord& r) {
    Verdict v = complete(r.flags, Status::success);
    const bool early = r.flags.state() == SlotState::sending;
    v.action = early ? ActionKind::respond : ActionKind::respond_complete;
    v.release = !early;
    v.flags.state(SlotState::early);
    v.flags.counted(false);
    return v;
  }

  [[gnu::always_inline]] static Verdict on_cancel(const SlotRecord& r) {
    const SlotState state = r.flags.state();
    if ((state == SlotState::early) | (state == SlotState::cancelled)) {
      Verdict v;
      v.flags = r.flags;
      return v;
    }
    Verdict v = complete(r.flags, Status::flushed);
    if (state == SlotState::sending) {
      v.action = ActionKind::none;
      v.release = false;
      v.flags.state(SlotState::cancelled);
      v.flags.counted(false);
    }
    return v;
  }

  /// modify: the pending or current wait only. The caller writes `override_wait`.
  [[gnu::always_inline]] static Verdict on_modify(const SlotRecord& r, const Event& e) {
    const SlotState state = r.flags.state();
    if ((is_live(r.flags) & !r.flags.expects()) | (state == SlotState::early) | (state == SlotState::cancelled))
      return reject(r.flags, Cause::not_waiting);
    Verdict v;
    v.flags = r.flags;
    const uint32_t due = after(e.now(), e.timeout());
    v.due = r.flags.timed() ? earlier(due, r.limits.deadline()) : due;
    v.arm = state == SlotState::waiting;
    v.flags.modified(!v.arm);
    v.flags.state(is_free(r.flags) ? SlotState::queued : state);
    return v;
  }

  /// deadline: also watched in lanes and in the retry queue. Announced again, it can only come nearer.
  /// The caller writes deadline_of() to `limits.deadline`.
  [[gnu::always_inline]] static uint32_t deadline_of(const SlotRecord& r, const Event& e) {
    const uint32_t deadline = after(e.now(), e.deadline());
    return r.flags.timed() ? earlier(deadline, r.limits.deadline()) : deadline;
  }
  [[gnu::always_inline]] static Verdict on_deadline(const SlotRecord& r, const Event& e) {
    const SlotState state = r.flags.state();
    if ((state == SlotState::early) | (state == SlotState::cancelled)) return reject(r.flags, Cause::not_waiting);
    Verdict v;
    v.flags = r.flags;
    v.flags.timed(true);
    v.flags.state(is_free(r.flags) ? SlotState::queued : state);
    v.due = deadline_of(r, e);
    v.arm = state != SlotState::sending;
    v.due = (state == SlotState::waiting) ? earlier(v.due, r.due) : v.due;
    return v;
  }

  /// The timer of a slot in state queued, waiting or retry fired (and is disarmed).
  [[gnu::always_inline]] static Verdict on_expiry(const SlotRecord& r, uint32_t now) {
    if (r.flags.timed() & reached(now, r.limits.deadline())) return complete(r.flags, Status::deadline);
    if (r.flags.retries() == 0) return complete(r.flags, Status::timeout);
    SlotFlags f = r.flags;
    f.retries(static_cast<uint8_t>(f.retries() - 1u));
    return requeue(r, f);
  }
  /// The wait of the try after an expiry: linear, or doubled up to the cap.
  [[gnu::always_inline]] static SlotPace next_pace(const SlotPace& p) {
    SlotPace n = p;
    const uint32_t doubled = p.try_wait() < kMaxTicks ? p.try_wait() << 1 : p.try_wait();
    const uint32_t capped = doubled < p.cap() ? doubled : p.cap();
    n.try_wait(p.cap() == 0 ? p.try_wait() : capped > p.try_wait() ? capped : p.try_wait());
    return n;
  }

  /// A slot after its send; it may still stand in a retry queue.
  [[gnu::always_inline]] static SlotFlags freed(const SlotFlags& f) {
    SlotFlags next;
    next.generation(static_cast<uint16_t>(f.generation() + 1u));
    next.linked(f.linked());
    return next;
  }

 private:
  [[gnu::always_inline]] static Verdict requeue(const SlotRecord& r, const SlotFlags& f) {
    Verdict v;
    v.flags = f;
    v.flags.state(SlotState::retry);
    v.enqueue = true;
    v.arm = f.timed();
    v.due = r.limits.deadline();
    return v;
  }
};

}  // namespace tidemill::hls
