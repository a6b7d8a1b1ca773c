// SPDX-License-Identifier: Apache-2.0
/// What the runtime finds when it loads the co-simulation.
#include "device/plugin.hpp"

#include "device/card_device.hpp"
#include "fmt/format.h"
#include "sim/cosim_card.hpp"

namespace {

using tidemill::Errc;
using tidemill::Error;
using tidemill::Result;
using tidemill::device::Backend;
using tidemill::device::PluginRequest;
using tidemill::device::Card;
using tidemill::sim::CosimCard;
using Opened = Result<std::unique_ptr<Backend>>;
using OpenedCard = Result<std::unique_ptr<Card>>;

Result<tidemill::sim::Options> choose(const PluginRequest& request) {
  tidemill::sim::Options options;
  if (!request.path.empty())
    return Error{Errc::bad_uri, fmt::format("device URI '{}': cosim: takes no path, but has '{}'", request.uri, request.path)};
  for (const auto& [name, value] : request.options) {
    bool known = false;
    if (tidemill::sim::set_option(options, name, value, known)) continue;
    return Error{Errc::bad_uri,
                 known ? fmt::format("device URI '{}': {}={} is out of range; give a number (a probability from 0 to 1 for faults, below 1 for stall)",
                                     request.uri, name, value)
                       : fmt::format("device URI '{}': unknown option '{}'; cosim: knows seed, stall, axi_errors, lost_answers, read_latency, "
                                     "write_latency, trace, trace_from and statistics",
                                     request.uri, name)};
  }
  return options;
}

Opened open(const PluginRequest& request) {
  const auto options = choose(request);
  if (!options) return options.error();
  return tidemill::device::CardDevice::open(std::make_unique<CosimCard>(options.value(), !request.virtual_clock), options.value().seed);
}

OpenedCard open_card(const PluginRequest& request) {
  const auto options = choose(request);
  if (!options) return options.error();
  return std::unique_ptr<Card>(std::make_unique<CosimCard>(options.value(), false));
}

}  // namespace

extern "C" Opened* tidemill_open_device(const PluginRequest& request) { return new Opened(open(request)); }
extern "C" OpenedCard* tidemill_open_card(const PluginRequest& request) { return new OpenedCard(open_card(request)); }
