// SPDX-License-Identifier: Apache-2.0
/// Kernel top of the send arbiter, in the same two forms as bank_kernel.cpp.
#include "hls/kernel_memory.hpp"
#include "hls/send_arbiter.hpp"

namespace {

using Memory = tidemill::hls::KernelArbiterMemory<tidemill::hls::CardArbiterConfig>;
using Arbiter = tidemill::hls::SendArbiter<Memory>;

/// An arbiter is made for each step: its arrays are static, its registers are read when it is made and kept at the end.
[[gnu::always_inline]] inline uint64_t step(const tidemill::abi::ArbiterEvent& e) {
  Arbiter arbiter;
  const uint64_t a = arbiter.step(e).w0;
  arbiter.memory().keep();
  return a;
}

}  // namespace

#ifndef __SYNTHESIS__
extern "C" void arbiter_step(uint64_t e0, uint64_t* a0) {
  tidemill::abi::ArbiterEvent e;
  e.w0 = e0;
  *a0 = step(e);
}
#endif

#ifndef __BAMBU__
#include <ap_int.h>
#include <hls_stream.h>

extern "C" void arbiter_kernel(hls::stream<ap_uint<64>>& events, hls::stream<ap_uint<64>>& actions) {
#pragma HLS INTERFACE mode=axis port=events
#pragma HLS INTERFACE mode=axis port=actions
#pragma HLS INTERFACE mode=ap_ctrl_none port=return
#pragma HLS PIPELINE off
  tidemill::abi::ArbiterEvent e;
  e.w0 = events.read().to_uint64();
  uint64_t a = 0;
  if (static_cast<uint32_t>(e.kind()) == tidemill::hls::kClearKind)
    Memory::clear();
  else
    a = step(e);
  actions.write(ap_uint<64>(a));
}
#endif
