// SPDX-License-Identifier: Apache-2.0
/// Declared cycles of each event in an unpipelined bank and of each arbiter event: what the co-simulation charges and
/// what RTL made by an HLS tool is held against. A transaction is descriptor + sent + received.
#pragma once
#include "tidemill/abi.hpp"

namespace tidemill::hls {

[[gnu::always_inline]] constexpr unsigned declared_cycles(abi::EventKind kind) {
  switch (kind) {
    case abi::EventKind::descriptor: return 8;
    case abi::EventKind::sent: return 8;
    case abi::EventKind::received: return 8;
    case abi::EventKind::grant: return 12;
    case abi::EventKind::cancel: return 10;
    case abi::EventKind::modify: return 10;
    case abi::EventKind::deadline: return 10;
    case abi::EventKind::flush: return 12;
    case abi::EventKind::tick: return 12;
  }
  return 12;
}
[[gnu::always_inline]] constexpr unsigned declared_cycles(abi::ArbiterKind) { return 5; }

inline constexpr unsigned kTransactionCycles = declared_cycles(abi::EventKind::descriptor) +
                                               declared_cycles(abi::EventKind::sent) +
                                               declared_cycles(abi::EventKind::received);
static_assert(kTransactionCycles <= 24, "8 banks at 250 MHz must carry 36.1 M transactions a second with room to spare");

}  // namespace tidemill::hls
