// SPDX-License-Identifier: Apache-2.0
/// The HLS kernels as SystemC modules: the same C++ that HLS tools turn into logic, with the cycles that are declared for
/// each event (hls/cycle_table.hpp). An event taken in one cycle is answered that many cycles later; until its action has
/// been taken, no other event is.
#pragma once
#include <memory>
#include <systemc>

#include "hls/arbiter_memory.hpp"
#include "hls/bank.hpp"
#include "hls/bank_memory.hpp"
#include "hls/cycle_table.hpp"
#include "hls/send_arbiter.hpp"

namespace tidemill::sim {

template <class Engine>
class Kernel : public sc_core::sc_module {
 public:
  using Event = typename Engine::Event;
  using Action = typename Engine::Action;

  Kernel(const sc_core::sc_module_name& name, sc_core::sc_time period) : sc_module(name), period_(period), engine_(std::make_unique<Engine>()) {
    SC_HAS_PROCESS(Kernel);
    SC_METHOD(answer);
    sensitive << computed_;
    dont_initialize();
  }

  bool ready() const { return state_ == State::idle; }
  bool valid() const { return state_ == State::answering; }
  const Action& action() const { return action_; }

  /// At a clock edge at which it was ready.
  void take(const Event& e) {
    action_ = engine_->step(e);
    busy_cycles_ += engine_->cycles(e, action_);
    state_ = State::working;
    // Half a cycle before the edge at which the action is first there.
    computed_.notify(period_ * (static_cast<double>(engine_->cycles(e, action_)) - 0.5));
  }
  /// At a clock edge at which it was valid and the other side ready.
  void taken() { state_ = State::idle; }
  void reset() {
    engine_ = std::make_unique<Engine>();
    computed_.cancel();
    state_ = State::idle;
  }
  uint64_t busy_cycles() const { return busy_cycles_; }

 private:
  enum class State { idle, working, answering };
  void answer() { state_ = State::answering; }

  const sc_core::sc_time period_;
  sc_core::sc_event computed_;
  std::unique_ptr<Engine> engine_;
  State state_ = State::idle;
  Action action_{};
  uint64_t busy_cycles_ = 0;
};

struct BankEngine {
  using Event = abi::Event;
  using Action = abi::Action;
  hls::Bank<hls::BankMemory<hls::CardBankConfig>> bank;
  Action step(const Event& e) { return bank.step(e); }
  static unsigned cycles(const Event& e, const Action& a) { return hls::declared_cycles(e.kind(), a.straight()); }
};
struct ArbiterEngine {
  using Event = abi::ArbiterEvent;
  using Action = abi::ArbiterAction;
  hls::SendArbiter<hls::ArbiterMemory<hls::CardArbiterConfig>> arbiter;
  Action step(const Event& e) { return arbiter.step(e); }
  static unsigned cycles(const Event& e, const Action&) { return hls::declared_cycles(e.kind()); }
};

using BankKernel = Kernel<BankEngine>;
using ArbiterKernel = Kernel<ArbiterEngine>;

}  // namespace tidemill::sim
