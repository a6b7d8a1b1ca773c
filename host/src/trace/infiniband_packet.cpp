// SPDX-License-Identifier: Apache-2.0
#include "trace/infiniband_packet.hpp"

#include <algorithm>

namespace tidemill::trace {
namespace {

constexpr std::size_t kLrh = 8, kGrh = 40, kBth = 12;
constexpr uint8_t kUdSendOnly = 0x64;
constexpr uint16_t kDefaultPkey = 0xffff;
constexpr uint64_t kGidPrefix = uint64_t{0xfe80} << 48;
/// LRH next header.
constexpr uint8_t kLocal = 2, kGlobal = 3;
/// GRH next header: InfiniBand transport.
constexpr uint8_t kBthFollows = 0x1b;

/// Table of a CRC that takes the lowest bit first.
template <class Crc>
constexpr std::array<Crc, 256> crc_table(Crc reversed_polynomial) {
  std::array<Crc, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    auto crc = static_cast<Crc>(i);
    for (int bit = 0; bit < 8; ++bit) crc = static_cast<Crc>((crc >> 1) ^ ((crc & 1u) != 0 ? reversed_polynomial : 0));
    table[i] = crc;
  }
  return table;
}
constexpr auto kInvariantTable = crc_table<uint32_t>(0xedb88320);  // 0x04c11db7
constexpr auto kVariantTable = crc_table<uint16_t>(0xd008);        // 0x100b

template <class Crc>
Crc add(Crc crc, std::byte b, const std::array<Crc, 256>& table) {
  return static_cast<Crc>((crc >> 8) ^ table[(crc ^ static_cast<uint8_t>(b)) & 0xff]);
}

/// Appends big-endian fields.
class Builder {
 public:
  explicit Builder(PacketBuffer& buffer) : buffer_(buffer) {}

  Builder& bits(uint64_t value, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0;) buffer_[size_++] = static_cast<std::byte>(value >> (8 * i));
    return *this;
  }
  Builder& gid(const Gid& gid) {
    for (const uint8_t byte : gid) bits(byte, 1);
    return *this;
  }
  Builder& bytes(std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, buffer_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += bytes.size();
    return *this;
  }
  /// First byte lowest.
  Builder& crc(uint32_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) buffer_[size_++] = static_cast<std::byte>(value >> (8 * i));
    return *this;
  }
  std::span<const std::byte> done() const { return std::span(buffer_).first(size_); }

 private:
  PacketBuffer& buffer_;
  std::size_t size_ = 0;
};

Gid default_gid(uint64_t guid) {
  Gid gid{};
  for (unsigned i = 0; i < 8; ++i) {
    gid[i] = static_cast<uint8_t>(kGidPrefix >> (56 - 8 * i));
    gid[8 + i] = static_cast<uint8_t>(guid >> (56 - 8 * i));
  }
  return gid;
}

}  // namespace

std::span<const std::byte> frame(const MadRecord& record, uint32_t sequence, PacketBuffer& buffer) {
  const Address& peer = record.peer;
  const bool smi = record.qp == Qp::smi;
  const uint16_t own_lid =
      peer.lid == kPermissiveLid ? kPermissiveLid : static_cast<uint16_t>(record.own_lid | peer.path_bits);
  const uint32_t own_qpn = smi ? 0 : 1;
  const std::size_t after_lrh = (peer.grh ? kGrh : 0) + kBth + 8 + kMadBytes + 4;

  Builder packet(buffer);
  packet.bits(smi ? 0xf0 : 0x00, 1);  // management has virtual lane 15 to itself
  packet.bits(peer.sl << 4 | (peer.grh ? kGlobal : kLocal), 1);
  packet.bits(record.outgoing ? peer.lid : own_lid, 2);
  packet.bits((kLrh + after_lrh) / 4, 2);
  packet.bits(record.outgoing ? own_lid : peer.lid, 2);
  if (peer.grh) {
    const Gid own = default_gid(record.own_guid);
    packet.bits(uint32_t{6} << 28 | uint32_t{peer.grh->traffic_class} << 20 | (peer.grh->flow_label & 0xfffff), 4);
    packet.bits(after_lrh - kGrh, 2).bits(kBthFollows, 1).bits(peer.grh->hop_limit, 1);
    packet.gid(record.outgoing ? own : peer.grh->gid).gid(record.outgoing ? peer.grh->gid : own);
  }
  packet.bits(kUdSendOnly, 1).bits(0, 1).bits(kDefaultPkey, 2);
  packet.bits((record.outgoing ? peer.qpn : own_qpn) & 0xffffff, 4).bits(sequence & 0xffffff, 4);
  packet.bits(smi ? 0 : peer.qkey, 4).bits((record.outgoing ? own_qpn : peer.qpn) & 0xffffff, 4);
  packet.bytes(record.mad);
  packet.crc(invariant_crc(packet.done()), 4);
  packet.crc(variant_crc(packet.done()), 2);
  return packet.done();
}

uint32_t invariant_crc(std::span<const std::byte> packet) {
  const bool global = (static_cast<uint8_t>(packet[1]) & 3u) == kGlobal;
  const std::size_t bth = kLrh + (global ? kGrh : 0);
  uint32_t crc = ~uint32_t{0};
  for (std::size_t i = 0; i < packet.size(); ++i) {
    // What a switch or router changes on the way counts as ones.
    auto mask = std::byte{0};
    if (global) {
      if (i < kLrh || (i > kLrh && i < kLrh + 4) || i == kLrh + 7) mask = std::byte{0xff};
      if (i == kLrh) mask = std::byte{0x0f};
    } else if (i == 0) {
      mask = std::byte{0xf0};
    }
    if (i == bth + 4) mask = std::byte{0xff};
    crc = add(crc, packet[i] | mask, kInvariantTable);
  }
  return ~crc;
}

uint16_t variant_crc(std::span<const std::byte> packet) {
  auto crc = static_cast<uint16_t>(~0u);
  for (const std::byte b : packet) crc = add(crc, b, kVariantTable);
  return static_cast<uint16_t>(~crc);
}

}  // namespace tidemill::trace
