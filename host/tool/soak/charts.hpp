// SPDX-License-Identifier: Apache-2.0
/// Charts as inline SVG. Colours and fonts come from the page's style sheet by class name.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tally.hpp"

namespace tidemill::soak {

struct NamedCount {
  std::string name;
  uint64_t count;
  std::string style;  ///< Class of the bar.
};

/// Horizontal bars with the count and its share of all.
std::string bar_chart(const std::vector<NamedCount>& rows, const std::string& title);
/// Columns over duration classes, `below` with `above` on top of it.
std::string histogram_chart(const Histogram& below, const Histogram& above, const std::string& title);
/// A filled curve over time, up to tick `until`.
std::string series_chart(const Series& series, uint32_t until, const std::string& title);

}  // namespace tidemill::soak
