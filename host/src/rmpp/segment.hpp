// SPDX-License-Identifier: Apache-2.0
/// How a message lies in RMPP segments. A message is one long MAD: the headers of its class once, then all its data;
/// each segment repeats the headers and carries its share. Source: IBA 13.6.2 (header), 13.6.6 (sender and receiver).
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "tidemill/mad.hpp"

namespace tidemill::rmpp {

enum class Type : uint8_t { data = 1, ack = 2, stop = 3, abort = 4 };

enum Flag : uint8_t { active = 1, first = 2, last = 4 };

/// Why a transfer ended early; goes to the other side in STOP and ABORT, and to the caller as `vendor`.
enum class Reason : uint8_t {
  none = 0,
  resources_exhausted = 1,
  too_long = 118,
  inconsistent_last = 119,
  inconsistent_first = 120,
  bad_type = 121,
  window_too_small = 122,
  segment_too_big = 123,
  unsupported_version = 125,
  too_many_retries = 126,
  unspecified = 127,
};

inline constexpr std::size_t kHeaderEnd = 36;                        ///< Common and RMPP header.
inline constexpr uint32_t kSegmentPayload = kMadBytes - kHeaderEnd;  ///< What PayloadLength counts at most.

/// Where the data of a class begins, behind its own headers.
constexpr std::size_t data_offset(uint8_t mgmt_class) {
  switch (mgmt_class) {
    case mad_class::subn_adm:
      return 56;
    case mad_class::dev_mgt:
    case mad_class::dev_adm:
    case mad_class::bis:
      return 64;
    default:
      return mgmt_class >= mad_class::vendor2_first && mgmt_class <= mad_class::vendor2_last ? 40 : kHeaderEnd;
  }
}

/// Does this MAD, sent by an agent with RMPP, begin a message: active, of a class that has RMPP?
inline bool is_message(std::span<const std::byte> mad) {
  if (mad.size() < kHeaderEnd) return false;
  const auto mgmt_class = static_cast<uint8_t>(mad[1]);
  return data_offset(mgmt_class) != kHeaderEnd && (static_cast<uint8_t>(mad[26]) & Flag::active) != 0;
}

/// The RMPP header of a segment or an answer to one; keeps the response time of the byte it shares with the flags.
inline void put_header(Mad& mad, Type type, uint8_t flags, Reason reason, uint32_t segment, uint32_t length) {
  mad.put8(24, 1).put8(25, static_cast<uint8_t>(type));
  mad.put8(26, static_cast<uint8_t>((mad.view().u8(26) & 0xf8u) | flags)).put8(27, static_cast<uint8_t>(reason));
  mad.put32(28, segment).put32(32, length);
}

/// An ACK, STOP or ABORT goes the other way: the headers of what it answers with the response bit turned.
inline Mad make_answer(MadView to, Type type, Reason reason, uint32_t segment, uint32_t length) {
  Mad mad;
  const std::size_t headers = data_offset(to.mgmt_class());
  for (std::size_t i = 0; i < headers; ++i) mad.put8(i, to.u8(i));
  mad.method(to.method() ^ mad_method::response_bit);
  put_header(mad, type, Flag::active, reason, segment, length);
  return mad;
}

}  // namespace tidemill::rmpp
