// SPDX-License-Identifier: Apache-2.0
/// Random numbers of a run: the same seed draws the same ones on every machine.
#pragma once
#include <cstdint>
#include <random>

namespace tidemill::soak {

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}

  uint64_t bits() { return engine_(); }
  /// 0 to n - 1.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(((engine_() >> 32) * n) >> 32); }
  uint32_t between(uint32_t low, uint32_t high) { return low + below(high - low + 1); }
  bool chance(double probability) { return static_cast<double>(engine_() >> 11) * 0x1p-53 < probability; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tidemill::soak
