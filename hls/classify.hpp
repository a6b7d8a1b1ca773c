// SPDX-License-Identifier: Apache-2.0
/// Is a MAD a response? It has the R bit in its method, or is a TrapRepress, or is of the BM class with bit 0 of the
/// attribute modifier. A pure function in front of the banks. Source: IBA 13.4.5.
#pragma once
#include <stdint.h>

namespace tidemill::hls {

inline constexpr uint8_t kMethodResponseBit = 0x80;
inline constexpr uint8_t kMethodTrapRepress = 0x07;
inline constexpr uint8_t kClassBm = 0x05;

[[gnu::always_inline]] constexpr bool is_response(uint8_t mgmt_class, uint8_t method, uint32_t attribute_modifier) {
  return ((method & kMethodResponseBit) != 0) | (method == kMethodTrapRepress) |
         ((mgmt_class == kClassBm) & ((attribute_modifier & 1u) != 0));
}

}  // namespace tidemill::hls
