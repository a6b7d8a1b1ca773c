// SPDX-License-Identifier: Apache-2.0
/// What a trace remembers.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "tidemill/send.hpp"

namespace tidemill::trace {

/// In the order in which they happen to one send at one time.
enum class EventKind : uint8_t { posted, transmitted, matched, completed };

struct EventRecord {
  Nanoseconds at{0};
  uint64_t tid = 0;         ///< Of posted.
  Nanoseconds elapsed{0};   ///< Of completed.
  uint32_t agent = 0;
  SendId id;
  EventKind kind = EventKind::posted;
  uint8_t mgmt_class = 0;   ///< Of posted.
  uint8_t tries = 0;        ///< Of transmitted and completed.
  uint8_t vendor = 0;       ///< Of completed.
  SendStatus status = SendStatus::success;
};

struct MadRecord {
  Nanoseconds at{0};
  std::array<std::byte, kMadBytes> mad;
  Address peer;
  uint64_t own_guid = 0;
  uint16_t own_lid = 0;
  Qp qp = Qp::gsi;
  bool outgoing = false;
};

/// Names by agent id.
using AgentNames = std::map<uint32_t, std::string>;

}  // namespace tidemill::trace
