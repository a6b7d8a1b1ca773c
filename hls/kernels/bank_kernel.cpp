// SPDX-License-Identifier: Apache-2.0
/// Kernel top of one bank: one event in, one action out, for ever. Two forms of one body, over one state:
/// bank_kernel between AXI4-Streams for Vitis HLS, bank_step between scalars for HLS tools without streams of our width.
/// The stream form also clears its state (kClearKind). A step keeps its inputs until it is done. Cycles: hls/cycle_table.hpp.
#include "hls/bank.hpp"
#include "hls/kernel_memory.hpp"

namespace {

using Memory = tidemill::hls::KernelBankMemory<tidemill::hls::CardBankConfig>;
using Bank = tidemill::hls::Bank<Memory>;
Bank bank;

}  // namespace

#ifndef __SYNTHESIS__
extern "C" void bank_step(uint64_t e0, uint64_t e1, uint64_t e2, uint64_t e3, uint64_t e4, uint64_t e5, uint64_t e6,
                          uint64_t e7, uint64_t* a0, uint64_t* a1, uint64_t* a2, uint64_t* a3) {
  tidemill::abi::Event e;
  e.w0 = e0;
  e.w1 = e1;
  e.w2 = e2;
  e.w3 = e3;
  e.w4 = e4;
  e.w5 = e5;
  e.w6 = e6;
  e.w7 = e7;
  const tidemill::abi::Action a = bank.step(e);
  *a0 = a.w0;
  *a1 = a.w1;
  *a2 = a.w2;
  *a3 = a.w3;
}
#endif

#ifndef __BAMBU__
#include <ap_int.h>
#include <hls_stream.h>

extern "C" void bank_kernel(hls::stream<ap_uint<512>>& events, hls::stream<ap_uint<256>>& actions) {
#pragma HLS INTERFACE mode=axis port=events
#pragma HLS INTERFACE mode=axis port=actions
#pragma HLS INTERFACE mode=ap_ctrl_none port=return
#pragma HLS PIPELINE off
  const ap_uint<512> in = events.read();
  tidemill::abi::Event e;
  e.w0 = in.to_uint64();
  e.w1 = (in >> 64).to_uint64();
  e.w2 = (in >> 128).to_uint64();
  e.w3 = (in >> 192).to_uint64();
  e.w4 = (in >> 256).to_uint64();
  e.w5 = (in >> 320).to_uint64();
  e.w6 = (in >> 384).to_uint64();
  e.w7 = (in >> 448).to_uint64();
  tidemill::abi::Action a{};
  if (static_cast<uint32_t>(e.kind()) == tidemill::hls::kClearKind)
    Memory::clear();
  else
    a = bank.step(e);
  actions.write(ap_uint<256>(a.w0) | (ap_uint<256>(a.w1) << 64) | (ap_uint<256>(a.w2) << 128) |
                (ap_uint<256>(a.w3) << 192));
}
#endif
