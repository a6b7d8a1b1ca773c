// SPDX-License-Identifier: Apache-2.0
/// The scalar kernel tops, called with the shared layouts.
#pragma once
#include <stdint.h>

#include "tidemill/abi.hpp"

extern "C" void bank_step(uint64_t e0, uint64_t e1, uint64_t e2, uint64_t e3, uint64_t e4, uint64_t e5, uint64_t e6,
                          uint64_t e7, uint64_t* a0, uint64_t* a1, uint64_t* a2, uint64_t* a3);
extern "C" void arbiter_step(uint64_t e0, uint64_t* a0);

namespace tidemill::test {

inline abi::Action step_bank(const abi::Event& e) {
  abi::Action a;
  bank_step(e.w0, e.w1, e.w2, e.w3, e.w4, e.w5, e.w6, e.w7, &a.w0, &a.w1, &a.w2, &a.w3);
  return a;
}
inline abi::ArbiterAction step_arbiter(const abi::ArbiterEvent& e) {
  abi::ArbiterAction a;
  arbiter_step(e.w0, &a.w0);
  return a;
}

}  // namespace tidemill::test
