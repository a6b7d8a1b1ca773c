// SPDX-License-Identifier: Apache-2.0
#include "network_header.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace tidemill::verbs {
namespace {

using Bytes = std::array<std::byte, kNetworkHeaderBytes>;

Bytes bytes_of(std::size_t at, const std::vector<uint8_t>& values) {
  Bytes b{};
  for (std::size_t i = 0; i < values.size(); ++i) b[at + i] = static_cast<std::byte>(values[i]);
  return b;
}

/// RoCEv2 between fe80::ff:fe00:1 and fe80::ff:fe00:2: version 6, class 0x12, flow label 0x34567, UDP.
Bytes ipv6() {
  Bytes b = bytes_of(0, {0x61, 0x23, 0x45, 0x67, 0x01, 0x24, 0x11, 0x40});
  const Gid source{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1};
  Gid destination = source;
  destination[15] = 2;
  for (std::size_t i = 0; i < 16; ++i)
    b[8 + i] = static_cast<std::byte>(source[i]), b[24 + i] = static_cast<std::byte>(destination[i]);
  return b;
}

/// 10.0.0.1 to 10.0.0.2, checksum right.
const std::vector<uint8_t> kIpv4{0x45, 0x08, 0x01, 0x3c, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                                 0x25, 0xa7, 10,   0,    0,    1,    10,   0,    0,    2};

TEST(NetworkHeader, ReadsAGrh) {
  const auto h = parse_network_header(ipv6());
  ASSERT_TRUE(h);
  EXPECT_EQ(h->source[15], 1);
  EXPECT_EQ(h->destination[15], 2);
  EXPECT_EQ(h->traffic_class, 0x12);
  EXPECT_EQ(h->flow_label, 0x34567u);
}

TEST(NetworkHeader, ReadsIpv4AsMappedGids) {
  const auto h = parse_network_header(bytes_of(20, kIpv4));
  ASSERT_TRUE(h);
  EXPECT_EQ(h->source, (Gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1}));
  EXPECT_EQ(h->destination, (Gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2}));
  EXPECT_EQ(h->traffic_class, 8);
}

TEST(NetworkHeader, AnIpv4HeaderWithAWrongChecksumIsNone) {
  for (std::size_t bit = 0; bit < kIpv4.size() * 8; ++bit) {
    auto broken = kIpv4;
    broken[bit / 8] = static_cast<uint8_t>(broken[bit / 8] ^ (1u << bit % 8));
    EXPECT_FALSE(parse_network_header(bytes_of(20, broken))) << "bit " << bit;
  }
}

TEST(NetworkHeader, AnIpv4HeaderThatWasLoopedBackHasNoChecksum) {
  auto looped = kIpv4;
  looped[10] = looped[11] = 0;
  EXPECT_TRUE(parse_network_header(bytes_of(20, looped)));
}

TEST(NetworkHeader, NothingElseIsOne) {
  EXPECT_FALSE(parse_network_header(Bytes{}));
  EXPECT_FALSE(parse_network_header(bytes_of(0, {0x45, 0, 1, 2})));
  Bytes version4 = ipv6();
  version4[0] = std::byte{0x41};
  EXPECT_FALSE(parse_network_header(version4));
}

}  // namespace
}  // namespace tidemill::verbs
