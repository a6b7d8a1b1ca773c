// SPDX-License-Identifier: Apache-2.0
/// Keyed hash of a 64-bit TID: two rounds of a folded 64 x 64-bit multiplication (high half xor low half).
/// A pure function: it stands in front of the banks and pipelines to one result a cycle (two 64-bit
/// multipliers). The seed is drawn at reset, so that whoever chooses TIDs cannot choose buckets.
/// Bits of the result: see bank_of() and TidMatcher.
#pragma once
#include <stdint.h>

namespace tidemill::hls {

/// High half xor low half of the 128-bit product.
[[gnu::always_inline]] constexpr uint64_t folded_product(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#else
  // What HLS tools take: four 32-bit products.
  const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
  const uint64_t middle = (p00 >> 32) + (p01 & 0xffffffffu) + (p10 & 0xffffffffu);
  const uint64_t low = (middle << 32) | (p00 & 0xffffffffu);
  return low ^ (p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32));
#endif
}

[[gnu::always_inline]] constexpr uint64_t tid_hash(uint64_t tid, uint64_t seed) {
  // Odd constants without structure: the fractional bits of the golden ratio and of sqrt(2).
  const uint64_t once = folded_product(tid ^ seed, 0x9e3779b97f4a7c15u ^ (seed << 1));
  return folded_product(once ^ 0x6a09e667f3bcc909u, (seed ^ 0x9e3779b97f4a7c15u) | 1u);
}

/// The bank of a TID: the top bits of its hash, which the matcher does not use.
[[gnu::always_inline]] constexpr uint32_t bank_of(uint64_t hash, unsigned bank_bits) {
  return bank_bits == 0 ? 0u : static_cast<uint32_t>(hash >> (64u - bank_bits));
}

}  // namespace tidemill::hls
