// SPDX-License-Identifier: Apache-2.0
/// What each block keeps in RAM on a card, from its configuration: prints the numbers of the block pages.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include "hls/bucket.hpp"
#include "hls/config.hpp"

namespace tidemill::test {
namespace {

struct Ram {
  const char* what;
  uint32_t rows, bits;
};
/// A link is 16 bits wide as long as that is enough to name a row.
template <class Config>
constexpr uint32_t kLinkBits = Config::kLinkRows > 0x10000u ? 32 : 16;

template <class Config>
std::vector<Ram> matcher() {
  return {{"table 0", Config::kBuckets, 8 * sizeof(hls::Bucket)},
          {"table 1", Config::kBuckets, 8 * sizeof(hls::Bucket)}};
}
template <class Config>
std::vector<Ram> wheel() {
  return {{"next", Config::kLinkRows, kLinkBits<Config>},
          {"prev", Config::kLinkRows, kLinkBits<Config>},
          {"due", Config::kSlots, 32},
          {"occupancy", Config::kLists >> Config::kSpreadBits, 64}};
}
template <class Config>
std::vector<Ram> arbiter() {
  return {{"lanes", Config::kLanes, 128}, {"next", Config::kLinkRows, 16}, {"prev", Config::kLinkRows, 16}};
}

uint32_t total(const char* block, const std::vector<Ram>& rams) {
  for (const Ram& r : rams)
    std::printf("%-20s %-10s %6u x %3u = %8u bits\n", block, r.what, r.rows, r.bits, r.rows * r.bits);
  return std::accumulate(rams.begin(), rams.end(), 0u,
                         [](uint32_t sum, const Ram& r) { return sum + r.rows * r.bits; });
}

TEST(RamBits, OfACardsBlocksAreWhatTheirPagesSay) {
  EXPECT_EQ(total("TID matcher", matcher<hls::CardBankConfig>()), 1'048'576u);
  EXPECT_EQ(total("timeout wheel", wheel<hls::CardBankConfig>()), 590'336u);
  EXPECT_EQ(total("send arbiter", arbiter<hls::CardArbiterConfig>()), 166'688u);
}

}  // namespace
}  // namespace tidemill::test
