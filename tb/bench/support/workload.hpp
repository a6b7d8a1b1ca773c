// SPDX-License-Identifier: Apache-2.0
/// What every benchmark of outstanding sends does: a fixed number is live; each turn ends a random one and starts a new
/// one in its place.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>

namespace tidemill::bench {

/// Sends outstanding, the x axis of every curve.
inline void outstanding(benchmark::internal::Benchmark* b) {
  for (const int n : {16, 64, 256, 1024, 4096, 16384, 65536}) b->Arg(n);
}

/// Events that come together from a ring; a quarter of the sends if those are few.
inline constexpr uint32_t kBatch = 16;
inline uint32_t batch_of(uint32_t outstanding) {
  return std::min(kBatch, outstanding / 4);
}

/// xorshift64: cheap beside what is measured, and the same numbers in every run.
class Random {
 public:
  explicit Random(uint64_t seed = 0x2545f4914f6cdd1d) : state_(seed) {}
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  /// 0 to n - 1.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(((next() >> 32) * n) >> 32); }

 private:
  uint64_t state_;
};

/// TIDs as the runtime makes them: agent id above, a counter below.
class TidCounter {
 public:
  static constexpr uint32_t kAgent = 1000;
  uint64_t next() { return (uint64_t{kAgent} << 32) | count_++; }

 private:
  uint32_t count_ = 0;
};

}  // namespace tidemill::bench
