// SPDX-License-Identifier: Apache-2.0
#include "trace/infiniband_packet.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tidemill::trace {
namespace {

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> out;
  for (const unsigned v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

TEST(InfinibandPacket, InvariantCrcOfTheArchitecturesSamplePacket) {
  const auto packet =
      bytes({0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2,                          // LRH
             0x0a, 0x20, 0x24, 0x87, 0x00, 0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a,  // BTH
             0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d, 0x40, 0x02, 0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e,
             0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c, 0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00});
  EXPECT_EQ(invariant_crc(packet), 0x5ab72596u) << "96 25 b7 5a on the wire";
}

TEST(InfinibandPacket, InvariantCrcSkipsWhatChangesOnTheWay) {
  MadRecord record;
  record.mad.fill(std::byte{0x5a});
  PacketBuffer buffer;
  for (const bool global : {false, true}) {
    record.peer.grh.reset();
    if (global) record.peer.grh = GlobalRoute{.hop_limit = 64, .traffic_class = 1, .flow_label = 2};
    const auto framed = frame(record, 1, buffer);
    std::vector<std::byte> packet(framed.begin(), framed.end() - 6);
    const uint32_t crc = invariant_crc(packet);
    packet[0] ^= std::byte{0xf0};  // virtual lane
    if (global) {
      packet[2] ^= std::byte{1};   // a router gives new LIDs
      packet[9] ^= std::byte{1};   // flow label
      packet[15] ^= std::byte{1};  // hop limit
    }
    EXPECT_EQ(invariant_crc(packet), crc);
    packet[global ? 20 : 3] ^= std::byte{1};  // a GID, a LID
    EXPECT_NE(invariant_crc(packet), crc);
  }
}

TEST(InfinibandPacket, VariantCrcCoversEveryByte) {
  MadRecord record;
  PacketBuffer buffer;
  const auto framed = frame(record, 1, buffer);
  std::vector<std::byte> packet(framed.begin(), framed.end() - 2);
  const uint16_t crc = variant_crc(packet);
  EXPECT_EQ(framed[framed.size() - 2], static_cast<std::byte>(crc & 0xff));
  EXPECT_EQ(framed[framed.size() - 1], static_cast<std::byte>(crc >> 8));
  for (std::size_t i = 0; i < packet.size(); ++i) {
    packet[i] ^= std::byte{0x80};
    EXPECT_NE(variant_crc(packet), crc) << i;
    packet[i] ^= std::byte{0x80};
  }
}

TEST(InfinibandPacket, LengthFieldCountsWordsUpToTheVariantCrc) {
  MadRecord record;
  PacketBuffer buffer;
  EXPECT_EQ(frame(record, 0, buffer).size(), 290u);
  EXPECT_EQ(static_cast<unsigned>(buffer[5]), 288u / 4);
  record.peer.grh = GlobalRoute{};
  EXPECT_EQ(frame(record, 0, buffer).size(), 330u);
  EXPECT_EQ(static_cast<unsigned>(buffer[5]), 328u / 4);
}

}  // namespace
}  // namespace tidemill::trace
