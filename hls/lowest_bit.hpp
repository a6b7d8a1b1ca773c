// SPDX-License-Identifier: Apache-2.0
/// Number of the lowest bit set in a word, 0 for the word 0. A pure function.
#pragma once
#include <stdint.h>

namespace tidemill::hls {

/// For hardware: the bit alone, then for each bit of its number an or over half the word. No loop, no library call.
[[gnu::always_inline]] constexpr uint32_t lowest_bit_plain(uint64_t word) {
  const uint64_t lone = word & (0 - word);
  return uint32_t{(lone & 0xaaaaaaaaaaaaaaaau) != 0} | (uint32_t{(lone & 0xccccccccccccccccu) != 0} << 1) |
         (uint32_t{(lone & 0xf0f0f0f0f0f0f0f0u) != 0} << 2) | (uint32_t{(lone & 0xff00ff00ff00ff00u) != 0} << 3) |
         (uint32_t{(lone & 0xffff0000ffff0000u) != 0} << 4) | (uint32_t{(lone & 0xffffffff00000000u) != 0} << 5);
}

#if defined(__BAMBU__) || defined(__SYNTHESIS__)
[[gnu::always_inline]] constexpr uint32_t lowest_bit(uint64_t word) { return lowest_bit_plain(word); }
#else
[[gnu::always_inline]] constexpr uint32_t lowest_bit(uint64_t word) {
  return word == 0 ? 0u : static_cast<uint32_t>(__builtin_ctzll(word));
}
#endif

}  // namespace tidemill::hls
