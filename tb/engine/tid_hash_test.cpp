// SPDX-License-Identifier: Apache-2.0
/// The keyed hash: whatever the TIDs look like, banks and buckets are evenly used, and another seed is another hash.
/// Seeds are fixed; limits are five standard deviations.
#include "hls/tid_hash.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "hls/config.hpp"

namespace tidemill::test {
namespace {

using hls::bank_of;
using hls::tid_hash;

/// 64 x 64 bits by hand, in 16-bit digits.
uint64_t folded_by_hand(uint64_t a, uint64_t b) {
  std::array<uint64_t, 9> digits{};
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = 0; j < 4; ++j) {
      const uint64_t product = ((a >> (16 * i)) & 0xffffu) * ((b >> (16 * j)) & 0xffffu);
      digits[i + j] += product & 0xffffu;
      digits[i + j + 1] += product >> 16;
    }
  for (unsigned i = 0; i < 8; ++i) {
    digits[i + 1] += digits[i] >> 16;
    digits[i] &= 0xffffu;
  }
  uint64_t folded = 0;
  for (unsigned i = 0; i < 4; ++i) folded |= (digits[i] ^ digits[i + 4]) << (16 * i);
  return folded;
}

RC_GTEST_PROP(TidHashProperty, FoldsTheWholeProduct, (uint64_t a, uint64_t b)) {
  RC_ASSERT(hls::folded_product(a, b) == folded_by_hand(a, b));
  RC_ASSERT(hls::folded_product(~a, ~b) == folded_by_hand(~a, ~b));
}

/// How TIDs come: the upper half is the agent, the lower the agent's choice.
struct Pattern {
  std::string name;
  std::function<uint64_t(uint64_t)> tid;
};
void PrintTo(const Pattern& p, std::ostream* out) {
  *out << p.name;
}
const Pattern kPatterns[] = {
    {"Sequential", [](uint64_t i) { return (uint64_t{7} << 32) | i; }},
    {"EqualLowBits", [](uint64_t i) { return (uint64_t{7} << 32) | (i << 16) | 0xbeefu; }},
    {"OneTidOfManyAgents", [](uint64_t i) { return ((i + 1) << 32) | 1u; }},
    {"Strided", [](uint64_t i) { return i * 4096u; }},
    {"Random", [](uint64_t i) { return std::mt19937_64(i)(); }},
};
constexpr uint64_t kSeeds[] = {0, 1, 0x0123456789abcdefu, 0xd1b54a32d192ed03u, ~uint64_t{0}};

class TidHashPattern : public ::testing::TestWithParam<Pattern> {};
INSTANTIATE_TEST_SUITE_P(Tids, TidHashPattern, ::testing::ValuesIn(kPatterns),
                         [](const auto& p) { return p.param.name; });

/// Chi-square of `counts` against a uniform spread, in standard deviations from its mean.
double excess(const std::vector<uint32_t>& counts, double total) {
  const double expected = total / static_cast<double>(counts.size()), freedom = static_cast<double>(counts.size()) - 1;
  double chi = 0;
  for (const uint32_t c : counts) chi += (c - expected) * (c - expected) / expected;
  return (chi - freedom) / std::sqrt(2 * freedom);
}

TEST_P(TidHashPattern, BanksGetEqualShares) {
  constexpr unsigned kBankBits = 3, kTids = 65'536;
  for (const uint64_t seed : kSeeds) {
    std::vector<uint32_t> banks(1u << kBankBits);
    for (uint64_t i = 0; i < kTids; ++i) ++banks[bank_of(tid_hash(GetParam().tid(i), seed), kBankBits)];
    EXPECT_LT(excess(banks, kTids), 5.0) << "seed " << seed;
  }
}

TEST_P(TidHashPattern, BucketsOfBothTablesGetEqualShares) {
  using Config = hls::CardBankConfig;
  constexpr unsigned kTids = 8 * Config::kBuckets;
  for (const uint64_t seed : kSeeds) {
    std::vector<uint32_t> first(Config::kBuckets), second(Config::kBuckets);
    for (uint64_t i = 0; i < kTids; ++i) {
      const uint64_t hash = tid_hash(GetParam().tid(i), seed);
      ++first[hash & (Config::kBuckets - 1u)];
      ++second[(hash >> Config::kBucketBits) & (Config::kBuckets - 1u)];
    }
    EXPECT_LT(excess(first, kTids), 5.0) << "seed " << seed;
    EXPECT_LT(excess(second, kTids), 5.0) << "seed " << seed;
  }
}

TEST(TidHash, EveryBitOfTheTidMovesEveryBitOfTheHash) {
  std::mt19937_64 random(1);
  constexpr int kTrials = 4096;
  for (unsigned in = 0; in < 64; ++in) {
    std::array<int, 64> flips{};
    for (int trial = 0; trial < kTrials; ++trial) {
      const uint64_t tid = random(), seed = random();
      uint64_t changed = tid_hash(tid, seed) ^ tid_hash(tid ^ (uint64_t{1} << in), seed);
      for (; changed != 0; changed &= changed - 1) ++flips[static_cast<unsigned>(std::countr_zero(changed))];
    }
    for (unsigned out = 0; out < 64; ++out)
      EXPECT_NEAR(flips[out], kTrials / 2.0, 6 * std::sqrt(kTrials / 4.0)) << "TID bit " << in << ", hash bit " << out;
  }
}

TEST(TidHash, TidsThatShareABucketOnOneSeedDoNotOnAnother) {
  using Config = hls::CardBankConfig;
  constexpr uint64_t kKnown = 42, kOther = 43;
  std::set<uint64_t> rows;
  unsigned found = 0;
  for (uint64_t tid = 0; found < 64; ++tid) {
    if ((tid_hash(tid, kKnown) & (Config::kBuckets - 1u)) != 0) continue;
    ++found;
    rows.insert(tid_hash(tid, kOther) & (Config::kBuckets - 1u));
  }
  EXPECT_GE(rows.size(), 60u) << "64 balls in 4,096 bins meet about once in two trials";
}

TEST(TidHash, TheBankComesFromBitsThatTheMatcherDoesNotUse) {
  EXPECT_EQ(bank_of(~uint64_t{0}, 0), 0u) << "a single bank";
  EXPECT_EQ(bank_of(~uint64_t{0} >> 8, 8), 0u);
  EXPECT_EQ(bank_of(uint64_t{0xff} << 56, 8), 0xffu);
  for (const unsigned used : {2 * hls::CardBankConfig::kBucketBits + 31 - hls::CardBankConfig::kSlotBits,
                              2 * hls::HostBankConfig::kBucketBits + 31 - hls::HostBankConfig::kSlotBits})
    EXPECT_LE(used, 56u);
}

}  // namespace
}  // namespace tidemill::test
