// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include "harness.hpp"
#include "hls/bank.hpp"
#include "hls/bank_memory.hpp"
#include "hls/tid_hash.hpp"
#include "input.hpp"
#include "tb/support/engine_audit.hpp"

namespace tidemill::fuzz {
namespace {

using abi::Action;
using abi::ActionKind;
using abi::Event;
using abi::EventKind;

/// 16 slots, a matcher for 12, a wheel of 3 x 8 lists: everything fills and everything is reached.
using Config = hls::BankConfig<4, 0, 3, 2, 3>;
constexpr unsigned kAgents = 4;
/// An event other than a flush comes again once for the hash and once for each entry that shares a fingerprint.
constexpr unsigned kMostSteps = 16;

class BankTrial {
 public:
  explicit BankTrial(Input input) : input_(input), bank_(std::make_unique<hls::Bank<hls::BankMemory<Config>>>()) {}

  std::string operator()() {
    while (!input_.empty() && broken_.empty()) {
      any_event();
      if (broken_.empty()) audit();
    }
    if (broken_.empty()) end();
    return broken_;
  }

 private:
  /// What was promised for a slot.
  struct Send {
    Event descriptor;
    uint16_t generation = 0;  ///< Of the live send, or the next.
    bool live = false;        ///< A descriptor was taken and has no completion yet.
    bool on_wire = false;
    bool responded = false;
  };

  void any_event() {
    switch (input_.below(10)) {
      case 0:
      case 1: return descriptor();
      case 2: return issue(named(EventKind::sent));
      case 3: return received();
      case 4: {
        Event e;
        e.kind(EventKind::grant);
        e.qp(input_.flag());
        return issue(e);
      }
      case 5: return issue(named(EventKind::cancel));
      case 6: return issue(named(input_.flag() ? EventKind::modify : EventKind::deadline));
      case 7: return flush(1 + input_.below(kAgents));
      case 8: now_ += input_.ticks() & hls::Tracker::kMaxTicks / 4; return tick(input_.byte());
      default: return raw();
    }
  }

  Event describe() {
    Event e;
    e.slot(static_cast<uint16_t>(input_.below(Config::kSlots + 1)));
    const Send& send = sends_[e.slot() % Config::kSlots];
    e.generation(static_cast<uint16_t>(send.generation + (input_.byte() < 0xf0 ? 0 : input_.byte())));
    e.agent(1 + input_.below(kAgents));
    // Few TIDs, so that they clash.
    e.tid((uint64_t{e.agent()} << 32) | input_.below(24));
    const uint8_t bits = input_.byte();
    e.mgmt_class((bits & 1u) ? 0x81 : 0x03);
    e.grh((bits & 2u) != 0);
    e.match_source((bits & 4u) != 0);
    e.counted((bits & 8u) != 0);
    e.qp((bits & 16u) != 0);
    e.own_address((bits >> 5) & 1u);
    e.peer((bits >> 6) & 1u);
    e.port(1);
    return e;
  }
  void descriptor() {
    Event e = describe();
    e.kind(EventKind::descriptor);
    e.timeout(input_.ticks());
    e.retries(static_cast<uint8_t>(input_.below(4)));
    e.backoff_cap(input_.flag() ? input_.ticks() : 0);
    e.deadline(input_.flag() ? input_.ticks() : 0);
    e.drain(input_.byte() > 0xf0);
    issue(e);
  }
  Event named(EventKind kind) {
    Event e;
    e.kind(kind);
    e.slot(static_cast<uint16_t>(input_.below(Config::kSlots + 1)));
    e.generation(static_cast<uint16_t>(sends_[e.slot() % Config::kSlots].generation + (input_.byte() < 0xf0 ? 0 : input_.byte())));
    e.agent(1 + input_.below(kAgents));
    const uint8_t bits = input_.byte();
    e.status((bits & 3u) == 0 ? abi::Status::error : (bits & 3u) == 1 ? abi::Status::flushed : abi::Status::success);
    e.recovery((bits >> 2) & 3u);
    e.timeout(input_.ticks());
    e.deadline(e.timeout());
    return e;
  }
  /// The response to some send, with a few bits turned.
  void received() {
    Event e = sends_[input_.below(Config::kSlots)].descriptor;
    e.kind(EventKind::received);
    const uint8_t wrong = input_.byte();
    if (wrong >= 0xc0) {
      e.w0 ^= uint64_t{1} << (wrong & 0x3fu);
    } else if (wrong >= 0x80) {
      e.w4 ^= uint64_t{1} << (wrong & 0x3fu);
    } else if (wrong >= 0x70) {
      e.mgmt_class(static_cast<uint8_t>(e.mgmt_class() ^ (1u << (wrong & 7u))));
    }
    e.rmpp(input_.byte() > 0xe0);
    issue(e);
  }
  /// Any 64 bytes, but for what the shell itself puts there.
  void raw() {
    Event e;
    for (uint64_t* w : {&e.w0, &e.w1, &e.w2, &e.w3, &e.w4, &e.w6, &e.w7}) *w = input_.word();
    e.kind(static_cast<EventKind>(input_.below(9)));
    e.agent(1 + e.agent() % kAgents);
    e.cursor(0);
    e.cause(abi::Cause::none);
    if (e.kind() == EventKind::grant) e.drain(false);  // only a lane drains
    if (e.kind() == EventKind::flush) return flush(e.agent());
    if (e.kind() != EventKind::tick) issue(e);
  }
  void flush(uint32_t agent) {
    Event e;
    e.kind(EventKind::flush);
    e.agent(agent);
    for (unsigned steps = 0; broken_.empty(); ++steps) {
      const Action a = step(e);
      if (!a.again()) return;
      if (steps > Config::kSlots + Config::kSlots / 4) return fail("a flush takes too many steps");
      e.cursor(a.cursor());
    }
  }
  void tick(unsigned most) {
    Event e;
    e.kind(EventKind::tick);
    for (unsigned steps = 0; steps < most && broken_.empty(); ++steps) {
      if (!step(e).more()) return;
    }
  }

  /// One event, again while the bank asks for it.
  void issue(Event e) {
    if (e.kind() == EventKind::grant || (e.kind() == EventKind::descriptor && !e.drain())) ++credits_out_;
    if (e.kind() == EventKind::descriptor && e.counted()) ++windows_out_;
    const bool pops = e.kind() == EventKind::grant && bank_->memory().retry_count(e.qp()) != 0;
    for (unsigned steps = 1; broken_.empty(); ++steps) {
      const Action a = step(e);
      if (!a.again()) break;
      if (steps > kMostSteps) return fail("an event comes again without end");
      e.cursor(a.cursor());
      e.cause(a.cause());
      e.tid(a.tid());
    }
    if (pops) --queued_[e.qp()];
  }

  Action step(Event& e) {
    e.now(now_);
    e.hash(hls::tid_hash(e.tid(), 0));
    const Action a = bank_->step(e);
    if (!(e.kind() != EventKind::flush && a.again())) judge(e, a);
    return a;
  }

  void judge(const Event& e, const Action& a) {
    if (a.wire_credit()) --credits_out_;
    if (a.window_credit()) --windows_out_;
    if (a.retry_queued()) ++queued_[a.qp()];
    if (a.slot() >= Config::kSlots) {
      // An answer that is about no send names what its event named.
      const bool about_none = a.kind() == ActionKind::none || a.kind() == ActionKind::reject ||
                              a.kind() == ActionKind::drop || a.kind() == ActionKind::deliver;
      if (!about_none) fail("an action about a slot that is none");
      return;
    }
    Send& send = sends_[a.slot()];
    if (e.kind() == EventKind::descriptor && a.kind() != ActionKind::reject) {
      if (send.live) return fail("a descriptor was taken for a slot in use");
      if (e.generation() != send.generation) return fail("a descriptor of another generation was taken");
      send.live = true;
      send.responded = false;
      send.descriptor = e;
    }
    if (e.kind() == EventKind::sent && a.kind() != ActionKind::reject) {
      if (!send.on_wire) return fail("a sent report was taken for a try that is not on the wire");
      send.on_wire = false;
      --credits_out_;
    }
    switch (a.kind()) {
      case ActionKind::transmit:
        if (!send.live || send.on_wire || send.responded) return fail("transmitted what has no try to make");
        send.on_wire = true;
        break;
      case ActionKind::respond:
      case ActionKind::respond_complete:
        if (!send.live || send.responded) return fail("a response for a send that awaits none");
        if (e.tid() != send.descriptor.tid() || e.mgmt_class() != send.descriptor.mgmt_class() ||
            e.qp() != send.descriptor.qp() || e.port() != send.descriptor.port())
          return fail("a response of another send matched");
        send.responded = true;
        if (a.kind() == ActionKind::respond_complete) complete(send, a);
        break;
      case ActionKind::complete: complete(send, a); break;
      default: break;
    }
  }
  void complete(Send& send, const Action& a) {
    if (a.generation() != send.generation) return fail("completed another generation");
    if (send.on_wire) return fail("completed while a try is on the wire");
    send.live = false;
    ++send.generation;
  }

  void audit() {
    test::Findings findings;
    test::audit_bank(*bank_, findings);
    for (unsigned qp = 0; qp < 2; ++qp) {
      if (bank_->memory().retry_count(qp) != queued_[qp]) findings.add("a retry queue is not as long as its lane");
    }
    int64_t tries = 0;
    for (const Send& send : sends_) tries += send.on_wire ? 1 : 0;
    if (credits_out_ != tries) findings.add("wire credits do not add up");
    if (windows_out_ < 0) findings.add("a window slot came back twice");
    if (!findings.empty()) fail(findings.texts().front());
  }

  /// Lets everything come to its end.
  void end() {
    for (uint32_t agent = 1; agent <= kAgents; ++agent) flush(agent);
    for (uint16_t slot = 0; slot < Config::kSlots && broken_.empty(); ++slot) {
      if (!sends_[slot].on_wire) continue;
      Event e;
      e.kind(EventKind::sent);
      e.slot(slot);
      e.generation(sends_[slot].generation);
      issue(e);
    }
    for (const bool qp : {false, true}) {
      for (unsigned i = 0; i <= Config::kSlots && bank_->memory().retry_count(qp) != 0 && broken_.empty(); ++i) {
        Event e;
        e.kind(EventKind::grant);
        e.qp(qp);
        issue(e);
      }
    }
    test::Findings findings;
    test::bank_at_rest(*bank_, findings);
    if (credits_out_ != 0) findings.add("wire credits are missing at the end");
    if (windows_out_ != 0) findings.add("window slots are missing at the end");
    if (broken_.empty() && !findings.empty()) fail(findings.texts().front());
  }

  void fail(const std::string& what) {
    if (broken_.empty()) broken_ = what + " (tick " + std::to_string(now_) + ")";
  }

  Input input_;
  std::unique_ptr<hls::Bank<hls::BankMemory<Config>>> bank_;
  std::array<Send, Config::kSlots> sends_{};
  std::array<uint32_t, 2> queued_{};
  uint32_t now_ = 0;
  int64_t credits_out_ = 0;  ///< Grants taken and not given back.
  int64_t windows_out_ = 0;
  std::string broken_;
};

}  // namespace

std::string run_bank(std::span<const uint8_t> bytes) { return BankTrial(Input(bytes.first(std::min(bytes.size(), kLongest))))(); }

}  // namespace tidemill::fuzz
