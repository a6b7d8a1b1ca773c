// SPDX-License-Identifier: Apache-2.0
/// What a device does, seen over time: a view that is drawn over on a terminal, a line for each look elsewhere.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/metrics.hpp"

namespace tidemill::device_tool {

class WatchView {
 public:
  WatchView(std::string title, bool terminal) : title_(std::move(title)), terminal_(terminal) {}

  /// What to print after another look, `seconds` after the one before.
  std::string look(const metrics::Metrics& m, double seconds);
  /// What to print in place of a look where nothing has been told for so long: rates of then are not those of now.
  std::string stale(double seconds) const;

  enum Row : unsigned { transmitted, matched, completed, retried, timeouts, dropped, errors, kRows };

 private:
  struct Rate {
    std::optional<uint64_t> last;
    std::vector<double> history;
  };
  std::string draw(const metrics::Metrics& m, const std::array<uint64_t, kRows>& totals) const;
  std::string line(const metrics::Metrics& m) const;

  std::string title_, screen_;
  bool terminal_;
  double elapsed_ = 0;
  unsigned looks_ = 0;
  std::array<Rate, kRows> rates_;
};

/// A number in a few characters: 950, 12.3k, 4.56M.
std::string brief(double value);

}  // namespace tidemill::device_tool
