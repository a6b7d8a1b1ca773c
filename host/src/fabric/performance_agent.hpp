// SPDX-License-Identifier: Apache-2.0
/// Performance management agent: the port counters of every device of the simulated fabric. Switches count nothing.
/// Source: IBA 16.1.
#pragma once
#include <mutex>
#include <unordered_map>

#include "fabric/tally.hpp"
#include "fabric/topology.hpp"
#include "mad_edit.hpp"

namespace tidemill::fabric {

class FabricCore;

class PerformanceAgent {
 public:
  explicit PerformanceAgent(const FabricCore& core) : core_(core) {}

  /// Any Get and Set is answered. Any thread.
  bool answer(DeviceNumber device, MadBytes mad);

 private:
  /// What the counters read from is counted from here on.
  struct Since {
    uint64_t data_out = 0, data_in = 0, packets_out = 0, packets_in = 0;
    uint32_t breaks = 0;
  };

  static void class_port_info(MadBytes mad);
  uint16_t port_counters(DeviceNumber device, bool set, MadBytes mad);

  const FabricCore& core_;
  std::mutex mutex_;  ///< Protects since_.
  std::unordered_map<DeviceNumber, Since> since_;
};

}  // namespace tidemill::fabric
