// SPDX-License-Identifier: Apache-2.0
/// Chance, repeatable from a seed. Source of the generator: SplitMix64 (Steele, Lea, Flood 2014).
#pragma once
#include <cmath>
#include <cstdint>

namespace tidemill::fabric {

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 to n - 1; 0 for n = 0.
  uint64_t below(uint64_t n) { return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64); }

 private:
  uint64_t state_;
};

/// A probability; 0 and 1 are exact and throw no dice.
class Rate {
 public:
  Rate() = default;
  explicit Rate(double p) : always_(p >= 1), threshold_(p > 0 && p < 1 ? static_cast<uint64_t>(std::ldexp(p, 64)) : 0) {}

  bool possible() const { return always_ || threshold_ != 0; }
  bool hits(Dice& dice) const { return always_ || (threshold_ != 0 && dice.next() < threshold_); }

 private:
  bool always_ = false;
  uint64_t threshold_ = 0;
};

}  // namespace tidemill::fabric
