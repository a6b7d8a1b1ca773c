// SPDX-License-Identifier: Apache-2.0
/// What a run counts.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "tidemill/abi.hpp"

namespace tidemill::soak {

/// Durations in ticks, two classes an octave: 0, 1, 2, 3, 4-5, 6-7, 8-11, 12-15, ...
class Histogram {
 public:
  static constexpr unsigned kClasses = 48;

  void add(uint32_t ticks) {
    ++counts_[class_of(ticks)];
    ++total_;
    longest_ = std::max(longest_, ticks);
  }
  uint64_t total() const { return total_; }
  uint32_t longest() const { return longest_; }
  uint64_t count(unsigned i) const { return counts_[i]; }
  static constexpr unsigned class_of(uint32_t ticks) {
    if (ticks < 2) return ticks;
    const auto octave = static_cast<unsigned>(std::bit_width(ticks)) - 1u;
    return std::min(octave * 2u + ((ticks >> (octave - 1u)) & 1u), kClasses - 1u);
  }
  /// Shortest duration of a class.
  static constexpr uint32_t first(unsigned i) { return i < 2 ? i : (2u + (i & 1u)) << (i / 2u - 1u); }
  /// The class below which the given share of all durations lies, as its longest duration.
  uint32_t percentile(double share) const {
    const auto wanted = static_cast<uint64_t>(share * static_cast<double>(total_));
    uint64_t seen = 0;
    for (unsigned i = 0; i < kClasses; ++i) {
      seen += counts_[i];
      if (seen > wanted) return std::min(first(i + 1) - 1u, longest_);
    }
    return longest_;
  }

 private:
  std::array<uint64_t, kClasses> counts_{};
  uint64_t total_ = 0;
  uint32_t longest_ = 0;
};

/// The largest value in each interval of time. The intervals double when there would be too many of them.
class Series {
 public:
  void add(uint32_t tick, uint32_t value) {
    while (tick / interval_ >= kMost) widen();
    const size_t i = tick / interval_;
    while (points_.size() <= i) points_.push_back(last_);
    points_[i] = std::max(points_[i], value);
    last_ = value;
  }
  uint32_t interval() const { return interval_; }
  const std::vector<uint32_t>& points() const { return points_; }

 private:
  static constexpr size_t kMost = 512;
  void widen() {
    for (size_t i = 0; i < points_.size(); ++i) {
      const uint32_t value = points_[i];
      points_[i / 2] = i % 2 == 0 ? value : std::max(points_[i / 2], value);
    }
    points_.resize((points_.size() + 1) / 2);
    interval_ *= 2;
  }

  std::vector<uint32_t> points_;
  uint32_t interval_ = 1;
  uint32_t last_ = 0;
};

/// What the wire and the host did to the engine on purpose.
struct FaultCounts {
  uint64_t lost = 0;
  uint64_t duplicated = 0;
  uint64_t reordered = 0;
  uint64_t delayed = 0;
  uint64_t stale = 0;
  uint64_t forged = 0;
  uint64_t wire_errors = 0;
  uint64_t flushed_tries = 0;
  uint64_t cancels = 0;
  uint64_t modifies = 0;
  uint64_t deadlines = 0;
  uint64_t clashes = 0;
  uint64_t deregistrations = 0;
};
struct FaultInfo {
  const char* name;
  uint64_t FaultCounts::*count;
};
inline constexpr std::array<FaultInfo, 13> kFaults{{
    {"responses lost", &FaultCounts::lost},
    {"responses duplicated", &FaultCounts::duplicated},
    {"responses reordered", &FaultCounts::reordered},
    {"responses delayed", &FaultCounts::delayed},
    {"stale responses", &FaultCounts::stale},
    {"forged responses", &FaultCounts::forged},
    {"wire errors", &FaultCounts::wire_errors},
    {"tries flushed by recoveries", &FaultCounts::flushed_tries},
    {"cancels", &FaultCounts::cancels},
    {"modifies", &FaultCounts::modifies},
    {"deadlines", &FaultCounts::deadlines},
    {"clashing TIDs", &FaultCounts::clashes},
    {"deregistrations", &FaultCounts::deregistrations},
}};

struct Tally {
  uint64_t posted = 0;
  uint64_t completed = 0;
  std::array<uint64_t, abi::kStatusCount> by_status{};
  std::array<uint64_t, abi::kCauseCount> dropped{};
  uint64_t mads_out = 0;  ///< Tries on the wire.
  uint64_t mads_in = 0;   ///< Received: responses of any sort and unsolicited MADs.
  uint64_t delivered = 0;  ///< Handed up without a match.
  FaultCounts faults;
  Histogram answered;   ///< From post to completion, sends that succeeded.
  Histogram given_up;   ///< All others.
  Series outstanding;   ///< Accepted and not completed.
  uint32_t last_post = 0;  ///< Tick.
  uint64_t fingerprint = 0x7469'6465'6d69'6c6c;

  uint64_t mads() const { return mads_out + mads_in; }
  /// Two runs that completed the same sends in the same order and ticks have the same fingerprint.
  void mix(uint64_t word) { fingerprint = (std::rotl(fingerprint, 23) ^ word) * 0x9e37'79b9'7f4a'7c15; }
};

}  // namespace tidemill::soak
