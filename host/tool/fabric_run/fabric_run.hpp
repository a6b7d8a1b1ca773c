// SPDX-License-Identifier: Apache-2.0
/// Traffic of several agents over a simulated fabric through the public API, for `demo` and `stats`.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tidemill.hpp"

namespace tidemill::tool {

struct FabricRunOptions {
  std::string device = "soft:";
  uint64_t transactions = 100'000;
  unsigned nodes = 64;
  unsigned agents = 4;
  unsigned depth = 64;  ///< Sends outstanding of each agent.
  uint64_t seed = 1;
  FabricFaults faults;
  bool virtual_time = true;
  std::string timeline;  ///< Chrome trace to write, if not empty.
  std::string capture;   ///< pcapng to write, if not empty.
};

struct FabricRunResult {
  DeviceInfo device;
  PortStats port;
  std::vector<AgentStats> agents;
  FabricCounters fabric;
  uint64_t accepted = 0, completed = 0, received = 0;
  std::array<uint64_t, kSendStatuses> by_status{};
  std::array<uint64_t, 32> latency{};  ///< Completions by the power of two of their microseconds.
  Nanoseconds simulated{0};
  double seconds = 0;
};

/// Runs until every transaction has completed and every agent has deregistered. `progress` is told how many have.
Result<FabricRunResult> run_on_fabric(const FabricRunOptions& options, const std::function<void(uint64_t)>& progress);

}  // namespace tidemill::tool
