// SPDX-License-Identifier: Apache-2.0
/// How far a run is: a bar that stays on its line on a terminal, a line now and then elsewhere.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "tally.hpp"

namespace tidemill::soak {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// What the run ends by: a number of sends, a duration, or neither.
  struct Goal {
    uint64_t sends = 0;
    std::chrono::duration<double> time{0};
  };

  Progress(std::FILE* out, bool terminal, Goal goal);
  void update(const Tally& tally);
  /// Takes the bar away.
  void done();
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  void draw(const Tally& tally, double done, double seconds);

  std::FILE* out_;
  bool terminal_;
  Goal goal_;
  Clock::time_point start_ = Clock::now();
  double next_ = 0;  ///< Seconds on a terminal, else share of the goal or seconds.
};

}  // namespace tidemill::soak
