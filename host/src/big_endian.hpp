// SPDX-License-Identifier: Apache-2.0
/// Fields in network order, read out of bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemill {

inline uint8_t get8(std::span<const std::byte> b, std::size_t at) {
  return std::to_integer<uint8_t>(b[at]);
}
inline uint16_t get16(std::span<const std::byte> b, std::size_t at) {
  return static_cast<uint16_t>(get8(b, at) << 8 | get8(b, at + 1));
}
inline uint32_t get32(std::span<const std::byte> b, std::size_t at) {
  return uint32_t{get16(b, at)} << 16 | get16(b, at + 2);
}
inline uint64_t get64(std::span<const std::byte> b, std::size_t at) {
  return uint64_t{get32(b, at)} << 32 | get32(b, at + 4);
}

}  // namespace tidemill
