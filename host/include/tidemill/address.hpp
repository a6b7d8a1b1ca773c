// SPDX-License-Identifier: Apache-2.0
/// Where a MAD goes, or came from. Source: IBA 8.2 (local route header), 8.3 (global route header), 9.2.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

namespace tidemill {

/// The management queue pairs of a port.
enum class Qp : uint8_t {
  smi = 0,  ///< QP0: subnet management.
  gsi = 1,  ///< QP1: everything else.
};

inline constexpr uint32_t kGsiQkey = 0x80010000;
inline constexpr uint16_t kPermissiveLid = 0xffff;

/// 128-bit GID in network order.
using Gid = std::array<uint8_t, 16>;

struct GlobalRoute {
  Gid gid{};              ///< Of the other side.
  uint8_t gid_index = 0;  ///< Of our own GID in the port's table.
  uint8_t hop_limit = 64;
  uint8_t traffic_class = 0;
  uint32_t flow_label = 0;  ///< 20 bits.
  bool operator==(const GlobalRoute&) const = default;
};

struct Address {
  uint16_t lid = 0;  ///< Of the other side; kPermissiveLid for directed route from here.
  uint8_t sl = 0;
  uint8_t path_bits = 0;  ///< Of our own LID, under the LMC.
  uint32_t qpn = 1;       ///< Of the other side.
  uint32_t qkey = kGsiQkey;
  uint16_t pkey_index = 0;
  std::optional<GlobalRoute> grh{};
  bool operator==(const Address&) const = default;
};

}  // namespace tidemill
