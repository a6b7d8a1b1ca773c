// SPDX-License-Identifier: Apache-2.0
/// What is sent, how it ends, and what arrives.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "address.hpp"
#include "clock.hpp"
#include "error.hpp"
#include "mad.hpp"
#include "wire.hpp"

namespace tidemill {

/// Names an accepted send for cancel() and modify(); stale ones are harmless.
struct SendId {
  uint16_t slot = 0;
  uint16_t generation = 0;
  uint32_t message = 0;  ///< Of an RMPP message; then it has no slot.
  bool operator==(const SendId&) const = default;
};

/// The device counts the tries of a send in eight bits.
inline constexpr unsigned kMaxRetries = 254;

/// How long a try waits for its response, and how often it is tried.
struct Pace {
  /// Of one try, from the moment it has left. 0 expects no response: the send completes when it has left.
  Nanoseconds timeout{0};
  /// Further tries after the first, up to kMaxRetries.
  unsigned retries = 0;
  /// 0: every try waits `timeout`. Else each waits twice as long as the one before, up to this.
  Nanoseconds backoff_cap{0};
  /// Bounds the whole life of the send, waiting in queues included. 0 for none.
  Nanoseconds deadline{0};
};

struct SendRequest {
  /// 24 to 256 bytes, copied before send() returns. Of a request, the runtime sets the TID on the wire.
  /// From an agent with RMPP, a MAD whose RMPP header has the active flag is a message: the headers of its class, then
  /// all its data, up to Registration::message_limit bytes. It travels in segments and succeeds when the last is
  /// acknowledged (and answered, if a response is expected). Without `pace.timeout` a window is sent again after 0.2 s,
  /// 0.4 s, up to 2 s, eight times; with it, after `pace.timeout`, `pace.retries` times for each window.
  std::span<const std::byte> mad{};
  Address to{};
  Pace pace{};
  /// Lower half of the TID; by default the runtime chooses one. A live send's TID and class are unique in an agent.
  std::optional<uint32_t> tid{};
  /// Comes back in the callbacks.
  uint64_t context = 0;
};

enum class SendStatus : uint8_t {
  success,    ///< Sent, and answered if a response was expected.
  timeout,    ///< No response after all tries.
  deadline,   ///< The total deadline passed.
  flushed,    ///< Cancelled, deregistered, or lost with a queue pair that did not recover.
  error,      ///< The wire failed it; see `vendor`.
  duplicate,  ///< A live send of the agent has the same TID and class.
};
std::string_view describe(SendStatus status);

/// The one final word on an accepted send.
struct SendCompletion {
  SendId id;
  SendStatus status = SendStatus::success;
  unsigned tries = 0;      ///< Transmissions started.
  Nanoseconds elapsed{0};  ///< From post to completion.
  uint64_t context = 0;
  uint8_t vendor = 0;  ///< With `error`: of the wire, or the RMPP status a message ended with.
};

/// A received MAD. `mad` is valid during the callback.
struct Received {
  MadView mad;
  const Address& from;
  Qp qp = Qp::gsi;
  unsigned port = 0;
  /// The send it answers; nothing for an unsolicited MAD.
  std::optional<SendId> matched{};
  uint64_t context = 0;  ///< Of the send it answers.
  /// All of it: the bytes of `mad`, or what RMPP has put together for an agent that has it (headers once, then all
  /// data; `mad` is the first segment).
  std::span<const std::byte> message{};
};

using SendHandler = std::function<void(const SendCompletion&)>;
using ReceiveHandler = std::function<void(const Received&)>;
using PortEventHandler = std::function<void(PortEvent)>;

}  // namespace tidemill
