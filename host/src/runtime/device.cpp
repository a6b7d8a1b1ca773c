// SPDX-License-Identifier: Apache-2.0
/// Handles of devices and ports.
#include "tidemill/device.hpp"

#include "device/backend.hpp"
#include "runtime/device_state.hpp"

namespace tidemill {

Result<Device> Device::open(std::string_view uri, DeviceOptions options) {
  if (!options.clock) options.clock = std::make_shared<SteadyClock>();
  auto backend = device::open_backend(uri, options.clock->is_virtual());
  if (!backend) return backend.error();
  auto publisher = detail::Publisher::from_environment();
  if (!publisher) return publisher.error();
  return Device(detail::DeviceState::open(std::move(backend).value(), std::move(options), std::move(publisher).value()));
}

Device::~Device() = default;

DeviceInfo Device::info() const { return state_->info(); }
std::size_t Device::poll(std::size_t budget) { return state_->own_thread() ? 0 : state_->poll(budget); }
void Device::wait(Nanoseconds timeout) {
  if (!state_->own_thread()) state_->wait(timeout);
}
uint64_t Device::counter(std::string_view name) const { return state_->backend().counter(name); }
std::string Device::metrics() const { return state_->metrics(); }
int Device::event_fd() const { return state_->event_fd(); }

Result<Port> Device::open_port(unsigned number, std::unique_ptr<Wire> wire, PortOptions options) {
  auto port = state_->open_port(number, std::move(wire), std::move(options));
  if (!port) return port.error();
  return Port(state_, std::move(port).value());
}

Port& Port::operator=(Port&& other) noexcept {
  if (this != &other) {
    Port old(std::move(*this));
    device_ = std::move(other.device_);
    state_ = std::move(other.state_);
  }
  return *this;
}

Port::~Port() {
  if (state_) device_->close_port(*state_);
}

Result<Agent> Port::register_agent(Registration registration) {
  if (!state_) return Error{Errc::no_such_port, "the port is closed"};
  const auto agent = device_->register_agent(state_, std::move(registration));
  if (!agent) return agent.error();
  // An agent's handle is one of the device's, too.
  detail::AgentState* const state = agent.value().get();
  return Agent({state, [agent = agent.value(), device = device_](detail::AgentState*) {}});
}

PortStats Port::stats() const { return state_->stats(); }
std::vector<AgentStats> Port::agent_stats() const { return device_->agent_stats(*state_); }

}  // namespace tidemill
