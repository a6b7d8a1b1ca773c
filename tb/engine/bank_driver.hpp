// SPDX-License-Identifier: Apache-2.0
/// Drives one bank the way the shell does: hashes TIDs, issues an event again while the bank asks for it.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "hls/bank.hpp"
#include "hls/bank_memory.hpp"
#include "hls/tid_hash.hpp"

namespace tidemill::test {

/// A send as a test sees it; defaults are a GSI request that waits 10 ticks.
struct Send {
  uint16_t slot = 0;
  uint16_t generation = 0;
  uint32_t agent = 1;
  uint32_t tid_low = 1;
  uint8_t mgmt_class = 0x03;
  uint32_t timeout = 10;
  uint8_t retries = 0;
  uint32_t backoff_cap = 0;
  uint32_t deadline = 0;
  uint16_t lane = 0;
  uint16_t own_address = 0;
  uint32_t peer = 0;
  uint8_t port = 1;
  bool qp = true;
  bool grh = false;
  bool match_source = false;
  bool counted = false;
  bool drain = false;

  uint64_t tid() const { return (uint64_t{agent} << 32) | tid_low; }
};

template <class Config>
class BankDriver {
 public:
  using Memory = hls::BankMemory<Config>;

  explicit BankDriver(uint64_t seed = 0) : seed_(seed), bank_(std::make_unique<hls::Bank<Memory>>()) {}
  BankDriver(const BankDriver& o) : seed_(o.seed_), now_(o.now_), bank_(std::make_unique<hls::Bank<Memory>>(*o.bank_)) {}

  /// A fresh bank that has come to this tick.
  void start_at(uint32_t tick) {
    Memory& m = bank_->memory();
    now_ = tick;
    m.wheel_now(tick);
    m.wake(tick);
    for (unsigned level = 1; level < Config::kLevels; ++level) m.spread_count(level, tick >> (Config::kSpreadBits * level));
  }

  uint32_t now() const { return now_; }
  uint64_t seed() const { return seed_; }
  hls::Bank<Memory>& bank() { return *bank_; }
  const hls::Bank<Memory>& bank() const { return *bank_; }

  abi::Action descriptor(const Send& s) {
    abi::Event e = of(s);
    e.kind(abi::EventKind::descriptor);
    return issue(e);
  }
  abi::Action sent(const Send& s, abi::Status status = abi::Status::success, uint8_t recovery = 0, uint8_t vendor = 0) {
    abi::Event e = named(abi::EventKind::sent, s);
    e.status(status);
    e.recovery(recovery);
    e.vendor(vendor);
    return issue(e);
  }
  /// The right response to a send; `change` can make it a wrong one.
  template <class Change>
  abi::Action response(const Send& s, Change change, uint16_t buffer = 0) {
    abi::Event e = of(s);
    e.kind(abi::EventKind::received);
    e.buffer(buffer);
    change(e);
    return issue(e);
  }
  abi::Action response(const Send& s) {
    return response(s, [](abi::Event&) {});
  }
  abi::Action grant(bool qp = true) {
    abi::Event e;
    e.kind(abi::EventKind::grant);
    e.qp(qp);
    return issue(e);
  }
  abi::Action cancel(const Send& s) { return issue(named(abi::EventKind::cancel, s)); }
  abi::Action modify(const Send& s, uint32_t ticks) {
    abi::Event e = named(abi::EventKind::modify, s);
    e.timeout(ticks);
    return issue(e);
  }
  abi::Action announce(const Send& s, uint32_t ticks) {
    abi::Event e = named(abi::EventKind::deadline, s);
    e.deadline(ticks);
    return issue(e);
  }
  /// All steps of a flush; the actions that say something.
  std::vector<abi::Action> flush(uint32_t agent) {
    std::vector<abi::Action> out;
    uint16_t cursor = 0;
    for (bool again = true; again;) {
      const abi::Action a = flush_step(agent, cursor);
      keep(out, a);
      again = a.again();
      cursor = a.cursor();
    }
    return out;
  }
  /// Lets time pass up to tick `until`, tick by tick; the actions that say something.
  std::vector<abi::Action> run_to(uint32_t until) {
    std::vector<abi::Action> out;
    while (now_ != until) {
      ++now_;
      settle(out);
    }
    return out;
  }
  std::vector<abi::Action> run(uint32_t ticks) { return run_to(now_ + ticks); }
  /// Jumps to tick `until` at once, as after a long stall.
  std::vector<abi::Action> jump_to(uint32_t until) {
    std::vector<abi::Action> out;
    now_ = until;
    settle(out);
    return out;
  }

  /// Time passes and nobody steps the wheel.
  void stall(uint32_t ticks) { now_ += ticks; }
  /// One tick step, whether it is due or not.
  abi::Action tick() {
    abi::Event e;
    e.kind(abi::EventKind::tick);
    return issue(e);
  }
  /// One step of a flush.
  abi::Action flush_step(uint32_t agent, uint16_t cursor) {
    abi::Event e;
    e.kind(abi::EventKind::flush);
    e.agent(agent);
    e.cursor(cursor);
    return issue(e);
  }

  /// One event, again while the bank asks for it (a flush comes back step by step).
  abi::Action issue(abi::Event e) {
    e.now(now_);
    e.hash(hls::tid_hash(e.tid(), seed_));
    for (;;) {
      const abi::Action a = bank_->step(e);
      if (!a.again() || e.kind() == abi::EventKind::flush) return a;
      e.cursor(a.cursor());
      e.cause(a.cause());
      e.tid(a.tid());
      e.hash(hls::tid_hash(a.tid(), seed_));
    }
  }

 private:
  static abi::Event of(const Send& s) {
    abi::Event e;
    e.tid(s.tid());
    e.slot(s.slot);
    e.generation(s.generation);
    e.agent(s.agent);
    e.mgmt_class(s.mgmt_class);
    e.timeout(s.timeout);
    e.backoff_cap(s.backoff_cap);
    e.deadline(s.deadline);
    e.peer(s.peer);
    e.own_address(s.own_address);
    e.lane(s.lane);
    e.retries(s.retries);
    e.port(s.port);
    e.qp(s.qp);
    e.grh(s.grh);
    e.match_source(s.match_source);
    e.counted(s.counted);
    e.drain(s.drain);
    return e;
  }
  static abi::Event named(abi::EventKind kind, const Send& s) {
    abi::Event e;
    e.kind(kind);
    e.slot(s.slot);
    e.generation(s.generation);
    e.agent(s.agent);
    return e;
  }
  static void keep(std::vector<abi::Action>& out, const abi::Action& a) {
    if (a.kind() != abi::ActionKind::none || a.retry_queued()) out.push_back(a);
  }
  void settle(std::vector<abi::Action>& out) {
    while (hls::Tracker::reached(now_, bank_->memory().wake())) keep(out, tick());
  }

  uint64_t seed_;
  uint32_t now_ = 0;
  std::unique_ptr<hls::Bank<Memory>> bank_;
};

}  // namespace tidemill::test
