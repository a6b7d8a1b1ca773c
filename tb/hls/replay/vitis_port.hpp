// SPDX-License-Identifier: Apache-2.0
/// A kernel made by Vitis HLS: AXI4-Streams `events` and `actions`, free running, reset active low. The next event
/// waits at the door as soon as the action is out; a step lasts from one acceptance to the next.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "Kernel.h"

namespace tidemill::test {

template <class Wires, class Event, class Action>
class RtlPort {
 public:
  RtlPort() {
    kernel_->actions_TREADY = 1;
    kernel_->ap_rst_n = 0;
    for (unsigned i = 0; i < 4; ++i) clock();
    kernel_->ap_rst_n = 1;
    for (unsigned i = 0; i < kHung && !ready(); ++i) clock();
  }
  ~RtlPort() { kernel_->final(); }
  RtlPort(const RtlPort&) = delete;
  RtlPort& operator=(const RtlPort&) = delete;

  /// Starts with the kernel ready, and leaves it so.
  Action step(const Event& event, unsigned& cycles) {
    Action action;
    Wires::drive(*kernel_, event);
    bool accepted = false, answered = false;
    while (!(accepted & answered & ready())) {
      kernel_->events_TVALID = !accepted;
      kernel_->eval();
      const bool accepts = !accepted & (kernel_->events_TREADY != 0);
      if (kernel_->actions_TVALID) {
        Wires::sample(*kernel_, action);
        answered = true;
      }
      clock();
      accepted |= accepts;
      if (++cycles < kHung) continue;
      std::printf("the RTL hangs: no action in %u cycles\n", kHung);
      std::exit(1);
    }
    return action;
  }

 private:
  static constexpr unsigned kHung = 1000;

  bool ready() {
    kernel_->events_TVALID = 1;
    kernel_->eval();
    const bool ready = kernel_->events_TREADY != 0;
    kernel_->events_TVALID = 0;
    kernel_->eval();
    return ready;
  }
  void clock() {
    kernel_->ap_clk = 1;
    kernel_->eval();
    kernel_->ap_clk = 0;
    kernel_->eval();
  }

  std::unique_ptr<Kernel> kernel_ = std::make_unique<Kernel>();
};

}  // namespace tidemill::test
