// SPDX-License-Identifier: Apache-2.0
#include "tidemill/ibsim.hpp"

#include <sys/epoll.h>

#include "big_endian.hpp"
#include "environment.hpp"
#include "ibsim/control.hpp"
#include "ibsim/ibsim_wire.hpp"

namespace tidemill {
namespace {

/// Tries under way at a time: ibsim's own queue is 10 datagrams long, what is more waits in the wire.
constexpr uint16_t kDepth = 128;

}  // namespace

IbsimOptions IbsimOptions::from_environment() {
  return {.socket = environment("IBSIM_SOCKNAME", "sim"),
          .host = environment("SIM_HOST"),
          .unsolicited = !environment("SIM_SET_ISSM").empty()};
}

struct Ibsim::State {
  IbsimOptions options;
  ibsim::ControlSocket control;
  std::shared_ptr<ibsim::Shared> shared = std::make_shared<ibsim::Shared>();
  std::unique_ptr<ibsim::ControlSocket> listener;  ///< Of the connection for unsolicited MADs.
};

Ibsim::Ibsim(std::unique_ptr<State> state) : state_(std::move(state)) {}
Ibsim::Ibsim(Ibsim&&) noexcept = default;
Ibsim& Ibsim::operator=(Ibsim&&) noexcept = default;
Ibsim::~Ibsim() = default;

Result<Ibsim> Ibsim::connect(const IbsimOptions& options) {
  auto state = std::make_unique<State>();
  state->shared->epoll = ibsim::Socket(::epoll_create1(EPOLL_CLOEXEC));
  state->options = options;
  if (Error e = state->control.open(options); e.code != Errc::ok) return e;
  return Ibsim(std::move(state));
}

Result<std::unique_ptr<Wire>> Ibsim::wire() {
  if (!state_->control.has_data())
    return Error{Errc::bad_option, "this place on ibsim has given its wire away; connect once more for another"};
  const auto info = port_info();
  if (!info) return info.error();
  WireAttributes a;
  a.lid = get16(info.value(), 16);
  a.lmc = static_cast<uint8_t>(get8(info.value(), 34) & 7u);
  a.send_depth = {kDepth, kDepth};
  a.carries_grh = false;
  return std::unique_ptr<Wire>(
      std::make_unique<ibsim::IbsimWire>(state_->control.take_data(), state_->control.peer(), a, state_->shared));
}

Result<Ibsim::Attribute> Ibsim::node_info() const {
  return state_->control.ask(ibsim::Request::node_info);
}

Result<Ibsim::Attribute> Ibsim::port_info(unsigned port) const {
  Attribute which{};
  which[0] = static_cast<std::byte>(port);
  return state_->control.ask(ibsim::Request::port_info, which);
}

Result<Ibsim::Attribute> Ibsim::pkeys() const {
  return state_->control.ask(ibsim::Request::pkeys);
}

Error Ibsim::listen() {
  ibsim::Shared& shared = *state_->shared;
  const std::lock_guard lock(shared.mutex);
  if (state_->options.unsolicited || shared.listens) return {};
  auto listener = std::make_unique<ibsim::ControlSocket>();
  IbsimOptions options = state_->options;
  options.unsolicited = true;
  if (Error e = listener->open(options); e.code != Errc::ok) return e;
  state_->listener = std::move(listener);
  shared.unsolicited = state_->listener->take_data();
  shared.listens.store(true, std::memory_order_release);
  epoll_event e{.events = EPOLLIN, .data = {.fd = shared.unsolicited.get()}};
  ::epoll_ctl(shared.epoll.get(), EPOLL_CTL_ADD, shared.unsolicited.get(), &e);
  return {};
}

Errc Ibsim::set_issm(bool on) {
  Attribute value{};
  const int flag = on ? 1 : 0;
  std::memcpy(value.data(), &flag, sizeof flag);
  return state_->control.ask(ibsim::Request::set_issm, value).code();
}

IbsimCounters Ibsim::counters() const {
  const ibsim::Shared& t = *state_->shared;
  return {.sent = t.sent, .received = t.received, .returned = t.returned, .waited = t.waited};
}

}  // namespace tidemill
