// SPDX-License-Identifier: Apache-2.0
/// What the runtime finds when it loads the co-simulation.
#include "device/plugin.hpp"

#include <charconv>

#include "device/card_device.hpp"
#include "fmt/format.h"
#include "sim/cosim_card.hpp"

namespace {

using tidemill::Errc;
using tidemill::Error;
using tidemill::Result;
using tidemill::device::Backend;
using tidemill::device::PluginRequest;
using Opened = Result<std::unique_ptr<Backend>>;

template <class Number>
bool parse(const std::string& text, Number& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() && value >= 0;
}

/// Sets one option of the URI; false if its value is no number where one is wanted.
bool set(tidemill::sim::Options& o, const std::string& name, const std::string& value, bool& known) {
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

Opened open(const PluginRequest& request) {
  tidemill::sim::Options options;
  if (!request.path.empty())
    return Error{Errc::bad_uri, fmt::format("device URI '{}': cosim: takes no path, but has '{}'", request.uri, request.path)};
  for (const auto& [name, value] : request.options) {
    bool known = false;
    if (set(options, name, value, known)) continue;
    return Error{Errc::bad_uri,
                 known ? fmt::format("device URI '{}': {}={} is out of range; give a number (a probability from 0 to 1 for faults, below 1 for stall)",
                                     request.uri, name, value)
                       : fmt::format("device URI '{}': unknown option '{}'; cosim: knows seed, stall, axi_errors, lost_answers, read_latency, "
                                     "write_latency, trace, trace_from and statistics",
                                     request.uri, name)};
  }
  auto card = std::make_unique<tidemill::sim::CosimCard>(options, !request.virtual_clock);
  return tidemill::device::CardDevice::open(std::move(card), options.seed);
}

}  // namespace

extern "C" Opened* tidemill_open_device(const PluginRequest& request) { return new Opened(open(request)); }
