// SPDX-License-Identifier: Apache-2.0
/// Traffic over a simulated fabric through the co-simulated card, judged by the board that also watches the conformance suite.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tidemill.hpp"

namespace tidemill::cosim_run {

struct Options {
  uint64_t seed = 1;
  uint64_t transactions = 20'000;
  unsigned nodes = 16;       ///< Of the fabric; agents live on node 0.
  unsigned agents = 8;
  unsigned depth = 64;       ///< Sends outstanding of each agent.
  uint16_t window = 0;       ///< Of each agent; 0: the agent's default.
  unsigned idle_ns = 0;      ///< Pause of an agent between a completion and its next send.
  FabricFaults faults{};
  double stall = 0;          ///< Back-pressure on every AXI port.
  double axi_errors = 0;     ///< Share of accesses to host memory that fail.
  std::string trace;         ///< Waveform, if given.
  uint64_t trace_from = 0;   ///< Cycle.
};

struct Result {
  std::vector<std::string> violations;  ///< What the board found.
  std::string stopped;                  ///< Why the run did not end by itself, if it did not.
  bool device_failed = false;           ///< Loudly, as it must where accesses to host memory fail.
  uint64_t cycles = 0;
  uint64_t accepted = 0, completed = 0, received = 0;
  std::array<uint64_t, kSendStatuses> by_status{};
  std::vector<AgentStats> agents;
  PortStats port{};
  FabricCounters fabric{};
  Nanoseconds simulated{0};
  double seconds = 0;
  nlohmann::json device;  ///< What the platform measured.

  bool passed() const { return violations.empty() && stopped.empty() && accepted == completed; }
  uint64_t mads() const { return port.transmitted + port.received; }
};

struct Progress {
  uint64_t completed, mads, cycles;
};

tidemill::Result<Result> run(const Options& options, const std::function<void(const Progress&)>& progress);
/// The one command that repeats the run.
std::string replay_command(const Options& options);

std::string terminal_summary(const Options& options, const Result& result);
nlohmann::json json_report(const Options& options, const Result& result);
std::string html_report(const Options& options, const Result& result);

/// Jain's fairness index of what each got: 1 if all got the same.
double jain_index(const std::vector<double>& shares);

}  // namespace tidemill::cosim_run
