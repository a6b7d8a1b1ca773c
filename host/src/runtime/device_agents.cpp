// SPDX-License-Identifier: Apache-2.0
/// The part of a device that knows its ports and agents: how they come, are found, and go.
#include <algorithm>

#include "fmt/format.h"
#include "runtime/device_state.hpp"
#include "runtime/in_callback.hpp"

namespace tidemill::detail {

Result<std::shared_ptr<PortState>> DeviceState::open_port(unsigned number, std::unique_ptr<Wire> wire,
                                                          PortOptions options) {
  if (!wire) return Error{Errc::bad_address, "a port needs a wire"};
  if (number == 0 || number > 255)
    return Error{Errc::no_such_port, fmt::format("port {} does not exist; ports are 1 to 255", number)};
  if (options.receive_buffers == 0 || options.receive_buffers > 32768)
    return Error{Errc::bad_length, fmt::format("receive_buffers {} is not 1 to 32768", options.receive_buffers)};
  const WireAttributes a = wire->attributes();
  if (a.send_depth[0] == 0 || a.send_depth[1] == 0)
    return Error{Errc::device_failed, "the wire has a send queue of depth 0"};
  wire->memory(slots_.bytes());
  auto port = std::make_shared<PortState>(*this, number, std::move(wire), std::move(options));
  {
    const Pause pause(*this);
    if (this->port(number) != nullptr) return Error{Errc::no_such_port, fmt::format("port {} is open already", number)};
    if (ports_.size() <= number) ports_.resize(number + 1);
    ports_[number] = port;
    backend_->wire_credit(a.send_depth[0], a.send_depth[1]);
    if (const int fd = port->wire().event_fd(); fd >= 0) sleeper_.watch(fd);
  }
  if (Trace* trace = port->trace()) trace->port_opened(a);
  for (const Qp qp : {Qp::smi, Qp::gsi}) {
    if ((qp == Qp::smi && !a.has_smi) || (qp == Qp::gsi && !a.has_gsi)) continue;
    Registration r;
    r.qp = qp;
    r.on_send = [](const SendCompletion&) {};
    r.name = qp == Qp::smi ? "automatic responses, QP0" : "automatic responses, QP1";
    r.queue_depth = 64;
    auto agent = register_agent(port, std::move(r));
    if (!agent) {
      close_port(*port);
      return agent.error();
    }
    const Pause pause(*this);
    port->set_internal_agent(qp, std::move(agent).value());
  }
  return port;
}

void DeviceState::close_port(PortState& port) {
  const auto agents = agents_of(port);
  for (const auto& agent : agents) agent->begin_close({});
  if (in_callback()) {
    closing_ports_.push_back(&port);
    return;
  }
  for (const auto& agent : agents) agent->wait_until_closed();
  const Pause pause(*this);
  drop_port(port);
}

void DeviceState::drop_port(PortState& port) {
  std::erase_if(port_events_, [&](const auto& event) { return event.first == &port; });
  for (unsigned qp = 0; qp < 2; ++qp) port.take_internal_agent(qp);
  if (const int fd = port.wire().event_fd(); fd >= 0) sleeper_.unwatch(fd);
  ports_[port.number()].reset();
}

void DeviceState::drop_closed_ports() {
  std::erase_if(closing_ports_, [this](PortState* port) {
    if (!agents_of(*port).empty()) return false;
    drop_port(*port);
    return true;
  });
}

Result<std::shared_ptr<AgentState>> DeviceState::register_agent(const std::shared_ptr<PortState>& port,
                                                                Registration r) {
  if (Error e = check_registration(r, port->attributes()); e.code != Errc::ok) return e;
  constexpr uint32_t kIds = 1u << 24;
  std::shared_ptr<AgentState> agent;
  {
    const std::unique_lock lock(registry_mutex_);
    if (agents_.size() >= kIds - 1) return Error{Errc::ids_exhausted, "2^24 - 1 agents are registered"};
    // Cyclic, so that a late response to a dead agent does not find a new one.
    do next_id_ = (next_id_ + 1) % kIds;
    while (next_id_ == 0 || agents_.contains(next_id_));
    const auto filter = r.unsolicited;
    agent = std::make_shared<AgentState>(shared_from_this(), port, next_id_, std::move(r));
    if (filter)
      if (Error e = port->registry().add(*filter, agent); e.code != Errc::ok) return e;
    agents_.emplace(agent->id(), agent);
  }
  if (Trace* trace = port->trace()) trace->agent_registered(agent->id(), agent->name(), options_.clock->now());
  return agent;
}

std::vector<std::shared_ptr<AgentState>> DeviceState::agents_of(const PortState& port) const {
  std::vector<std::shared_ptr<AgentState>> agents;
  {
    const std::shared_lock lock(registry_mutex_);
    for (const auto& [id, agent] : agents_)
      if (&agent->port() == &port) agents.push_back(agent);
  }
  std::sort(agents.begin(), agents.end(), [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return agents;
}

std::vector<AgentStats> DeviceState::agent_stats(const PortState& port) const {
  std::vector<AgentStats> stats;
  for (const auto& agent : agents_of(port)) stats.push_back(agent->stats());
  return stats;
}

std::shared_ptr<AgentState> DeviceState::owner_of(PortState& port, const MadView& mad, Qp qp) const {
  const std::shared_lock lock(registry_mutex_);
  std::shared_ptr<AgentState> owner = port.registry().find(mad);
  return owner && owner->registration().qp == qp ? owner : nullptr;
}

std::shared_ptr<AgentState> DeviceState::asker(const PortState& port, const MadView& mad, Qp qp) const {
  const std::shared_lock lock(registry_mutex_);
  const auto found = agents_.find(static_cast<uint32_t>(mad.tid() >> 32));
  if (found == agents_.end() || &found->second->port() != &port || found->second->registration().qp != qp)
    return nullptr;
  return found->second;
}

void DeviceState::queue_transfers(std::shared_ptr<AgentState> agent) {
  {
    const std::lock_guard lock(transfers_mutex_);
    transfers_queue_.push_back(std::move(agent));
    transfers_waiting_.store(true, std::memory_order_seq_cst);
  }
  kick();
}

bool DeviceState::step_transfers() {
  if (transfers_waiting_.load(std::memory_order_seq_cst)) {
    const std::lock_guard lock(transfers_mutex_);
    transfers_waiting_.store(false, std::memory_order_seq_cst);
    std::move(transfers_queue_.begin(), transfers_queue_.end(), std::back_inserter(transferring_));
    transfers_queue_.clear();
  }
  if (transferring_.empty()) return false;
  bool moved = false;
  for (const auto& agent : transferring_) moved |= agent->transfers()->step(now());
  std::erase_if(transferring_, [](const auto& agent) { return agent->transfers()->unlist(); });
  return moved;
}

void DeviceState::queue_close(std::shared_ptr<AgentState> agent) {
  if (const auto& filter = agent->registration().unsolicited) {
    const std::unique_lock lock(registry_mutex_);
    agent->port().registry().remove(*filter, *agent);
  }
  {
    const std::lock_guard lock(closing_mutex_);
    closing_queue_.push_back(std::move(agent));
    closing_waiting_.store(true, std::memory_order_seq_cst);
  }
  kick();
}

bool DeviceState::close_agents() {
  if (closing_waiting_.load(std::memory_order_seq_cst)) {
    const std::lock_guard lock(closing_mutex_);
    closing_waiting_.store(false, std::memory_order_seq_cst);
    for (const auto& agent : closing_queue_) agent->closing_since(options_.clock->now());
    std::move(closing_queue_.begin(), closing_queue_.end(), std::back_inserter(closing_));
    closing_queue_.clear();
  }
  bool moved = false;
  if (!to_flush_.empty()) moved = std::erase_if(to_flush_, [](const auto& agent) { return agent->flush(); }) != 0;
  if (closing_.empty()) return moved;
  std::erase_if(closing_, [&](const std::shared_ptr<AgentState>& agent) {
    agent->port().give_up_wire(options_.clock->now() - agent->closing_since());
    const bool sent = agent->close_commands_sent();
    const bool done = agent->try_close();
    moved |= done || sent != agent->close_commands_sent();
    if (!done) return false;
    {
      const std::unique_lock lock(registry_mutex_);
      agents_.erase(agent->id());
    }
    closed_.push_back(agent);
    return true;
  });
  {
    const InCallback guard(this);
    for (const auto& agent : closed_) agent->finish_close();
  }
  closed_.clear();
  if (!closing_ports_.empty()) drop_closed_ports();
  return moved;
}

void DeviceState::tell_agents(PortState& port, PortEvent event) {
  for (const auto& agent : agents_of(port)) {
    if (event == PortEvent::device_removed) {
      if (!failed_) to_flush_.push_back(agent);
      if (agent->transfers() != nullptr) agent->transfers()->stop(false);
    }
    if (!agent->registration().on_port_event) continue;
    ++callbacks_;
    agent->registration().on_port_event(event);
  }
}

}  // namespace tidemill::detail
