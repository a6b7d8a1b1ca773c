// SPDX-License-Identifier: Apache-2.0
/// What all wires of a simulated fabric share. The topology never changes; the rest is safe for any thread.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "fabric/faults.hpp"
#include "fabric/link.hpp"
#include "fabric/responders.hpp"
#include "fabric/tally.hpp"
#include "fabric/topology.hpp"
#include "tidemill/clock.hpp"

namespace tidemill::fabric {

class FabricPort;

/// Who answers what arrives at an adapter.
enum class Audience : uint8_t {
  responders,           ///< No wire is attached.
  responders_and_wire,  ///< The wire gets what the responders do not handle.
  wire,
};

struct Adapter {
  Link link;
  std::atomic<Audience> audience{Audience::responders};
  /// Of the first wire attached and of all after it; lives as long as the fabric.
  std::atomic<FabricPort*> port{nullptr};
};

class FabricCore {
 public:
  FabricCore(const FabricOptions& options, std::shared_ptr<Clock> clock);
  ~FabricCore();

  const Topology topology;
  const std::shared_ptr<Clock> clock;
  const uint64_t seed;
  FaultBoard faults;
  Responders responders;

  Adapter& adapter(DeviceNumber node) { return adapters_[node]; }
  const Adapter& adapter(DeviceNumber node) const { return adapters_[node]; }
  /// Of any device; a switch's own management port never breaks.
  uint32_t link_state(DeviceNumber device) const {
    return topology.is_switch(device) ? 0 : adapters_[device].link.state();
  }
  Audience audience(DeviceNumber device) const {
    return topology.is_switch(device) ? Audience::responders
                                      : adapters_[device].audience.load(std::memory_order_acquire);
  }

  /// The port of a node; makes it when it is attached for the first time. Nothing if a wire is attached.
  FabricPort* attach(DeviceNumber node, bool responders);
  void detach(DeviceNumber node);

  FabricCounters counters() const;
  Traffic traffic(DeviceNumber node) const;

 private:
  const std::unique_ptr<Adapter[]> adapters_;
  mutable std::mutex mutex_;  ///< Protects ports_ and attaching.
  std::vector<std::unique_ptr<FabricPort>> ports_;
};

}  // namespace tidemill::fabric
