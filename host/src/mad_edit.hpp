// SPDX-License-Identifier: Apache-2.0
/// Big-endian fields of a MAD that is changed where it lies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "tidemill/mad.hpp"

namespace tidemill {

using MadBytes = std::span<std::byte, kMadBytes>;

inline void put8(MadBytes mad, std::size_t at, uint8_t v) { mad[at] = std::byte{v}; }
inline void put16(MadBytes mad, std::size_t at, uint16_t v) {
  put8(mad, at, static_cast<uint8_t>(v >> 8));
  put8(mad, at + 1, static_cast<uint8_t>(v));
}
inline void put32(MadBytes mad, std::size_t at, uint32_t v) {
  put16(mad, at, static_cast<uint16_t>(v >> 16));
  put16(mad, at + 2, static_cast<uint16_t>(v));
}
inline void put64(MadBytes mad, std::size_t at, uint64_t v) {
  put32(mad, at, static_cast<uint32_t>(v >> 32));
  put32(mad, at + 4, static_cast<uint32_t>(v));
}

/// Turns a request into its answer. All other bytes stay: TID, attribute, OUI, route and data. The status of a
/// directed-route SMP carries the direction bit, which sends it back the way it came.
inline void become_response(MadBytes mad, uint16_t status) {
  if (MadView(mad).is_directed_route()) status |= kDirectionBit;
  put8(mad, 3, mad_method::get_resp);
  put16(mad, 4, status);
}

}  // namespace tidemill
