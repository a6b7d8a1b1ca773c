// SPDX-License-Identifier: Apache-2.0
/// What a bank should answer, the obvious way: a map of sends by slot and generation, timers as a field of each, retry
/// queues as lists of slots; everything found by looking at everything. Ticks have 64 bits here, so nothing wraps.
///
/// What the model leaves to the bank it checks instead of predicting: which of several due timers fires first, and
/// whether the matcher finds room (it must, while fewer than twelve entries are in it). So each answer is asked for
/// together with the action that the bank gave.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tidemill/abi.hpp"

namespace tidemill::test {

/// The part of an action that is promised. Fields that are not set may be anything.
struct Answer {
  abi::ActionKind kind = abi::ActionKind::none;
  std::optional<abi::Status> status;
  std::set<abi::Cause> causes;  ///< Any of these; empty for any at all.
  std::optional<uint16_t> slot, generation;
  std::optional<uint32_t> agent;
  std::optional<uint64_t> tid;
  std::optional<uint16_t> lane;
  std::optional<uint8_t> tries, port;
  std::optional<bool> qp;
  bool window_credit = false, wire_credit = false, retry_queued = false;
  std::string impossible;  ///< The bank did what no bank may do.
};

class BankModel {
 public:
  enum class State { queued, sending, waiting, retry, early, cancelled };
  using Name = std::pair<uint16_t, uint16_t>;  ///< Slot and generation.

  struct Send {
    State state = State::queued;
    bool arrived = false;  ///< Its descriptor has come.
    abi::Event d;          ///< The descriptor.
    uint32_t agent = 0;
    unsigned tries = 0, tries_left = 0;
    uint32_t wait = 0;
    std::optional<uint32_t> next_wait;  ///< A modify for the next try.
    std::optional<uint64_t> deadline;   ///< First tick at which it is over.
    std::optional<uint64_t> timer;      ///< First tick at which it may fire.
    uint8_t recovery = 0;
    bool in_matcher = false, left = false, window = false;

    bool expects() const { return d.timeout() != 0; }
    bool live() const { return state == State::sending || state == State::waiting || state == State::retry; }
    bool in_lane() const { return state == State::queued; }
    bool matched_or_cancelled() const { return state == State::early || state == State::cancelled; }
  };

  /// `always_room_below`: entries that the matcher certainly takes; `never_room_at`: how many fill it.
  BankModel(uint32_t slots, uint32_t never_room_at) : slots_(slots), full_(never_room_at) {}

  const std::map<Name, Send>& sends() const { return sends_; }
  uint16_t next_generation(uint16_t slot) const { return slot < slots_ ? next_generation_[slot] : 0; }
  size_t retry_length(bool qp) const { return retry_[qp].size(); }
  std::optional<uint64_t> first_timer() const {
    std::optional<uint64_t> first;
    for (const auto& [name, s] : sends_) first = s.timer && (!first || *s.timer < *first) ? s.timer : first;
    return first;
  }

  Answer descriptor(const abi::Event& e, uint64_t now, const abi::Action& given) {
    Send* s = find(e);
    if (e.slot() >= slots_ || e.generation() != next_generation_[e.slot()] || (s != nullptr && s->arrived)) {
      Answer a = refused(abi::Cause::stale_descriptor, e);
      a.window_credit = e.counted();
      a.lane = e.lane();
      a.wire_credit = !e.drain();
      return a;
    }
    if (s == nullptr) s = &sends_[{e.slot(), e.generation()}];
    s->arrived = true;
    s->d = e;
    s->agent = e.agent();
    s->tries_left = e.retries();
    s->wait = e.timeout();
    s->window = e.counted();
    if (!s->deadline && e.deadline() != 0) s->deadline = after(now, e.deadline());
    return take_turn({e.slot(), e.generation()}, now, e.drain(), given);
  }

  Answer grant(bool qp, uint64_t now, const abi::Action& given) {
    Answer nothing;
    nothing.wire_credit = true;
    if (retry_[qp].empty()) return nothing;
    const uint16_t slot = retry_[qp].front();
    retry_[qp].pop_front();
    const Name name{slot, next_generation_[slot]};
    const auto found = sends_.find(name);
    if (found == sends_.end() || found->second.state != State::retry) return nothing;
    return found->second.d.qp() == qp ? take_turn(name, now, false, given) : nothing;
  }

  Answer sent(const abi::Event& e, uint64_t now) {
    Send* s = find(e);
    if (s == nullptr || (s->state != State::sending && !s->matched_or_cancelled()))
      return refused(abi::Cause::stale_sent, e);
    const bool flushed = e.status() == abi::Status::flushed, failed = e.status() != abi::Status::success && !flushed;
    if (s->state == State::cancelled) return complete(name(e), abi::Status::flushed);
    if (s->state == State::early) return complete(name(e), failed ? abi::Status::error : abi::Status::success);
    if (failed) return complete(name(e), abi::Status::error);
    if (flushed) {
      if (e.recovery() == 0 || e.recovery() == s->recovery) return complete(name(e), abi::Status::flushed);
      s->recovery = e.recovery();
      --s->tries;
      return put_off(name(e));
    }
    if (!s->expects()) return complete(name(e), abi::Status::success);
    s->state = State::waiting;
    s->left = true;
    s->timer = after(now, s->next_wait.value_or(s->wait));
    s->next_wait.reset();
    if (s->deadline && *s->deadline < *s->timer) s->timer = s->deadline;
    return about(name(e), abi::ActionKind::none);
  }

  Answer received(const abi::Event& e) {
    Answer a;
    for (auto& [n, s] : sends_) {
      if (!s.in_matcher || s.d.tid() != e.tid()) continue;
      const abi::Cause why = mismatch(s, e);
      if (why == abi::Cause::none) return respond(n);
      a.causes.insert(why);
    }
    if (a.causes.empty()) a.causes.insert(abi::Cause::stale);
    a.kind = e.rmpp() ? abi::ActionKind::deliver : abi::ActionKind::drop;
    return a;
  }

  Answer command(const abi::Event& e, uint64_t now) {
    if (e.slot() >= slots_ || e.generation() != next_generation_[e.slot()])
      return refused(abi::Cause::stale_command, e);
    Send* s = find(e);
    if (s == nullptr) {
      s = &sends_[name(e)];
      s->agent = e.agent();
    }
    if (e.kind() == abi::EventKind::cancel) return cancel(name(e));
    if (s->matched_or_cancelled()) return refused(abi::Cause::not_waiting, e);
    if (e.kind() == abi::EventKind::deadline) {
      const uint64_t deadline = after(now, e.deadline());
      if (!s->deadline || deadline < *s->deadline) s->deadline = deadline;
      if (s->state != State::sending && (!s->timer || *s->deadline < *s->timer)) s->timer = s->deadline;
      return about(name(e), abi::ActionKind::none);
    }
    if (s->arrived && !s->expects()) return refused(abi::Cause::not_waiting, e);
    if (s->state == State::waiting) {
      s->timer = after(now, e.timeout());
      if (s->deadline && *s->deadline < *s->timer) s->timer = s->deadline;
    } else {
      s->next_wait = e.timeout();
    }
    return about(name(e), abi::ActionKind::none);
  }

  /// A flush step that looked at the slots from `from` to before `to`.
  Answer flush(uint32_t agent, uint32_t from, uint32_t to) {
    Answer a;
    unsigned hits = 0;
    for (uint32_t slot = from; slot < to && slot < slots_; ++slot) {
      const auto found = sends_.find({static_cast<uint16_t>(slot), next_generation_[slot]});
      if (found == sends_.end() || found->second.agent != agent) continue;
      a = cancel(found->first);
      ++hits;
    }
    if (hits > 1) a.impossible = "one flush step passed " + std::to_string(hits) + " sends of the agent";
    return a;
  }

  /// The timer of this slot fired, says the bank.
  Answer expire(uint16_t slot, uint64_t now) {
    const Name n{slot, next_generation_[slot % slots_]};
    const auto found = sends_.find(n);
    Answer wrong;
    if (found == sends_.end() || !found->second.timer)
      wrong.impossible = "a timer fired that was not armed";
    else if (*found->second.timer > now)
      wrong.impossible = "a timer fired before tick " + std::to_string(*found->second.timer);
    if (!wrong.impossible.empty()) return wrong;
    Send& s = found->second;
    s.timer.reset();
    if (s.deadline && now >= *s.deadline) return complete(n, abi::Status::deadline);
    if (s.tries_left == 0) return complete(n, abi::Status::timeout);
    --s.tries_left;
    if (s.d.backoff_cap() != 0) {
      const uint64_t doubled = s.wait < kMaxTicks ? uint64_t{s.wait} * 2 : s.wait;
      const uint64_t capped = doubled < s.d.backoff_cap() ? doubled : s.d.backoff_cap();
      if (capped > s.wait) s.wait = static_cast<uint32_t>(capped);
    }
    return put_off(n);
  }

 private:
  static constexpr uint32_t kMaxTicks = 1u << 30;
  static constexpr uint32_t kCandidates = 12;  ///< Places that one TID has in the matcher.

  static uint64_t after(uint64_t now, uint32_t ticks) { return now + (ticks < kMaxTicks ? ticks : kMaxTicks) + 1; }
  static Name name(const abi::Event& e) { return {e.slot(), e.generation()}; }
  Send* find(const abi::Event& e) {
    const auto found = sends_.find(name(e));
    return found == sends_.end() ? nullptr : &found->second;
  }

  /// An answer about a send: whatever it says, it says it of this one.
  Answer about(Name n, abi::ActionKind kind) const {
    const Send& s = sends_.at(n);
    Answer a;
    a.kind = kind;
    if (kind == abi::ActionKind::none) return a;
    a.slot = n.first;
    a.generation = n.second;
    a.agent = s.agent;
    a.tries = static_cast<uint8_t>(s.tries);
    if (!s.arrived) return a;
    a.tid = s.d.tid();
    a.lane = s.d.lane();
    a.port = s.d.port();
    a.qp = s.d.qp();
    return a;
  }
  static Answer refused(abi::Cause cause, const abi::Event& e) {
    Answer a;
    a.kind = abi::ActionKind::reject;
    a.causes = {cause};
    a.slot = e.slot();
    a.generation = e.generation();
    return a;
  }

  Answer complete(Name n, abi::Status status) {
    Answer a = about(n, abi::ActionKind::complete);
    a.status = status;
    release(n, a);
    return a;
  }
  void release(Name n, Answer& a) {
    a.window_credit = sends_.at(n).window;
    if (a.window_credit) a.lane = sends_.at(n).d.lane();
    sends_.erase(n);
    ++next_generation_[n.first];
  }

  Answer respond(Name n) {
    Send& s = sends_.at(n);
    const bool early = s.state == State::sending;
    Answer a = about(n, early ? abi::ActionKind::respond : abi::ActionKind::respond_complete);
    a.status = abi::Status::success;
    if (!early) {
      release(n, a);
      return a;
    }
    a.window_credit = std::exchange(s.window, false);
    s.state = State::early;
    return a;
  }

  Answer cancel(Name n) {
    Send& s = sends_.at(n);
    if (s.matched_or_cancelled()) return {};
    if (s.state != State::sending) return complete(n, abi::Status::flushed);
    Answer a;
    a.window_credit = std::exchange(s.window, false);
    if (a.window_credit) a.lane = s.d.lane();
    s.state = State::cancelled;
    return a;
  }

  Answer take_turn(Name n, uint64_t now, bool drain, const abi::Action& given) {
    Send& s = sends_.at(n);
    Answer a;
    if (drain || (s.deadline && now >= *s.deadline)) {
      a = complete(n, drain ? abi::Status::flushed : abi::Status::deadline);
      a.wire_credit = !drain;
      return a;
    }
    if (s.expects() && !s.in_matcher) {
      uint32_t entries = 0;
      bool duplicate = false;
      for (const auto& [other, o] : sends_) {
        entries += o.in_matcher ? 1 : 0;
        duplicate |= o.in_matcher && o.live() && o.d.tid() == s.d.tid() && o.d.mgmt_class() == s.d.mgmt_class();
      }
      if (duplicate) {
        a = complete(n, abi::Status::duplicate);
        a.wire_credit = true;
        return a;
      }
      const bool full = entries >= full_, refused = given.kind() == abi::ActionKind::none;
      if (full || (refused && entries >= kCandidates)) {
        a = put_off(n);
        a.wire_credit = true;
        return a;
      }
      s.in_matcher = true;
    }
    s.state = State::sending;
    s.timer.reset();
    ++s.tries;
    return about(n, abi::ActionKind::transmit);
  }

  /// Into the retry queue of its QP.
  Answer put_off(Name n) {
    Send& s = sends_.at(n);
    s.state = State::retry;
    s.timer = s.deadline;
    Answer a;
    a.retry_queued = enqueue(n);
    if (a.retry_queued) a.qp = s.d.qp();
    return a;
  }
  /// A slot stands in a queue once at most; where it stands already it serves the new send.
  bool enqueue(Name n) {
    auto& queue = retry_[sends_.at(n).d.qp()];
    if (std::find(queue.begin(), queue.end(), n.first) != queue.end()) return false;
    queue.push_back(n.first);
    return true;
  }

  static abi::Cause mismatch(const Send& s, const abi::Event& e) {
    if (e.mgmt_class() != s.d.mgmt_class()) return abi::Cause::wrong_class;
    if (e.port() != s.d.port() || e.qp() != s.d.qp()) return abi::Cause::wrong_port;
    const bool other_responder = s.d.match_source() && e.peer() != s.d.peer();
    const bool other_address = e.grh() != s.d.grh() || e.own_address() != s.d.own_address() || other_responder;
    if (e.mgmt_class() != 0x81 && other_address) return abi::Cause::wrong_address;
    if (s.state == State::early) return abi::Cause::duplicate;
    if (s.state == State::cancelled) return abi::Cause::cancelled;
    if (s.state == State::retry && !s.left) return abi::Cause::never_sent;
    return abi::Cause::none;
  }

  uint32_t slots_, full_;
  std::map<Name, Send> sends_;
  std::array<uint16_t, 0x10000> next_generation_{};
  std::array<std::deque<uint16_t>, 2> retry_;
};

}  // namespace tidemill::test
