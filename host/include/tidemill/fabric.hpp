// SPDX-License-Identifier: Apache-2.0
/// A simulated fabric in this process: switches and channel adapters with subnet management, performance and echo
/// responders behind lossy links. Deterministic: a seed and the same sends give the same run on a virtual clock.
///
/// Any thread may call; each attached wire belongs to its port.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "clock.hpp"
#include "error.hpp"
#include "wire.hpp"

namespace tidemill {

/// Vendor class whose Get, Set and Send are answered with the request's own bytes.
inline constexpr uint8_t kEchoClass = 0x30;
inline constexpr uint32_t kEchoOui = 0x00d1de;

/// What the links do to MADs. Rates are probabilities, 0 to 1, for each MAD and direction.
struct FabricFaults {
  double loss = 0;
  double duplication = 0;
  double reordering = 0;          ///< Delayed past later ones.
  double corruption = 0;          ///< A byte changes, as a faulty responder would do it.
  double stale = 0;               ///< An earlier response comes once more.
  double forged = 0;              ///< A response nobody sent: right agent, other TID, class, port or address.
  double send_error = 0;          ///< The wire fails a try.
  double flush = 0;               ///< The queue pair fails and recovers: tries on it come back as flushed.
  Nanoseconds delay{1000};        ///< One way.
  Nanoseconds delay_jitter{500};  ///< Uniform on top.
};

struct FabricOptions {
  /// Channel adapters; switches of `radix` ports join them in a tree. At least 1.
  unsigned nodes = 4;
  unsigned radix = 16;
  uint64_t seed = 1;
  FabricFaults faults{};
  std::shared_ptr<Clock> clock{};  ///< By default the steady clock; must be the device's.
};

/// MADs on the links, those of responders included. What is on its way aside,
/// sent + duplicated + stale + forged = delivered + lost + unroutable + overrun.
struct FabricCounters {
  uint64_t sent = 0, delivered = 0, lost = 0, duplicated = 0, reordered = 0, corrupted = 0, stale = 0, forged = 0,
           errors = 0, flushed = 0, unroutable = 0;
  uint64_t overrun = 0;  ///< Dropped because too many waited for a receive buffer.
};

class SimulatedFabric {
 public:
  static Result<SimulatedFabric> create(FabricOptions options);
  SimulatedFabric(SimulatedFabric&&) noexcept;
  SimulatedFabric& operator=(SimulatedFabric&&) noexcept;
  ~SimulatedFabric();

  /// The wire of a channel adapter's port. What no agent answers there, the adapter's own responders do, unless
  /// `responders` is false. Once for each node.
  Result<std::unique_ptr<Wire>> attach(unsigned node, bool responders = true);

  unsigned nodes() const;
  unsigned switches() const;
  uint16_t lid(unsigned node) const;
  uint64_t node_guid(unsigned node) const;
  FabricCounters counters() const;
  void set_faults(const FabricFaults& faults);
  /// Breaks and mends the link of a node: its wire reports wire_lost and wire_back.
  void set_link(unsigned node, bool up);
  /// The node's device disappears for good.
  void remove(unsigned node);

 private:
  struct State;
  explicit SimulatedFabric(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace tidemill
