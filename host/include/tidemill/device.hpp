// SPDX-License-Identifier: Apache-2.0
/// Opening a device and its ports.
///
///     auto device = Device::open("soft:").value();
///     auto fabric = SimulatedFabric::create({.nodes = 64}).value();
///     auto port = device.open_port(1, fabric.attach(0)).value();
///     auto agent = port.register_agent({.on_send = ...}).value();
///
/// Handles are cheap to move; a port keeps its device alive, an agent its port. Callbacks of a device run one at a
/// time.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent.hpp"
#include "clock.hpp"
#include "error.hpp"
#include "stats.hpp"
#include "trace.hpp"
#include "wire.hpp"

namespace tidemill {

namespace detail {
class DeviceState;
class PortState;
}  // namespace detail

/// Who runs callbacks.
enum class Progress : uint8_t {
  thread,  ///< A thread of the device.
  poll,    ///< The application, inside Device::poll().
};

struct DeviceOptions {
  Progress progress = Progress::thread;
  /// By default the steady clock.
  std::shared_ptr<Clock> clock{};
};

struct DeviceInfo {
  std::string kind;  ///< "soft", "cosim", "xrt".
  uint32_t abi_major = 0, abi_minor = 0;
  uint32_t slots = 0;  ///< Sends outstanding at a time.
  uint32_t banks = 0;
  uint32_t lanes = 0;
  Nanoseconds tick{0};  ///< Unit of timers: a timeout is never early and at most two ticks and the service time late.
};

struct PortOptions {
  uint16_t receive_buffers = 512;  ///< For each QP.
  std::shared_ptr<Trace> trace{};  ///< Records what happens, if given.
};

class Port {
 public:
  Port() = default;
  Port(Port&&) noexcept = default;
  Port& operator=(Port&& other) noexcept;
  /// Closes: agents that are still registered are flushed and refuse everything from then on. In a
  /// callback it does not wait: agents, and with the last of them the wire, go soon after it.
  ~Port();

  explicit operator bool() const { return state_ != nullptr; }
  Result<Agent> register_agent(Registration registration);

  PortStats stats() const;
  std::vector<AgentStats> agent_stats() const;

 private:
  friend class Device;
  Port(std::shared_ptr<detail::DeviceState> device, std::shared_ptr<detail::PortState> state)
      : device_(std::move(device)), state_(std::move(state)) {}
  std::shared_ptr<detail::DeviceState> device_;
  std::shared_ptr<detail::PortState> state_;
};

/// The device ends with the last of its handles (Device, Port, Agent): with Progress::thread, dropping that waits until
/// the device's thread has ended, with Progress::poll until its agents have: nothing of the device runs on. Only in a
/// callback it ends soon after.
class Device {
 public:
  /// `soft:` runs the engine in this process; options as `soft:?banks=2`.
  static Result<Device> open(std::string_view uri, DeviceOptions options = {});

  Device(Device&&) noexcept = default;
  Device& operator=(Device&&) noexcept = default;
  ~Device();

  DeviceInfo info() const;
  /// Progress::poll: makes progress and runs callbacks, up to about `budget` MADs. Returns how many callbacks ran.
  /// One thread at a time; others get 0 at once. Not from a callback.
  std::size_t poll(std::size_t budget = 256);
  /// Progress::poll: sleeps until poll() may have something to do, or `timeout`. With a virtual clock never sleeps.
  void wait(Nanoseconds timeout);
  /// Progress::poll: readable when wait() would return; for an event loop.
  int event_fd() const;

  /// A figure the device keeps itself, by name; 0 if it has none of that name. `cosim:` knows "cycles", those simulated
  /// so far. Where the application polls, from the thread that does.
  uint64_t counter(std::string_view name) const;

  /// Everything counted, as Prometheus reads it (text exposition format): the card's registers, ports, agents. Where the
  /// application polls, from the thread that does. A process that has TIDEMILL_METRICS=FILE in its environment writes
  /// this to FILE once a second, and removes it when the device ends.
  std::string metrics() const;

  /// Ports are numbered from 1; each carries one wire.
  Result<Port> open_port(unsigned number, std::unique_ptr<Wire> wire, PortOptions options = {});

 private:
  explicit Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::DeviceState> state_;
};

}  // namespace tidemill
