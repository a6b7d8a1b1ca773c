// SPDX-License-Identifier: Apache-2.0
/// A finished run in words and pictures.
#pragma once
#include <cstdint>
#include <string>

#include "run.hpp"

namespace tidemill::soak {

struct Report {
  const Result& result;
  double seconds;  ///< Wall-clock.

  double mads_per_second() const {
    return seconds > 0 ? static_cast<double>(result.tally.mads()) / seconds : 0;
  }
};

/// Bars and a verdict for a terminal.
std::string terminal_summary(const Report& report, bool colour);
/// One self-contained page with inline SVG.
std::string html_report(const Report& report);
std::string json_report(const Report& report);

/// 1234567 as 1,234,567.
std::string grouped(uint64_t value);
/// 0.0271 as "2.7 %".
std::string percent(double share);
double share_of(uint64_t part, uint64_t whole);
/// Bounds of a histogram class as text: "12-15".
std::string class_name(unsigned i);
/// One tick, by default.
inline constexpr double kTickSeconds = 1.024e-6;

}  // namespace tidemill::soak
