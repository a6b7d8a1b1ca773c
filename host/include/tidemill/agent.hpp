// SPDX-License-Identifier: Apache-2.0
/// An agent: a registered client of one QP of a port. Sends, cancels, modifies; is called back; deregisters.
///
/// Threads: every call may come from any thread and from callbacks, except where noted. Callbacks of a device run one
/// at a time, on its own thread or inside Device::poll(), under no lock. For one send the receive handler has returned
/// before the send handler starts; between sends no order is promised.
#pragma once
#include <bitset>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "error.hpp"
#include "send.hpp"
#include "stats.hpp"

namespace tidemill {

namespace detail {
class AgentState;
class DeviceState;
}  // namespace detail

/// Unsolicited MADs an agent wants: those of its class and version with one of its methods.
struct MadFilter {
  uint8_t mgmt_class = 0;
  uint8_t class_version = 1;
  std::bitset<128> methods{};
  uint32_t oui = 0;  ///< Only for vendor range 2 (0x30 to 0x4f).

  /// Both of what a server of a class usually answers.
  static MadFilter get_and_set(uint8_t mgmt_class, uint8_t class_version);
};

struct Registration {
  Qp qp = Qp::gsi;
  /// Nothing: the agent gets the responses to its own sends only.
  std::optional<MadFilter> unsolicited{};
  SendHandler on_send{};
  ReceiveHandler on_receive{};
  PortEventHandler on_port_event{};
  /// 1: the runtime does RMPP for the agent, sender and receiver. Source: IBA 13.6.
  uint8_t rmpp_version = 0;
  /// The agent does RMPP itself (and rmpp_version is 0): it gets every active RMPP MAD that answers its TIDs, of which
  /// only a first segment is matched.
  bool own_rmpp = false;
  /// Bytes of RMPP messages on their way out, and as many on their way in. Beyond: would_block, or STOP to the sender.
  std::size_t message_limit = std::size_t{64} << 20;
  /// Grants in a row while others wait, 1 to 255.
  uint8_t weight = 4;
  /// 0 to 3; a lower class goes first, strictly.
  uint8_t service_class = 1;
  /// Sends that expect a response, on the wire or waiting, at a time. 0: no limit. Nothing: by class, as Linux does.
  std::optional<uint16_t> window{};
  /// A response must come from the address the request went to.
  bool match_source = false;
  /// Sends one lane holds before they are granted; a power of two.
  uint32_t queue_depth = 1024;
  /// No handlers, no send(): only call() and request().
  bool calls_only = false;
  /// For statistics and traces.
  std::string name{};
};

/// How a batch ended: `accepted` sends were accepted in order; if that is not all, `refused` tells why the next was
/// not.
struct BatchResult {
  std::size_t accepted = 0;
  Errc refused = Errc::ok;
};

/// A response with its send's completion.
struct Response {
  Mad mad;
  Address from;
  SendCompletion completion;
  std::vector<std::byte> message{};  ///< All of it, if RMPP made it longer than a MAD.
};

class [[nodiscard]] Agent {
 public:
  Agent() = default;
  Agent(Agent&&) noexcept = default;
  Agent& operator=(Agent&& other) noexcept;
  /// Deregisters; inside a callback it starts the asynchronous form.
  ~Agent();

  explicit operator bool() const { return state_ != nullptr; }
  /// 1 to 2^24 - 1, the upper half of the TID of the agent's requests.
  uint32_t id() const;

  /// Accepts a send: exactly one completion follows. Refused: none does.
  Result<SendId> send(const SendRequest& request);
  /// Accepts sends in order until one is refused; `ids`, if not empty, takes the names of the accepted ones.
  BatchResult send(std::span<const SendRequest> requests, std::span<SendId> ids = {});

  /// After this has returned ok no receive callback for the send starts and its completion tells flushed.
  /// not_outstanding: it came too late. The send is over, or its response is being delivered.
  Errc cancel(SendId id);
  /// Replaces the wait that runs now, or the next one if none does; later tries wait as asked for at first. A message's
  /// waits are those of its windows: not_outstanding.
  Errc modify(SendId id, Nanoseconds timeout);

  /// Waits until a send can be accepted again; false after `timeout`. Not from a callback.
  bool wait_for_room(Nanoseconds timeout);

  /// Sends and waits for the response. Not from a callback. Handlers are not called for it.
  Result<Response> call(const SendRequest& request);
  class Request;
  /// `co_await agent.request(r)` gives Result<Response>; resumes where callbacks run. The request must outlive the
  /// await.
  Request request(const SendRequest& request);

  /// Returns when every accepted send has completed, no callback runs, and none will. Posts are refused from its start.
  Errc deregister();
  /// The same without waiting: `done` is called last of all, where callbacks run. Also from callbacks.
  Errc deregister_async(std::function<void()> done);

  AgentStats stats() const;
  Errc set_weight(uint8_t weight);
  Errc set_window(uint16_t window);

 private:
  friend class Port;
  explicit Agent(std::shared_ptr<detail::AgentState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::AgentState> state_;
};

/// Awaitable of Agent::request().
class Agent::Request {
 public:
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter);
  Result<Response> await_resume();

 private:
  friend class Agent;
  Request(detail::AgentState* agent, const SendRequest& request) : agent_(agent), request_(request) {}
  detail::AgentState* agent_;
  const SendRequest& request_;
  std::optional<Result<Response>> result_;
};

}  // namespace tidemill
