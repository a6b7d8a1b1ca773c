// SPDX-License-Identifier: Apache-2.0
/// A kernel made by PandA-Bambu: arguments e0.. on wires, held until done_port; a result a0.. is valid while its _vld is
/// high. start_port stays high, so that a step starts in the cycle after the last one was done; reset is active low.
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
    for (kernel_->reset = 0; resets_ < 4; ++resets_) clock();
    kernel_->reset = 1;
  }
  ~RtlPort() { kernel_->final(); }
  RtlPort(const RtlPort&) = delete;
  RtlPort& operator=(const RtlPort&) = delete;

  Action step(const Event& event, unsigned& cycles) {
    Action action;
    Wires::drive(*kernel_, event);
    kernel_->start_port = 1;
    for (bool done = false; !done; ++cycles) {
      kernel_->eval();
      Wires::sample(*kernel_, action);
      done = kernel_->done_port;
      clock();
      if (cycles < kHung) continue;
      std::printf("the RTL hangs: no done_port in %u cycles\n", kHung);
      std::exit(1);
    }
    return action;
  }

 private:
  static constexpr unsigned kHung = 1000;

  void clock() {
    kernel_->clock = 1;
    kernel_->eval();
    kernel_->clock = 0;
    kernel_->eval();
  }

  std::unique_ptr<Kernel> kernel_ = std::make_unique<Kernel>();
  unsigned resets_ = 0;
};

}  // namespace tidemill::test
