// SPDX-License-Identifier: Apache-2.0
/// Declared cycles of each event in an unpipelined bank and of each arbiter event: what the co-simulation charges and
/// what RTL made by an HLS tool is held against. A transaction is descriptor + sent + received.
#pragma once
#include "tidemill/abi.hpp"

namespace tidemill::hls {

inline constexpr unsigned kDeclaredCycles[abi::kEventKindCount] = {
    8,   // descriptor
    8,   // sent
    8,   // received
    12,  // grant
    10,  // cancel
    10,  // modify
    10,  // deadline
    12,  // flush
    12,  // tick
};
[[gnu::always_inline]] constexpr unsigned declared_cycles(abi::EventKind kind) {
  return kDeclaredCycles[static_cast<unsigned>(kind)];
}
[[gnu::always_inline]] constexpr unsigned declared_cycles(abi::ArbiterKind) { return 5; }

inline constexpr unsigned kTransactionCycles = declared_cycles(abi::EventKind::descriptor) +
                                               declared_cycles(abi::EventKind::sent) +
                                               declared_cycles(abi::EventKind::received);
static_assert(kTransactionCycles <= 24, "8 banks at 250 MHz must carry 36.1 M transactions a second with room to spare");

}  // namespace tidemill::hls
