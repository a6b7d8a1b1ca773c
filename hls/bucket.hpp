// SPDX-License-Identifier: Apache-2.0
/// Four entries of 32 bits in two 64-bit words, the row of a matcher table. An entry is valid (31), fingerprint, slot;
/// zero is empty. Masks have one bit for each entry.
#pragma once
#include <stdint.h>
#if defined(__SSE2__) && !defined(__BAMBU__) && !defined(__SYNTHESIS__)
#define TIDEMILL_SSE2
#include <emmintrin.h>
#endif

namespace tidemill::hls {

struct alignas(16) Bucket {
  static constexpr uint32_t kValid = 0x80000000u;

  uint64_t low = 0;   ///< Entries 0 and 1.
  uint64_t high = 0;  ///< Entries 2 and 3.

  /// Entries that equal `want` in the bits of `mask`: what hardware does in one level of comparators.
  [[gnu::always_inline]] constexpr uint32_t equal_plain(uint32_t want, uint32_t mask) const {
    return zero_halves((low ^ both(want)) & both(mask)) | (zero_halves((high ^ both(want)) & both(mask)) << 2);
  }
  /// Entries that are not valid.
  [[gnu::always_inline]] constexpr uint32_t empty_plain() const { return top_halves(~low) | (top_halves(~high) << 2); }

#ifdef TIDEMILL_SSE2
  [[gnu::always_inline]] uint32_t equal(uint32_t want, uint32_t mask) const {
    const __m128i masked = _mm_and_si128(row(), _mm_set1_epi32(static_cast<int>(mask)));
    return tops(_mm_cmpeq_epi32(masked, _mm_set1_epi32(static_cast<int>(want & mask))));
  }
  [[gnu::always_inline]] uint32_t empty() const { return tops(row()) ^ 15u; }
  [[gnu::always_inline]] uint32_t entry(uint32_t way) const {
    uint32_t value;
    __builtin_memcpy(&value, reinterpret_cast<const char*>(this) + 4 * way, 4);
    return value;
  }
  [[gnu::always_inline]] void entry(uint32_t way, uint32_t value) {
    __builtin_memcpy(reinterpret_cast<char*>(this) + 4 * way, &value, 4);
  }
#else
  [[gnu::always_inline]] constexpr uint32_t equal(uint32_t want, uint32_t mask) const { return equal_plain(want, mask); }
  [[gnu::always_inline]] constexpr uint32_t empty() const { return empty_plain(); }
  [[gnu::always_inline]] constexpr uint32_t entry(uint32_t way) const { return entry_plain(way); }
  [[gnu::always_inline]] constexpr void entry(uint32_t way, uint32_t value) { entry_plain(way, value); }
#endif

  [[gnu::always_inline]] constexpr uint32_t entry_plain(uint32_t way) const {
    return static_cast<uint32_t>(((way & 2u) ? high : low) >> ((way & 1u) * 32u));
  }
  [[gnu::always_inline]] constexpr void entry_plain(uint32_t way, uint32_t value) {
    const unsigned shift = (way & 1u) * 32u;
    const uint64_t mask = uint64_t{0xffffffffu} << shift, bits = uint64_t{value} << shift;
    low = (way & 2u) ? low : (low & ~mask) | bits;
    high = (way & 2u) ? (high & ~mask) | bits : high;
  }

 private:
#ifdef TIDEMILL_SSE2
  [[gnu::always_inline]] __m128i row() const { return _mm_load_si128(reinterpret_cast<const __m128i*>(this)); }
  [[gnu::always_inline]] static uint32_t tops(__m128i words) {
    return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(words)));
  }
#endif
  [[gnu::always_inline]] static constexpr uint64_t both(uint32_t v) { return (uint64_t{v} << 32) | v; }
  [[gnu::always_inline]] static constexpr uint32_t zero_halves(uint64_t word) {
    return uint32_t{static_cast<uint32_t>(word) == 0} | (uint32_t{(word >> 32) == 0} << 1);
  }
  [[gnu::always_inline]] static constexpr uint32_t top_halves(uint64_t word) {
    return (static_cast<uint32_t>(word >> 31) & 1u) | (static_cast<uint32_t>(word >> 62) & 2u);
  }
};

/// A bucket looked at where it stands, for memories that can.
struct BucketView {
  const Bucket* bucket = nullptr;

  [[gnu::always_inline]] uint32_t equal(uint32_t want, uint32_t mask) const { return bucket->equal(want, mask); }
  [[gnu::always_inline]] uint32_t empty() const { return bucket->empty(); }
  [[gnu::always_inline]] uint32_t entry(uint32_t way) const { return bucket->entry(way); }
};

}  // namespace tidemill::hls
