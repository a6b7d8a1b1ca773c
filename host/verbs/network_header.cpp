// SPDX-License-Identifier: Apache-2.0
#include "network_header.hpp"

#include <algorithm>

namespace tidemill::verbs {
namespace {

constexpr std::size_t kIpv4At = 20, kIpv4Bytes = 20;

uint8_t at(std::span<const std::byte> bytes, std::size_t i) {
  return static_cast<uint8_t>(bytes[i]);
}

Gid gid_at(std::span<const std::byte> bytes, std::size_t i) {
  Gid gid;
  std::transform(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + gid.size()), gid.begin(),
                 [](std::byte b) { return static_cast<uint8_t>(b); });
  return gid;
}

Gid mapped_at(std::span<const std::byte> bytes, std::size_t i) {
  Gid gid{};
  gid[10] = gid[11] = 0xff;
  for (std::size_t k = 0; k < 4; ++k) gid[12 + k] = at(bytes, i + k);
  return gid;
}

/// Its checksum tells an IPv4 header from the tail of something else. rdma_rxe leaves it 0 in what it loops back.
bool is_ipv4(std::span<const std::byte> header) {
  if (at(header, 0) != 0x45) return false;
  if (at(header, 10) == 0 && at(header, 11) == 0) return true;
  uint32_t sum = 0;
  for (std::size_t i = 0; i < kIpv4Bytes; i += 2) sum += static_cast<uint32_t>(at(header, i) << 8 | at(header, i + 1));
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum == 0xffff;
}

}  // namespace

std::optional<NetworkHeader> parse_network_header(std::span<const std::byte, kNetworkHeaderBytes> bytes) {
  if (at(bytes, 0) >> 4 != 6) {
    const auto ipv4 = bytes.subspan<kIpv4At, kIpv4Bytes>();
    if (!is_ipv4(ipv4)) return std::nullopt;
    return NetworkHeader{mapped_at(ipv4, 12), mapped_at(ipv4, 16), at(ipv4, 1), 0};
  }
  const uint32_t word =
      uint32_t{at(bytes, 0)} << 24 | uint32_t{at(bytes, 1)} << 16 | uint32_t{at(bytes, 2)} << 8 | at(bytes, 3);
  return NetworkHeader{gid_at(bytes, 8), gid_at(bytes, 24), static_cast<uint8_t>(word >> 20), word & 0xfffffu};
}

}  // namespace tidemill::verbs
