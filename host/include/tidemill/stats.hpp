// SPDX-License-Identifier: Apache-2.0
/// Counters since opening. Snapshots: taken while running, each counter exact, the set not frozen.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "send.hpp"

namespace tidemill {

/// Why a received MAD was dropped.
enum class DropCause : uint8_t {
  stale,      ///< A response to no live send: late, forged, or its request never posted.
  duplicate,  ///< Its send has had its response.
  cancelled,
  wrong_class,
  wrong_port,
  wrong_address,
  never_sent,
  malformed,   ///< Not 256 bytes, base version not 1, or a class the QP does not carry.
  no_agent,    ///< Unsolicited, and nobody registered for it.
  no_handler,  ///< Its agent has no receive handler.
  no_buffer,   ///< No receive buffer was free.
};
inline constexpr std::size_t kDropCauses = 11;
std::string_view describe(DropCause cause);

inline constexpr std::size_t kSendStatuses = 6;

struct AgentStats {
  std::string name;
  uint32_t id = 0;
  uint64_t accepted = 0;
  uint64_t refused = 0;
  uint64_t tries = 0;                               ///< Transmissions of completed sends.
  uint64_t received = 0;                            ///< Receive callbacks.
  std::array<uint64_t, kSendStatuses> completed{};  ///< By SendStatus.
  uint64_t outstanding = 0;
  uint64_t outstanding_high = 0;  ///< Highest ever.

  uint64_t completed_total() const {
    uint64_t sum = 0;
    for (const uint64_t n : completed) sum += n;
    return sum;
  }
};

struct PortStats {
  uint64_t transmitted = 0;  ///< Tries given to the wire.
  uint64_t retried = 0;
  uint64_t received = 0;  ///< MADs from the wire, dropped ones included.
  uint64_t matched = 0;
  uint64_t unsolicited = 0;                         ///< Delivered without a match.
  std::array<uint64_t, kSendStatuses> completed{};  ///< Sends of all agents, those that are gone too, by SendStatus.
  uint64_t auto_responses = 0;                      ///< "Unsupported" answers to Get and Set nobody handles.
  std::array<uint64_t, kDropCauses> dropped{};
  std::array<uint64_t, 256> sent_by_class{};
  std::array<uint64_t, 256> received_by_class{};
  uint64_t outstanding_high = 0;

  uint64_t dropped_total() const {
    uint64_t sum = 0;
    for (const uint64_t n : dropped) sum += n;
    return sum;
  }
};

}  // namespace tidemill
