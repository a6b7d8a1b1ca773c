// SPDX-License-Identifier: Apache-2.0
/// What our stand-ins for the vendors' types must do.
#include <ap_int.h>
#include <gtest/gtest.h>
#include <hls_stream.h>

#include "hls/bucket.hpp"
#include "hls/lowest_bit.hpp"

namespace tidemill::test {
namespace {

TEST(ApUint, JoinsAndSplitsWords) {
  const ap_uint<256> word = (ap_uint<256>(4) << 192) | (ap_uint<256>(3) << 128) | (ap_uint<256>(2) << 64) | ap_uint<256>(1);
  EXPECT_EQ(word.to_uint64(), 1u);
  EXPECT_EQ((word >> 64).to_uint64(), 2u);
  EXPECT_EQ((word >> 128).to_uint64(), 3u);
  EXPECT_EQ((word >> 192).to_uint64(), 4u);
}

TEST(ApUint, ShiftsAcrossWords) {
  const uint64_t value = 0x8000000000000001u;
  const ap_uint<128> word = ap_uint<128>(value) << 4;
  EXPECT_EQ(word.to_uint64(), value << 4);
  EXPECT_EQ((word >> 64).to_uint64(), 8u);
  EXPECT_TRUE((word >> 4) == ap_uint<128>(value));
}

TEST(Stream, IsAQueue) {
  ::hls::stream<int> s;
  s.write(1);
  s.write(2);
  EXPECT_EQ(s.read(), 1);
  EXPECT_EQ(s.read(), 2);
  EXPECT_DEATH(s.read(), "empty stream");
}

TEST(LowestBit, IsTheSameInHardwareForm) {
  EXPECT_EQ(hls::lowest_bit(0), hls::lowest_bit_plain(0));
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const uint64_t above : {uint64_t{0}, uint64_t{0x123456789abcdef1}, ~uint64_t{0}}) {
      const uint64_t word = ((above << 1) | 1u) << bit;
      EXPECT_EQ(hls::lowest_bit(word), bit);
      EXPECT_EQ(hls::lowest_bit_plain(word), bit);
    }
  }
}

TEST(Bucket, ComparesTheSameInHardwareForm) {
  for (unsigned pattern = 0; pattern < 256; ++pattern) {
    hls::Bucket b;
    for (unsigned way = 0; way < 4; ++way) b.entry(way, hls::Bucket::kValid | (((pattern >> (2 * way)) & 3u) << 20) | way);
    for (unsigned want = 0; want < 4; ++want) {
      const uint32_t key = hls::Bucket::kValid | (want << 20), mask = hls::Bucket::kValid | (3u << 20);
      EXPECT_EQ(b.equal(key, mask), b.equal_plain(key, mask));
    }
  }
}

}  // namespace
}  // namespace tidemill::test
