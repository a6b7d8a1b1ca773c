// SPDX-License-Identifier: Apache-2.0
/// Stand-in for the vendors' ap_uint<N>, as far as a stream's payload needs it: built from words, shifted, joined.
/// This folder is searched last, so a tool's own header of this name comes first where there is one.
#pragma once
#include <stdint.h>

template <int Bits>
class ap_uint {
  static_assert(Bits > 0 && Bits % 64 == 0, "whole 64-bit words only");
  static constexpr int kWords = Bits / 64;

 public:
  ap_uint() = default;
  ap_uint(uint64_t low) { words_[0] = low; }  // NOLINT(google-explicit-constructor): as the vendors' type
  uint64_t to_uint64() const { return words_[0]; }

  ap_uint operator<<(int shift) const {
    ap_uint r;
    for (int to = kWords - 1, from = to - shift / 64; from >= 0; --to, --from) {
      const uint64_t carried = shift % 64 != 0 && from > 0 ? words_[from - 1] >> (64 - shift % 64) : 0;
      r.words_[to] = (words_[from] << (shift % 64)) | carried;
    }
    return r;
  }
  ap_uint operator>>(int shift) const {
    ap_uint r;
    for (int to = 0, from = shift / 64; from < kWords; ++to, ++from) {
      const uint64_t carried = shift % 64 != 0 && from + 1 < kWords ? words_[from + 1] << (64 - shift % 64) : 0;
      r.words_[to] = (words_[from] >> (shift % 64)) | carried;
    }
    return r;
  }
  ap_uint operator|(const ap_uint& o) const {
    ap_uint r;
    for (int i = 0; i < kWords; ++i) r.words_[i] = words_[i] | o.words_[i];
    return r;
  }
  bool operator==(const ap_uint& o) const {
    bool same = true;
    for (int i = 0; i < kWords; ++i) same &= words_[i] == o.words_[i];
    return same;
  }

 private:
  uint64_t words_[kWords] = {};
};
