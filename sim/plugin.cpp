// SPDX-License-Identifier: Apache-2.0
/// What the runtime finds when it loads the co-simulation.
#include "device/card_device.hpp"
#include "sim/cosim_card.hpp"
#include "device/plugin.hpp"

namespace {

using tidemill::Error;
using tidemill::Errc;
using tidemill::Result;
using tidemill::device::Backend;

}  // namespace

extern "C" Result<std::unique_ptr<Backend>>* tidemill_open_device(const tidemill::device::PluginRequest& request) {
  tidemill::sim::Options options;
  uint64_t seed = 1;
  for (const auto& [name, value] : request.options) {
    if (name == "seed") {
      seed = std::stoull(value);
      options.seed = seed;
    } else if (name == "stall") {
      options.stall = std::stod(value);
    } else if (name == "read_latency") {
      options.read_latency_ns = std::stod(value);
    } else if (name == "write_latency") {
      options.write_latency_ns = std::stod(value);
    } else if (name == "axi_errors") {
      options.read_error = options.write_error = std::stod(value);
    } else if (name == "lost_answers") {
      options.lost_answer = std::stod(value);
    } else if (name == "trace") {
      options.trace = value;
    } else if (name == "trace_from") {
      options.trace_from = std::stoull(value);
    } else if (name == "statistics") {
      options.statistics = value;
    } else {
      return new Result<std::unique_ptr<Backend>>(
          Error{Errc::bad_uri, "device URI '" + request.uri + "': unknown option '" + name +
                                   "'; cosim: knows seed, stall, axi_errors, lost_answers, read_latency, write_latency, trace, trace_from and statistics"});
    }
  }
  auto card = std::make_unique<tidemill::sim::CosimCard>(options, !request.virtual_clock);
  return new Result<std::unique_ptr<Backend>>(tidemill::device::CardDevice::open(std::move(card), seed));
}
