// SPDX-License-Identifier: Apache-2.0
/// Runs a program of events through a bank and its model and says where they differ. A program is data: what a property
/// test prints when it has shrunk one can be pasted into a test as it stands.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "bank_driver.hpp"
#include "bank_model.hpp"

namespace tidemill::test {

enum class Do { descriptor, sent, response, grant, cancel, modify, deadline, flush, pass, stall, tick };

/// One event. Numbers count from what is right: generation 0 is the one the slot has now, 1 the one after it.
struct Op {
  Do what = Do::pass;
  unsigned slot = 0;
  unsigned generation = 0;
  unsigned agent = 0, tid = 0, mgmt_class = 0;
  unsigned ticks = 0, deadline = 0, cap = 0, retries = 0;
  unsigned status = 0;  ///< Of a try: sent; 1 and 2 an error; 3 and 4 flushed.
  unsigned recovery = 0;
  unsigned bits = 0;  ///< Of a descriptor: kQp0 and on. Of a response: the same bits differ.

  static constexpr unsigned kQp0 = 1, kGrh = 2, kSource = 4, kCounted = 8, kDrain = 16, kAddress = 32, kPort = 64,
                            kPeer = 128, kRmpp = 256, kForged = 512, kAllBits = 1023;
};

inline std::ostream& operator<<(std::ostream& out, const Op& op) {
  static constexpr const char* kNames[] = {"descriptor", "sent",  "response", "grant", "cancel", "modify",
                                           "deadline",   "flush", "pass",     "stall", "tick"};
  out << "{.what = Do::" << kNames[static_cast<unsigned>(op.what)];
  const auto field = [&](const char* name, unsigned value) {
    if (value != 0) out << ", ." << name << " = " << value;
  };
  field("slot", op.slot);
  field("generation", op.generation);
  field("agent", op.agent);
  field("tid", op.tid);
  field("mgmt_class", op.mgmt_class);
  field("ticks", op.ticks);
  field("deadline", op.deadline);
  field("cap", op.cap);
  field("retries", op.retries);
  field("status", op.status);
  field("recovery", op.recovery);
  field("bits", op.bits);
  return out << "}";
}

/// What of an action is not as promised; empty if all is.
inline std::string differs(const Answer& want, const abi::Action& a) {
  std::string text;
  const auto compare = [&](const char* what, const auto& wanted, auto given) {
    if (wanted && static_cast<uint64_t>(*wanted) != static_cast<uint64_t>(given))
      text += std::string(what) + " is " + std::to_string(static_cast<uint64_t>(given)) + ", should be " +
              std::to_string(static_cast<uint64_t>(*wanted)) + "; ";
  };
  if (!want.impossible.empty()) return want.impossible;
  if (a.kind() != want.kind) text += std::string(name_of(a.kind())) + " instead of " + name_of(want.kind) + "; ";
  compare("status", want.status, a.status());
  if (!want.causes.empty() && want.causes.count(a.cause()) == 0)
    text += std::string("cause ") + name_of(a.cause()) + "; ";
  compare("slot", want.slot, a.slot());
  compare("generation", want.generation, a.generation());
  compare("agent", want.agent, a.agent());
  compare("tid", want.tid, a.tid());
  compare("lane", want.lane, a.lane());
  compare("tries", want.tries, a.tries());
  compare("port", want.port, a.port());
  compare("qp", want.qp, a.qp());
  compare("window credit", std::optional<bool>(want.window_credit), a.window_credit());
  compare("wire credit", std::optional<bool>(want.wire_credit), a.wire_credit());
  compare("retry queued", std::optional<bool>(want.retry_queued), a.retry_queued());
  return text;
}

template <class Config>
class BankTrial {
 public:
  explicit BankTrial(uint32_t start = 0)
      : model_(Config::kSlots, 4 * (2 * Config::kBuckets + 1)), time_((uint64_t{1} << 32) + start) {
    driver_.start_at(start);
  }

  /// Runs a program to its end, then brings every send to its own. Returns the first difference, or nothing.
  std::string run(const std::vector<Op>& program) {
    for (size_t i = 0; i < program.size() && found_.empty(); ++i) {
      apply(program[i]);
      if (!found_.empty()) found_ = "event " + std::to_string(i) + ": " + found_;
    }
    if (found_.empty()) {
      finish();
      if (!found_.empty()) found_ = "afterwards: " + found_;
    }
    return found_;
  }

  const BankModel& model() const { return model_; }

 private:
  void apply(const Op& op) {
    switch (op.what) {
      case Do::descriptor:
        descriptor(op);
        break;
      case Do::sent: {
        abi::Event e = named(op, abi::EventKind::sent);
        e.status(kWireStatus[op.status % 8]);
        e.recovery(static_cast<uint8_t>(op.recovery));
        e.vendor(static_cast<uint8_t>(op.retries));
        const abi::Action a = issue(e);
        judge(model_.sent(e, time_), a);
        break;
      }
      case Do::response: {
        const abi::Event e = response(op);
        const abi::Action a = issue(e);
        judge(model_.received(e), a);
        if (a.buffer() != e.buffer()) found_ = "buffer not handed back";
        break;
      }
      case Do::grant:
        grant((op.bits & Op::kQp0) == 0);
        break;
      case Do::cancel:
      case Do::modify:
      case Do::deadline: {
        abi::Event e = named(op, op.what == Do::cancel   ? abi::EventKind::cancel
                                 : op.what == Do::modify ? abi::EventKind::modify
                                                         : abi::EventKind::deadline);
        e.timeout(op.ticks);
        e.deadline(op.ticks);
        const abi::Action a = issue(e);
        judge(model_.command(e, time_), a);
        break;
      }
      case Do::flush:
        flush_step(1 + op.agent % 2);
        break;
      case Do::pass:
        pass(op.ticks);
        settle();
        break;
      case Do::stall:
        pass(op.ticks);
        break;
      case Do::tick:
        tick();
        break;
    }
  }

  void descriptor(const Op& op) {
    abi::Event e = named(op, abi::EventKind::descriptor);
    e.tid((uint64_t{e.agent()} << 32) | op.tid);
    e.mgmt_class(kClasses[op.mgmt_class % 3]);
    e.timeout(op.ticks);
    e.backoff_cap(op.cap);
    e.deadline(op.deadline);
    e.peer(7);
    e.own_address(5);
    e.lane(static_cast<uint16_t>(op.slot + 100));
    e.retries(static_cast<uint8_t>(op.retries));
    e.port(1);
    e.qp((op.bits & Op::kQp0) == 0);
    e.grh((op.bits & Op::kGrh) != 0);
    e.match_source((op.bits & Op::kSource) != 0);
    e.counted((op.bits & Op::kCounted) != 0);
    e.drain((op.bits & Op::kDrain) != 0);
    const abi::Action a = issue(e);
    judge(model_.descriptor(e, time_, a), a);
  }

  /// The response to what the slot holds, or a forged one, with the fields that `bits` names changed.
  abi::Event response(const Op& op) {
    const uint16_t slot = static_cast<uint16_t>(op.slot);
    const auto found = model_.sends().find({slot, model_.next_generation(slot)});
    abi::Event e;
    if ((op.bits & Op::kForged) == 0 && found != model_.sends().end() && found->second.arrived) {
      e = found->second.d;
    } else {
      e.agent(1 + op.agent % 2);
      e.tid((uint64_t{e.agent()} << 32) | op.tid);
      e.port(1);
      e.qp(true);
      e.own_address(5);
    }
    abi::Event r;
    r.kind(abi::EventKind::received);
    r.tid(e.tid());
    r.mgmt_class(op.mgmt_class == 0 ? e.mgmt_class() : kClasses[op.mgmt_class % 3]);
    r.own_address(static_cast<uint16_t>(e.own_address() ^ ((op.bits & Op::kAddress) != 0 ? 1u : 0u)));
    r.peer(7u ^ ((op.bits & Op::kPeer) != 0 ? 1u : 0u));
    r.port(static_cast<uint8_t>(e.port() ^ ((op.bits & Op::kPort) != 0 ? 3u : 0u)));
    r.qp(e.qp() != ((op.bits & Op::kQp0) != 0));
    r.grh(e.grh() != ((op.bits & Op::kGrh) != 0));
    r.rmpp((op.bits & Op::kRmpp) != 0);
    r.buffer(static_cast<uint16_t>(op.ticks));
    return r;
  }

  abi::Event named(const Op& op, abi::EventKind kind) {
    abi::Event e;
    e.kind(kind);
    e.slot(static_cast<uint16_t>(op.slot));
    e.generation(static_cast<uint16_t>(model_.next_generation(e.slot()) + op.generation));
    e.agent(1 + op.agent % 2);
    return e;
  }

  void grant(bool qp) {
    abi::Event e;
    e.kind(abi::EventKind::grant);
    e.qp(qp);
    const abi::Action a = issue(e);
    judge(model_.grant(qp, time_, a), a);
    if (a.wire_credit() && a.credit_qp() != qp) found_ = "wire credit of the other QP";
  }

  /// One flush goes on at a time, as in the shell.
  void flush_step(uint32_t agent) {
    if (!flushing_) flushing_ = Flush{agent, 0};
    const abi::Action a = driver_.flush_step(flushing_->agent, static_cast<uint16_t>(flushing_->cursor));
    const uint32_t next = a.again() ? a.cursor() : Config::kSlots;
    if (next <= flushing_->cursor) found_ = "the flush does not move";
    judge(model_.flush(flushing_->agent, flushing_->cursor, next), a);
    flushing_->cursor = next;
    if (!a.again()) flushing_.reset();
  }

  void pass(uint32_t ticks) {
    driver_.stall(ticks);
    time_ += ticks;
  }
  abi::Action tick() {
    const abi::Action a = driver_.tick();
    if (a.kind() != abi::ActionKind::none || a.retry_queued() || fell_silent(a.slot()))
      judge(model_.expire(a.slot(), time_), a);
    return a;
  }
  void settle() {
    unsigned steps = 0;
    while (found_.empty() && tick().more()) {
      if (++steps > kManySteps) found_ = "tick steps do not end";
    }
    const auto first = model_.first_timer();
    if (found_.empty() && first && *first <= time_)
      found_ = "the timer of tick " + std::to_string(*first) + " did not fire";
  }

  void finish() {
    for (uint32_t agent = 1; agent <= 2; ++agent) {
      while (found_.empty() && flushing_) flush_step(0);
      do flush_step(agent);
      while (found_.empty() && flushing_);
    }
    for (unsigned slot = 0; slot < Config::kSlots && found_.empty(); ++slot) apply({.what = Do::sent, .slot = slot});
    for (const bool qp : {false, true, false, true}) {
      while (found_.empty() && model_.retry_length(qp) != 0) grant(qp);
    }
    if (found_.empty() && !model_.sends().empty())
      found_ = std::to_string(model_.sends().size()) + " sends never complete";
    const auto& m = driver_.bank().memory();
    for (uint32_t slot = 0; slot < Config::kSlots && found_.empty(); ++slot) {
      abi::SlotFlags idle;
      idle.generation(model_.next_generation(static_cast<uint16_t>(slot)));
      if (flags(slot).w0 != idle.w0) found_ = "slot " + std::to_string(slot) + " is not as after reset";
    }
    for (uint32_t row = 0; row < 2 * Config::kBuckets + 1 && found_.empty(); ++row) {
      const hls::Bucket b = m.bucket(row / Config::kBuckets, row % Config::kBuckets);
      if ((b.low | b.high) != 0) found_ = "a matcher entry without a send";
    }
    for (uint32_t row = 0; row < Config::kSlots + Config::kLevels * Config::kLists && found_.empty(); ++row) {
      if (row >= Config::kSlots && m.next(row) != 0) found_ = "a timer without a send";
    }
  }

  abi::Action issue(const abi::Event& e) { return driver_.issue(e); }
  void judge(const Answer& want, const abi::Action& a) {
    if (!found_.empty()) return;
    found_ = differs(want, a);
    const int64_t to_wake = static_cast<int32_t>(a.wake() - driver_.now());
    const auto first = model_.first_timer();
    if (found_.empty() && first && to_wake > std::max<int64_t>(static_cast<int64_t>(*first - time_), 0))
      found_ = "wakes " + std::to_string(to_wake) + " ticks ahead, after the first timer";
    if (found_.empty() && a.more() != (to_wake <= 0)) found_ = "`more` and `wake` disagree";
  }

  /// A timer fired whose send stands in a retry queue already, so that the action has nothing to say.
  bool fell_silent(uint16_t slot) const {
    const auto found = model_.sends().find({slot, model_.next_generation(slot)});
    return found != model_.sends().end() && found->second.state == BankModel::State::waiting &&
           flags(slot).state() == abi::SlotState::retry;
  }
  abi::SlotFlags flags(uint32_t slot) const {
    abi::SlotFlags f;
    f.w0 = driver_.bank().memory().flags(slot % Config::kSlots);
    return f;
  }

  struct Flush {
    uint32_t agent, cursor;
  };
  static constexpr abi::Status kWireStatus[8] = {abi::Status::success, abi::Status::error, abi::Status::error,
                                                 abi::Status::flushed, abi::Status::flushed};
  static constexpr uint8_t kClasses[] = {0x03, 0x04, 0x81};
  static constexpr unsigned kManySteps = 100000;

  BankDriver<Config> driver_{0x5eed};
  BankModel model_;
  uint64_t time_;
  std::optional<Flush> flushing_;
  std::string found_;
};

}  // namespace tidemill::test
