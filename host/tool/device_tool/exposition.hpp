// SPDX-License-Identifier: Apache-2.0
/// Reads back what a device has published, and shows metrics to people and programs.
#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "metrics/metrics.hpp"
#include "tidemill/error.hpp"

namespace tidemill::device_tool {

/// Metrics out of their text exposition; an error names the line.
Result<metrics::Metrics> parse_exposition(const std::string& text);
struct Published {
  metrics::Metrics metrics;
  std::chrono::system_clock::time_point written;  ///< Another one: another snapshot.
};
/// The file of a process that has TIDEMILL_METRICS set. An error says why there is none.
Result<Published> read_published(const std::string& path);

/// By name; what has labels as a list of {labels, value}.
nlohmann::json to_json(const metrics::Metrics& m);
/// All that is not 0, for people.
std::string to_table(const metrics::Metrics& m);

}  // namespace tidemill::device_tool
