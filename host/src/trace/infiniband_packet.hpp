// SPDX-License-Identifier: Apache-2.0
/// A MAD as it goes over an InfiniBand link: LRH, GRH if it has one, BTH, DETH, MAD, ICRC, VCRC.
/// Source: IBA 7.7 (LRH), 8.3 (GRH), 9.2 (BTH), 9.3.1 (DETH), 7.8 (CRCs).
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "trace/records.hpp"

namespace tidemill::trace {

inline constexpr std::size_t kMaxPacketBytes = 8 + 40 + 12 + 8 + kMadBytes + 4 + 2;
using PacketBuffer = std::array<std::byte, kMaxPacketBytes>;

/// Returns the part of `buffer` that it filled. `sequence` becomes the packet sequence number.
std::span<const std::byte> frame(const MadRecord& record, uint32_t sequence, PacketBuffer& buffer);

/// Over a packet from LRH on, CRCs excluded; as it stands on the wire, first byte in the lowest bits.
uint32_t invariant_crc(std::span<const std::byte> packet);
/// Over a packet from LRH to ICRC.
uint16_t variant_crc(std::span<const std::byte> packet);

}  // namespace tidemill::trace
