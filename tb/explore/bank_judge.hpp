// SPDX-License-Identifier: Apache-2.0
/// Judges one answer of a bank: what the policies let it say, given what the environment knows, and what the
/// environment knows afterwards.
#pragma once
#include <span>

#include "bank_invariants.hpp"
#include "explorer.hpp"
#include "hls/bank.hpp"
#include "hls/bank_memory.hpp"
#include "shadow.hpp"

namespace tidemill::explore {

using abi::ActionKind;
using abi::Cause;
using abi::EventKind;
using abi::SlotState;
using abi::Status;
using Stage = ShadowSend::Stage;

template <class Memory_>
class BankJudge {
 public:
  using Memory = Memory_;
  using Config = typename Memory::Config;
  using Ghost = Shadow<Config::kSlots>;
  using Hash = uint64_t (*)(uint64_t tid);

  BankJudge(std::span<const Send> sends, Hash hash, const Memory& before, const Memory& after, Ghost& shadow)
      : sends_(sends), hash_(hash), before_(before), after_(after), shadow_(shadow) {}

  /// `e` as first issued, `a` the last action, `send` what a descriptor carries.
  Edge judge(const abi::Event& e, const abi::Action& a, uint8_t send) {
    switch (e.kind()) {
      case EventKind::descriptor:
        on_descriptor(e, send);
        break;
      case EventKind::sent:
        on_sent(e);
        break;
      case EventKind::received:
        on_received(e, a);
        break;
      case EventKind::grant:
        on_grant(e);
        break;
      case EventKind::flush:
        on_flush(e, a);
        break;
      case EventKind::tick:
        on_tick(e, a);
        break;
      default:
        on_command(e);
        break;
    }
    compare(e, a);
    for (uint32_t s = 0; s < Config::kSlots; ++s) agree(s);
    return {broken_, true, changes_nothing_};
  }

  static SlotState state_of(const ShadowSend& g) {
    switch (g.stage) {
      case Stage::idle:
        return SlotState::free;
      case Stage::queued:
        return SlotState::queued;
      case Stage::waiting:
        return SlotState::waiting;
      case Stage::retry:
        return SlotState::retry;
      case Stage::on_wire:
        break;
    }
    return g.cancelled ? SlotState::cancelled : g.answered ? SlotState::early : SlotState::sending;
  }
  static abi::SlotFlags flags(const Memory& m, uint32_t slot) {
    abi::SlotFlags f;
    f.w0 = m.flags(slot);
    return f;
  }

 private:
  using Matcher = hls::TidMatcher<Memory>;

  /// What must be answered, and the invariant that another kind of action breaks.
  struct Expected {
    ActionKind kind = ActionKind::none;
    Status status = Status::success;
    Cause cause = Cause::none;
    const char* rule = kLife;
    bool window = false;
    bool wire = false;
    bool queued = false;
    bool about_slot = false;  ///< Names `slot` as it was.
    uint32_t slot = 0;
    ShadowSend was;
    uint8_t tries = 0;
  };

  void require(bool holds, const char* rule) {
    if (!holds && broken_ == nullptr) broken_ = rule;
  }
  bool named(const abi::Event& e) { return e.slot() < Config::kSlots && e.generation() == of(e.slot()).generation; }
  ShadowSend& of(uint32_t slot) { return shadow_.sends[slot]; }
  const Send& send_of(const ShadowSend& g) const { return sends_[g.send]; }
  bool placed(uint32_t slot) const { return flags(before_, slot).placed(); }

  void about(uint32_t slot, ActionKind kind, const char* rule) {
    expected_.about_slot = true;
    expected_.slot = slot;
    expected_.was = of(slot);
    expected_.kind = kind;
    expected_.rule = rule;
    expected_.tries = of(slot).tries;
  }
  void refuse(ActionKind kind, Cause cause, const char* rule) {
    expected_.kind = kind;
    expected_.cause = cause;
    expected_.rule = rule;
    changes_nothing_ = true;
  }
  void end(uint32_t slot, Status status, const char* rule = kOneCompletion) {
    about(slot, ActionKind::complete, rule);
    expected_.status = status;
    expected_.window = of(slot).held;
    release(slot);
  }
  void release(uint32_t slot) {
    const auto next = static_cast<uint16_t>(of(slot).generation + 1);
    of(slot) = {};
    of(slot).generation = next;
  }
  void enqueue(uint32_t slot) {
    of(slot).stage = Stage::retry;
    expected_.was = of(slot);
    auto& queue = shadow_.retries[send_of(of(slot)).qp];
    if (queue.contains(slot)) return;
    queue.push(slot);
    expected_.queued = true;
  }

  void on_descriptor(const abi::Event& e, uint8_t send) {
    const uint32_t slot = e.slot() % Config::kSlots;
    ShadowSend& g = of(slot);
    expected_.wire = !e.drain();
    if (!named(e) || g.stage > Stage::queued) {
      refuse(ActionKind::reject, Cause::stale_descriptor, kStaleRejected);
      expected_.window = e.counted();
      return;
    }
    const Send& s = sends_[send];
    if (!g.timed && s.deadline != 0) g.deadline = end_of_wait(e.now(), s.deadline);
    g.timed |= s.deadline != 0;
    g.send = send;
    g.held = e.counted();
    g.retries = s.retries;
    g.wait = s.timeout;
    g.stage = Stage::retry;
    turn(slot, e);
  }

  void turn(uint32_t slot, const abi::Event& e) {
    ShadowSend& g = of(slot);
    const Send& s = send_of(g);
    expected_.wire = !e.drain();
    if (e.drain()) return end(slot, Status::flushed);
    if (g.timed && !before(e.now(), g.deadline)) return end(slot, Status::deadline);
    if (s.timeout != 0 && !placed(slot)) {
      if (has_twin(slot)) return end(slot, Status::duplicate, kUniqueTid);
      if (!has_room(s.tid())) {
        expected_.rule = kNoRoomWaits;
        return enqueue(slot);
      }
    }
    g.stage = Stage::on_wire;
    ++g.tries;
    about(slot, ActionKind::transmit, kTurn);
    expected_.wire = false;
  }
  bool has_twin(uint32_t slot) {
    const Send& s = send_of(of(slot));
    for (uint32_t o = 0; o < Config::kSlots; ++o) {
      const Send& other = send_of(of(o));
      if (o != slot && of(o).live() && placed(o) && other.tid() == s.tid() && other.mgmt_class == s.mgmt_class)
        return true;
    }
    return false;
  }
  bool has_room(uint64_t tid) const {
    const hls::Bucket rows[] = {before_.bucket(0, Matcher::row(hash_(tid), 0)),
                                before_.bucket(1, Matcher::row(hash_(tid), 1)), before_.bucket(2, 0)};
    for (const hls::Bucket& row : rows)
      for (uint32_t way = 0; way < 4; ++way)
        if (row.entry(way) == 0) return true;
    return false;
  }

  void on_sent(const abi::Event& e) {
    const uint32_t slot = e.slot() % Config::kSlots;
    ShadowSend& g = of(slot);
    if (!named(e) || g.stage != Stage::on_wire) return refuse(ActionKind::reject, Cause::stale_sent, kStaleRejected);
    const bool flushed = e.status() == Status::flushed;
    if (g.cancelled) return end(slot, Status::flushed);
    if (g.answered) return end(slot, flushed ? Status::success : e.status());
    const bool again = flushed && e.recovery() != 0 && e.recovery() != g.recovery;
    const bool waits = e.status() == Status::success && send_of(g).timeout != 0;
    if (!waits && !again) return end(slot, e.status());
    about(slot, ActionKind::none, kOneCompletion);
    if (waits) {
      g.due = end_of_wait(e.now(), g.modified ? g.override_wait : g.wait);
      if (g.timed) g.due = sooner(g.due, g.deadline);
      g.modified = false;
      g.left = true;
      g.stage = Stage::waiting;
    } else {
      g.recovery = e.recovery();
      --g.tries;
      enqueue(slot);
    }
  }

  static bool same_address(const Send& s, const abi::Event& e) {
    return s.mgmt_class == 0x81 ||
           (s.grh == e.grh() && s.own_address == e.own_address() && (!s.match_source || s.peer == e.peer()));
  }
  static bool same_place(const Send& s, const abi::Event& e) { return s.port == e.port() && s.qp == e.qp(); }
  bool answers(const abi::Event& e, const ShadowSend& g) const {
    const Send& s = send_of(g);
    return g.live() && (g.left || g.stage == Stage::on_wire) && s.timeout != 0 && s.tid() == e.tid() &&
           s.mgmt_class == e.mgmt_class() && same_place(s, e) && same_address(s, e);
  }
  Cause why_not(const abi::Event& e, const ShadowSend& g) const {
    const Send& s = send_of(g);
    return s.mgmt_class != e.mgmt_class() ? Cause::wrong_class
           : !same_place(s, e)            ? Cause::wrong_port
           : !same_address(s, e)          ? Cause::wrong_address
           : g.answered                   ? Cause::duplicate
           : g.cancelled                  ? Cause::cancelled
                                          : Cause::never_sent;
  }
  void on_received(const abi::Event& e, const abi::Action& a) {
    for (uint32_t slot = 0; slot < Config::kSlots; ++slot) {
      ShadowSend& g = of(slot);
      if (!answers(e, g)) continue;
      const bool early = g.stage == Stage::on_wire;
      about(slot, early ? ActionKind::respond : ActionKind::respond_complete, kMatchComplete);
      expected_.window = g.held;
      g.held = false;
      g.answered = true;
      if (!early) release(slot);
      return;
    }
    bool named = false, true_cause = false;
    for (uint32_t slot = 0; slot < Config::kSlots; ++slot) {
      if (!placed(slot) || send_of(of(slot)).tid() != e.tid()) continue;
      named = true;
      true_cause |= why_not(e, of(slot)) == a.cause();
    }
    refuse(e.rmpp() ? ActionKind::deliver : ActionKind::drop, a.cause(), kMatchFields);
    if (a.kind() == ActionKind::respond || a.kind() == ActionKind::respond_complete) {
      const ShadowSend& g = of(a.slot() % Config::kSlots);
      expected_.rule = g.cancelled ? kCancelledNeverMatches : g.answered ? kOneResponse : kMatchFields;
    } else {
      require(named ? true_cause : a.cause() == Cause::stale, kDropCause);
    }
  }

  void on_grant(const abi::Event& e) {
    auto& queue = shadow_.retries[e.qp()];
    expected_.wire = true;
    if (queue.count == 0) return refuse(ActionKind::none, Cause::none, kRetryLane);
    const uint32_t slot = queue.slot[0];
    queue.pop();
    if (of(slot).stage == Stage::retry && send_of(of(slot)).qp == e.qp()) turn(slot, e);
  }

  void on_command(const abi::Event& e) {
    const uint32_t slot = e.slot() % Config::kSlots;
    ShadowSend& g = of(slot);
    if (!named(e)) return refuse(ActionKind::reject, Cause::stale_command, kStaleRejected);
    if (g.stage == Stage::idle) g.agent = e.agent();
    if (e.kind() == EventKind::cancel) return cancel(slot);
    const bool awaits = g.stage <= Stage::queued || (send_of(g).timeout != 0 && !g.dead());
    const bool modify = e.kind() == EventKind::modify;
    if (modify ? !awaits : g.dead()) return refuse(ActionKind::reject, Cause::not_waiting, kLife);
    about(slot, ActionKind::none, kOneCompletion);
    if (g.stage == Stage::idle) g.stage = Stage::queued;
    if (!modify) {
      const uint32_t deadline = end_of_wait(e.now(), e.deadline());
      g.deadline = g.timed ? sooner(g.deadline, deadline) : deadline;
      g.timed = true;
      if (g.stage == Stage::waiting) g.due = sooner(g.due, g.deadline);
    } else if (g.stage == Stage::waiting) {
      g.due = end_of_wait(e.now(), e.timeout());
      if (g.timed) g.due = sooner(g.due, g.deadline);
    } else {
      g.override_wait = e.timeout();
      g.modified = true;
    }
  }
  void cancel(uint32_t slot) {
    ShadowSend& g = of(slot);
    if (g.stage != Stage::on_wire) return end(slot, Status::flushed);
    about(slot, ActionKind::none, kOneCompletion);
    if (g.dead()) {
      changes_nothing_ = true;
      return;
    }
    expected_.window = g.held;
    g.held = false;
    g.cancelled = true;
  }

  void on_flush(const abi::Event& e, const abi::Action& a) {
    uint32_t slot = e.cursor();
    const uint32_t stop = slot + 4;
    while (slot < stop && slot < Config::kSlots && !(of(slot).stage != Stage::idle && agent_of(of(slot)) == e.agent()))
      ++slot;
    const bool hit = slot < stop && slot < Config::kSlots;
    if (hit) cancel(slot);
    changes_nothing_ |= !hit;
    const uint32_t next = hit ? slot + 1 : stop;
    require(a.again() == (next < Config::kSlots) && (!a.again() || a.cursor() == next), kFlush);
    require(a.agent() == e.agent(), kNames);
    if (broken_ == nullptr && expected_.kind != a.kind()) broken_ = kFlush;
  }
  uint32_t agent_of(const ShadowSend& g) const { return g.stage > Stage::queued ? send_of(g).agent : g.agent; }

  /// Which timer fired, if any, is read off the bank: a requeued slot has no other voice.
  void on_tick(const abi::Event& e, const abi::Action& a) {
    uint32_t slot = a.kind() == ActionKind::complete ? a.slot() : Config::kSlots;
    for (uint32_t s = 0; s < Config::kSlots; ++s)
      if (of(s).stage == Stage::waiting && flags(after_, s).state() == SlotState::retry) slot = s;
    if (slot >= Config::kSlots) return;
    ShadowSend& g = of(slot);
    uint32_t tick = 0;
    const bool due = shadow_.watched(slot, tick) && !before(e.now(), tick);
    require(due, kNeverEarly);
    if (!due) return;
    if (g.timed && !before(e.now(), g.deadline)) return end(slot, Status::deadline);
    if (g.retries == 0) {
      require(g.tries == 1 + send_of(g).retries, kTries);
      return end(slot, Status::timeout, kTries);
    }
    --g.retries;
    const uint32_t cap = send_of(g).backoff_cap, twice = g.wait * 2, capped = twice < cap ? twice : cap;
    if (cap != 0 && capped > g.wait) g.wait = capped;
    about(slot, ActionKind::none, kTries);
    enqueue(slot);
  }

  void compare(const abi::Event& e, const abi::Action& a) {
    const Expected& x = expected_;
    const bool as_duplicate = a.kind() == ActionKind::complete && a.status() == Status::duplicate;
    require(a.kind() == x.kind, as_duplicate ? kUniqueTid : x.rule);
    const bool completes = (x.kind == ActionKind::complete) | (x.kind == ActionKind::respond_complete);
    require(!completes || a.status() == x.status,
            x.status == Status::duplicate || a.status() == Status::duplicate ? kUniqueTid : kStatus);
    require(a.cause() == x.cause, kDropCause);
    require(a.window_credit() == x.window, kWindowCredit);
    require(a.wire_credit() == x.wire && (!x.wire || a.credit_qp() == e.qp()), kWireCredit);
    require(a.retry_queued() == x.queued, kRetryLane);
    require(a.buffer() == e.buffer() && a.vendor() == e.vendor(), kNames);
    if (x.kind == ActionKind::reject && x.window) require(a.lane() == e.lane(), kNames);
    if (!x.about_slot) return;
    require(a.slot() == x.slot && a.generation() == x.was.generation, kNames);
    if (e.kind() != EventKind::flush || a.kind() == ActionKind::complete) require(a.agent() == agent_of(x.was), kNames);
    if (x.was.stage <= Stage::queued) return;
    const Send& s = send_of(x.was);
    require(a.tid() == s.tid() && a.lane() == s.lane && a.port() == s.port && a.qp() == s.qp, kNames);
    if (a.kind() != ActionKind::none) require(a.tries() == x.tries, kTries);
  }

  void agree(uint32_t slot) {
    const abi::SlotFlags f = flags(after_, slot);
    const ShadowSend& g = of(slot);
    require(f.generation() == g.generation, kGeneration);
    require(f.state() == state_of(g), kLife);
  }

  std::span<const Send> sends_;
  Hash hash_;
  const Memory& before_;
  const Memory& after_;
  Ghost& shadow_;
  Expected expected_;
  const char* broken_ = nullptr;
  bool changes_nothing_ = false;
};

}  // namespace tidemill::explore
