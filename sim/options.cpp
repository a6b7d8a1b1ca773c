// SPDX-License-Identifier: Apache-2.0
#include "sim/options.hpp"

#include <charconv>

namespace tidemill::sim {
namespace {

template <class Number>
bool parse(const std::string& text, Number& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() && value >= 0;
}

}  // namespace

bool set_option(Options& o, const std::string& name, const std::string& value, bool& known) {
  known = true;
  if (name == "seed") return parse(value, o.seed);
  if (name == "stall") return parse(value, o.stall) && o.stall < 1;
  if (name == "axi_errors") {
    o.write_error = 0;
    return parse(value, o.read_error) && parse(value, o.write_error) && o.read_error <= 1;
  }
  if (name == "lost_answers") return parse(value, o.lost_answer) && o.lost_answer <= 1;
  if (name == "read_latency") return parse(value, o.read_latency_ns);
  if (name == "write_latency") return parse(value, o.write_latency_ns);
  if (name == "trace_from") return parse(value, o.trace_from);
  if (name == "trace") {
    o.trace = value;
    return true;
  }
  if (name == "statistics") {
    o.statistics = value;
    return true;
  }
  known = false;
  return false;
}

}  // namespace tidemill::sim
