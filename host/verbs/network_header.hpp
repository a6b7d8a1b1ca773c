// SPDX-License-Identifier: Apache-2.0
/// The 40 bytes in front of a datagram received on a UD queue pair: a GRH, or an IPv4 header in the last 20 of them
/// (RoCEv2). Source: IBA 8.3 and annex A17.4.5.2.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "tidemill/address.hpp"

namespace tidemill::verbs {

inline constexpr std::size_t kNetworkHeaderBytes = 40;

struct NetworkHeader {
  Gid source{}, destination{};
  uint8_t traffic_class = 0;
  uint32_t flow_label = 0;
  bool operator==(const NetworkHeader&) const = default;
};

/// Nothing if it is neither of the two. Not every device writes the bytes before an IPv4 header: the first byte must be
/// 0 when the buffer is posted, or the GRH of an earlier datagram could still stand there.
std::optional<NetworkHeader> parse_network_header(std::span<const std::byte, kNetworkHeaderBytes> bytes);

}  // namespace tidemill::verbs
