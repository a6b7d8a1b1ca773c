// SPDX-License-Identifier: Apache-2.0
/// The shell of a bank, as thin as it gets: it hashes TIDs and issues an event again while the bank asks for it.
#pragma once
#include <cstdint>
#include <memory>

#include "hls/bank.hpp"
#include "hls/bank_memory.hpp"
#include "hls/tid_hash.hpp"
#include "tb/bench/support/workload.hpp"

namespace tidemill::bench {

class BankShell {
 public:
  static constexpr uint32_t kTimeout = 400'000;  ///< Ticks, about 400 ms: no send waits so long here.

  static uint64_t hash(uint64_t tid) { return hls::tid_hash(tid, 0x243f6a8885a308d3); }

  [[gnu::always_inline]] inline abi::ActionKind descriptor(uint16_t slot, uint16_t generation, uint64_t tid,
                                                           uint64_t hash) {
    abi::Event e;
    e.kind(abi::EventKind::descriptor);
    e.tid(tid);
    e.slot(slot);
    e.generation(generation);
    e.agent(TidCounter::kAgent);
    e.mgmt_class(3);
    e.timeout(kTimeout);
    e.peer(7);
    e.retries(3);
    e.port(1);
    e.qp(true);
    e.hash(hash);
    return issue(e);
  }
  [[gnu::always_inline]] inline abi::ActionKind sent(uint16_t slot, uint16_t generation) {
    abi::Event e;
    e.kind(abi::EventKind::sent);
    e.slot(slot);
    e.generation(generation);
    return issue(e);
  }
  [[gnu::always_inline]] inline abi::ActionKind received(uint64_t tid, uint64_t hash) {
    abi::Event e;
    e.kind(abi::EventKind::received);
    e.tid(tid);
    e.mgmt_class(3);
    e.peer(7);
    e.port(1);
    e.qp(true);
    e.hash(hash);
    return issue(e);
  }
  /// Ten transactions have passed: a tick of 1.024 us at about 10 M/s. Its tick events are issued.
  void advance() {
    ++now_;
    while (hls::Tracker::reached(now_, bank_->memory().wake())) {
      abi::Event e;
      e.kind(abi::EventKind::tick);
      issue(e);
    }
  }

  // What a later event will touch comes near.
  [[gnu::always_inline]] inline void expect_search(uint64_t hash) const { Matcher::expect(bank_->memory(), hash); }
  [[gnu::always_inline]] inline void expect_match(uint64_t hash) const {
    const auto search = Matcher::search(bank_->memory(), hash, 0);
    bank_->memory().expect_slot(Matcher::slot_of(search, Matcher::first(search)));
  }

 private:
  using Bank = hls::Bank<hls::BankMemory<hls::HostBankConfig>>;
  using Matcher = hls::TidMatcher<hls::BankMemory<hls::HostBankConfig>>;

  [[gnu::always_inline]] inline abi::ActionKind issue(abi::Event& e) {
    e.now(now_);
    abi::Action a = bank_->step(e);
    while (a.again()) [[unlikely]] a = again(e, a);
    return a.kind();
  }
  [[gnu::noinline]] abi::Action again(abi::Event& e, const abi::Action& a) {
    e.cursor(a.cursor());
    e.cause(a.cause());
    e.tid(a.tid());
    e.hash(hash(a.tid()));
    return bank_->step(e);
  }

  std::unique_ptr<Bank> bank_ = std::make_unique<Bank>();
  uint32_t now_ = 0;
};

}  // namespace tidemill::bench
