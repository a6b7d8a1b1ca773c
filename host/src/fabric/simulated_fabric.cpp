// SPDX-License-Identifier: Apache-2.0
#include "tidemill/fabric.hpp"

#include <fmt/format.h>

#include <utility>

#include "fabric/fabric_core.hpp"
#include "fabric/fabric_port.hpp"

namespace tidemill {

struct SimulatedFabric::State {
  fabric::FabricCore core;
};

namespace {

/// Keeps the fabric alive and the node to itself.
class FabricWire final : public Wire {
 public:
  FabricWire(std::shared_ptr<void> fabric, fabric::FabricCore& core, fabric::DeviceNumber node, fabric::FabricPort& port)
      : fabric_(std::move(fabric)), core_(core), node_(node), port_(port) {}
  ~FabricWire() override { core_.detach(node_); }

  WireAttributes attributes() const override { return port_.attributes(); }
  void transmit(const WireSend& send) override { port_.transmit(send); }
  bool poll(WireSink& sink) override { return port_.poll(sink); }
  std::optional<Nanoseconds> next_event() const override { return port_.next_event(); }
  int event_fd() const override { return port_.event_fd(); }

 private:
  const std::shared_ptr<void> fabric_;
  fabric::FabricCore& core_;
  const fabric::DeviceNumber node_;
  fabric::FabricPort& port_;
};

Error invalid(std::string message) { return {Errc::bad_option, "fabric: " + std::move(message)}; }

std::optional<Error> check(const FabricFaults& faults) {
  const std::pair<const char*, double> rates[] = {
      {"loss", faults.loss},           {"duplication", faults.duplication}, {"reordering", faults.reordering},
      {"corruption", faults.corruption}, {"stale", faults.stale},           {"forged", faults.forged},
      {"send_error", faults.send_error}, {"flush", faults.flush}};
  for (const auto& [name, rate] : rates) {
    if (!(rate >= 0 && rate <= 1)) return invalid(fmt::format("faults.{} is {}; a rate is from 0 to 1", name, rate));
  }
  const std::pair<const char*, Nanoseconds> times[] = {{"delay", faults.delay}, {"delay_jitter", faults.delay_jitter}};
  constexpr Nanoseconds kLongest = std::chrono::hours(1);
  for (const auto& [name, time] : times) {
    if (time < Nanoseconds(0) || time > kLongest) {
      return invalid(fmt::format("faults.{} is {} ns; it is from 0 to one hour", name, time.count()));
    }
  }
  return std::nullopt;
}

std::optional<Error> check(const FabricOptions& options) {
  if (options.nodes < 1) return invalid("nodes is 0; a fabric has at least 1 node");
  if (options.radix < 2 || options.radix > 255) {
    return invalid(fmt::format("radix is {}; a switch has 2 to 255 ports", options.radix));
  }
  const std::optional<uint64_t> switches = fabric::Topology::switches_needed(options.nodes, options.radix);
  if (!switches) {
    return invalid(fmt::format("radix is {}; no tree of such switches joins {} nodes: take 3 or more", options.radix,
                               options.nodes));
  }
  if (options.nodes + *switches > fabric::kMaxUnicastLid) {
    return invalid(fmt::format("nodes is {}; with {} switches of radix {} that is more than the {} unicast LIDs",
                               options.nodes, *switches, options.radix, fabric::kMaxUnicastLid));
  }
  return check(options.faults);
}

}  // namespace

Result<SimulatedFabric> SimulatedFabric::create(FabricOptions options) {
  if (std::optional<Error> error = check(options)) return *std::move(error);
  std::shared_ptr<Clock> clock = options.clock ? options.clock : std::make_shared<SteadyClock>();
  return SimulatedFabric(std::shared_ptr<State>(new State{{options, std::move(clock)}}));
}

SimulatedFabric::SimulatedFabric(std::shared_ptr<State> state) : state_(std::move(state)) {}
SimulatedFabric::SimulatedFabric(SimulatedFabric&&) noexcept = default;
SimulatedFabric& SimulatedFabric::operator=(SimulatedFabric&&) noexcept = default;
SimulatedFabric::~SimulatedFabric() = default;

Result<std::unique_ptr<Wire>> SimulatedFabric::attach(unsigned node, bool responders) {
  if (node >= nodes()) {
    return invalid(fmt::format("node {} does not exist; nodes are 0 to {}", node, nodes() - 1));
  }
  fabric::FabricPort* const port = state_->core.attach(node, responders);
  if (port == nullptr) return invalid(fmt::format("node {} has a wire already", node));
  return std::unique_ptr<Wire>(std::make_unique<FabricWire>(state_, state_->core, node, *port));
}

unsigned SimulatedFabric::nodes() const { return state_->core.topology.adapters(); }
unsigned SimulatedFabric::switches() const { return state_->core.topology.switches(); }
uint16_t SimulatedFabric::lid(unsigned node) const { return state_->core.topology.lid(node); }
uint64_t SimulatedFabric::node_guid(unsigned node) const { return state_->core.topology.node_guid(node); }
FabricCounters SimulatedFabric::counters() const { return state_->core.counters(); }
void SimulatedFabric::set_faults(const FabricFaults& faults) { state_->core.faults.set(faults); }

void SimulatedFabric::set_link(unsigned node, bool up) {
  if (node >= nodes()) return;
  fabric::Adapter& adapter = state_->core.adapter(node);
  adapter.link.set(up);
  if (fabric::FabricPort* port = adapter.port.load(std::memory_order_acquire)) port->wake();
}

void SimulatedFabric::remove(unsigned node) {
  if (node >= nodes()) return;
  fabric::Adapter& adapter = state_->core.adapter(node);
  adapter.link.remove();
  if (fabric::FabricPort* port = adapter.port.load(std::memory_order_acquire)) port->wake();
}

}  // namespace tidemill
