// SPDX-License-Identifier: Apache-2.0
#include "fabric/fabric_core.hpp"

#include "fabric/fabric_port.hpp"

namespace tidemill::fabric {

FabricCore::FabricCore(const FabricOptions& options, std::shared_ptr<Clock> run_by)
    : topology(options.nodes, options.radix), clock(std::move(run_by)), seed(options.seed), faults(options.faults),
      responders(*this), adapters_(std::make_unique<Adapter[]>(options.nodes)) {}

FabricCore::~FabricCore() = default;

FabricPort* FabricCore::attach(DeviceNumber node, bool responders_too) {
  const std::lock_guard lock(mutex_);
  Adapter& a = adapters_[node];
  if (a.audience.load(std::memory_order_relaxed) != Audience::responders) return nullptr;
  FabricPort* port = a.port.load(std::memory_order_relaxed);
  if (port == nullptr) {
    ports_.push_back(std::make_unique<FabricPort>(*this, node));
    port = ports_.back().get();
    a.port.store(port, std::memory_order_release);
  } else {
    port->clear();
  }
  a.audience.store(responders_too ? Audience::responders_and_wire : Audience::wire, std::memory_order_release);
  return port;
}

void FabricCore::detach(DeviceNumber node) {
  const std::lock_guard lock(mutex_);
  adapters_[node].audience.store(Audience::responders, std::memory_order_release);
}

FabricCounters FabricCore::counters() const {
  const std::lock_guard lock(mutex_);
  FabricCounters sum;
  for (const auto& port : ports_) port->tally().add_to(sum);
  return sum;
}

Traffic FabricCore::traffic(DeviceNumber node) const {
  const std::lock_guard lock(mutex_);
  Traffic sum;
  for (const auto& port : ports_) {
    const Traffic t = port->traffic_of(node);
    sum.in += t.in;
    sum.out += t.out;
  }
  return sum;
}

}  // namespace tidemill::fabric
