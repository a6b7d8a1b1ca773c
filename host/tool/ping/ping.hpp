// SPDX-License-Identifier: Apache-2.0
/// The two sides of `tidemill ping`, over any wire: requests of the echo class, and a server that answers them.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nlohmann/json_fwd.hpp"
#include "tidemill.hpp"

namespace tidemill::tool {

struct PingOptions {
  uint64_t count = 1000;
  unsigned depth = 1;  ///< Requests outstanding.
  Nanoseconds timeout = std::chrono::milliseconds(100);
  unsigned retries = 3;
  Nanoseconds interval{0};  ///< Between requests, with depth 1.
};

struct PingResult {
  uint64_t answered = 0, timed_out = 0, failed = 0;  ///< Requests, by their end.
  uint64_t tries = 0;                                ///< Transmissions of all of them.
  uint64_t wrong = 0;                                ///< Answers that are not what was asked.
  Nanoseconds elapsed{0};
  std::vector<Nanoseconds> latencies{};  ///< Of the answered, ascending.
  bool interrupted = false;
  bool wire_gone = false;

  Nanoseconds percentile(double p) const;
  bool all_answered(uint64_t count) const { return answered == count && wrong == 0; }
};

/// Asks `to` until all requests are over, `stop` is set, or the wire has gone.
Result<PingResult> run_ping(std::unique_ptr<Wire> wire, const Address& to, const PingOptions& options,
                            const std::atomic<bool>& stop);

struct ServeResult {
  uint64_t answered = 0, refused = 0;
  bool wire_gone = false;
};

/// Answers until `stop` is set, the wire has gone, or `life` is over (0: never).
Result<ServeResult> serve_pings(std::unique_ptr<Wire> wire, Nanoseconds life, const std::atomic<bool>& stop);

std::string to_text(const PingOptions& options, const PingResult& result);
nlohmann::json to_json(const PingOptions& options, const PingResult& result);

}  // namespace tidemill::tool
