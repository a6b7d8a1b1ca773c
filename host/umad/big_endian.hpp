// SPDX-License-Identifier: Apache-2.0
/// Fields of an attribute, in network order.
#pragma once
#include <cstdint>

#include "tidemill/ibsim.hpp"

namespace tidemill::umad {

inline uint8_t get8(const Ibsim::Attribute& a, std::size_t at) {
  return std::to_integer<uint8_t>(a[at]);
}
inline uint16_t get16(const Ibsim::Attribute& a, std::size_t at) {
  return static_cast<uint16_t>(get8(a, at) << 8 | get8(a, at + 1));
}
inline uint32_t get32(const Ibsim::Attribute& a, std::size_t at) {
  return uint32_t{get16(a, at)} << 16 | get16(a, at + 2);
}
inline uint64_t get64(const Ibsim::Attribute& a, std::size_t at) {
  return uint64_t{get32(a, at)} << 32 | get32(a, at + 4);
}

}  // namespace tidemill::umad
