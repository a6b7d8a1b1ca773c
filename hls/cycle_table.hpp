// SPDX-License-Identifier: Apache-2.0
/// Declared cycles of each event in an unpipelined bank and of each arbiter event: what the co-simulation charges and
/// what RTL made by an HLS tool is held against. Each is the longest that was measured over 100,000 random events in RTL
/// that PandA-Bambu made for 250 MHz (docs/engine/hls-flow.md); a bank tells with each action (`straight`) which one counts.
/// A transaction is descriptor + sent + received.
#pragma once
#include "tidemill/abi.hpp"

namespace tidemill::hls {

struct EventCycles {
  unsigned straight;  ///< The straight lines, and what is refused or empty at the first look.
  unsigned rest;      ///< Everything else.
};

inline constexpr EventCycles kDeclaredCycles[abi::kEventKindCount] = {
    {8, 32},   // descriptor
    {14, 25},  // sent
    {11, 11},  // received
    {12, 32},  // grant
    {9, 24},   // cancel
    {9, 22},   // modify
    {9, 22},   // deadline
    {10, 27},  // flush
    {20, 38},  // tick: a timer fires; or the wheel turns, moves a timer down, or a deadline is put off
};
[[gnu::always_inline]] constexpr unsigned declared_cycles(abi::EventKind kind, bool straight) {
  const EventCycles& cycles = kDeclaredCycles[static_cast<unsigned>(kind)];
  return straight ? cycles.straight : cycles.rest;
}
[[gnu::always_inline]] constexpr unsigned declared_cycles(abi::ArbiterKind kind) {
  switch (kind) {
    case abi::ArbiterKind::wire_credit: return 3;
    case abi::ArbiterKind::doorbell:
    case abi::ArbiterKind::window_credit: return 12;
    default: return 13;
  }
}

inline constexpr unsigned kTransactionCycles = declared_cycles(abi::EventKind::descriptor, true) +
                                               declared_cycles(abi::EventKind::sent, true) +
                                               declared_cycles(abi::EventKind::received, true);
static_assert(kTransactionCycles <= 36, "8 banks at 250 MHz must carry 36.1 M transactions a second with room to spare");

}  // namespace tidemill::hls
