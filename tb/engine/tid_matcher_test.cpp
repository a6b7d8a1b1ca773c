// SPDX-License-Identifier: Apache-2.0
/// The TID matcher alone, against a std::map. Hashes are given by the test, so that collisions are common.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <vector>

#include "matcher_driver.hpp"

namespace tidemill::test {
namespace {

/// 32 slots, two tables of four rows.
using Config = hls::BankConfig<5, 2>;
using Driver = MatcherDriver<Config>;
using Matcher = Driver::Matcher;

/// A hash that names two rows and a fingerprint.
constexpr uint64_t hash_of(uint32_t row0, uint32_t row1, uint64_t fingerprint = 0) {
  return row0 | (uint64_t{row1} << Config::kBucketBits) | (fingerprint << (2 * Config::kBucketBits));
}
constexpr uint32_t table_of(uint32_t location) {
  return (location >> 2) & 3u;
}

class TidMatcherTest : public ::testing::Test {
 protected:
  Driver matcher_;
};

TEST_F(TidMatcherTest, FindsNothingAtReset) {
  for (uint32_t row0 = 0; row0 < 4; ++row0)
    for (uint32_t row1 = 0; row1 < 4; ++row1) EXPECT_FALSE(matcher_.find(0, hash_of(row0, row1)));
}

TEST_F(TidMatcherTest, FindsWhatWasInsertedAndNotWhatWasRemoved) {
  ASSERT_TRUE(matcher_.insert(3, 77, hash_of(1, 2, 5)));
  EXPECT_EQ(matcher_.find(77, hash_of(1, 2, 5)), 3u);
  EXPECT_FALSE(matcher_.find(77, hash_of(1, 2, 6))) << "another fingerprint";
  EXPECT_FALSE(matcher_.find(78, hash_of(1, 2, 5))) << "another key with the same hash";
  matcher_.remove(3);
  EXPECT_FALSE(matcher_.find(77, hash_of(1, 2, 5)));
}

TEST_F(TidMatcherTest, AnEntryGoesToTheEmptierOfItsTwoBuckets) {
  ASSERT_TRUE(matcher_.insert(0, 0, hash_of(1, 2)));
  EXPECT_EQ(table_of(matcher_.location(0)), 0u) << "the first if they are equally full";
  ASSERT_TRUE(matcher_.insert(1, 1, hash_of(1, 3)));
  EXPECT_EQ(table_of(matcher_.location(1)), 1u);
  ASSERT_TRUE(matcher_.insert(2, 2, hash_of(0, 3)));
  EXPECT_EQ(table_of(matcher_.location(2)), 0u);
}

TEST_F(TidMatcherTest, UsesTheStashOnlyWhenBothBucketsAreFull) {
  for (uint32_t slot = 0; slot < 8; ++slot) {
    ASSERT_TRUE(matcher_.insert(slot, slot, hash_of(1, 2)));
    EXPECT_FALSE(matcher_.in_stash(slot)) << slot;
  }
  ASSERT_TRUE(matcher_.insert(8, 8, hash_of(1, 2)));
  EXPECT_TRUE(matcher_.in_stash(8));
  EXPECT_EQ(matcher_.find(8, hash_of(1, 2)), 8u);
  ASSERT_TRUE(matcher_.insert(9, 9, hash_of(0, 2)));
  EXPECT_FALSE(matcher_.in_stash(9)) << "one of its buckets has room";
}

TEST_F(TidMatcherTest, RefusesWithoutTouchingAnyEntryWhenBucketsAndStashAreFull) {
  for (uint32_t slot = 0; slot < 12; ++slot) ASSERT_TRUE(matcher_.insert(slot, slot, hash_of(1, 2)));
  EXPECT_FALSE(matcher_.insert(12, 12, hash_of(1, 2)));
  EXPECT_FALSE(matcher_.find(12, hash_of(1, 2)));
  for (uint32_t slot = 0; slot < 12; ++slot) EXPECT_EQ(matcher_.find(slot, hash_of(1, 2)), slot);
  EXPECT_TRUE(matcher_.insert(12, 12, hash_of(1, 3))) << "another row has room";
}

TEST_F(TidMatcherTest, TakesARefusedSendAsSoonAsOneOfItsRowsOrTheStashHasRoom) {
  for (const uint32_t leaves : {0u, 5u, 11u}) {
    Driver matcher;
    for (uint32_t slot = 0; slot < 12; ++slot) ASSERT_TRUE(matcher.insert(slot, slot, hash_of(1, 2)));
    ASSERT_FALSE(matcher.insert(12, 12, hash_of(1, 2)));
    matcher.remove(leaves);
    EXPECT_TRUE(matcher.insert(12, 12, hash_of(1, 2)));
    EXPECT_EQ(matcher.find(12, hash_of(1, 2)), 12u);
  }
}

TEST_F(TidMatcherTest, LooksAtEachCandidateOnceAtMostTwelve) {
  for (uint32_t slot = 0; slot < 12; ++slot) ASSERT_TRUE(matcher_.insert(slot, slot, hash_of(1, 2)));
  std::set<uint32_t> seen;
  uint32_t skip = 0;
  for (auto s = Matcher::search(matcher_.memory(), hash_of(1, 2), skip); s.candidates != 0;
       s = Matcher::search(matcher_.memory(), hash_of(1, 2), skip)) {
    seen.insert(Matcher::slot_of(s, Matcher::first(s)));
    skip |= 1u << Matcher::first(s);
  }
  EXPECT_EQ(seen.size(), 12u);
  EXPECT_EQ(skip, 0xfffu);
}

TEST_F(TidMatcherTest, AnotherFingerprintIsNoCandidate) {
  ASSERT_TRUE(matcher_.insert(1, 10, hash_of(1, 2, 7)));
  ASSERT_TRUE(matcher_.insert(2, 20, hash_of(1, 2, 8)));
  EXPECT_EQ(matcher_.find(20, hash_of(1, 2, 8)), 2u);
  EXPECT_EQ(matcher_.searches(), 1u);
}

TEST(TidMatcher, FingerprintNeverTouchesSlotOrValidBit) {
  const auto disjoint = []<class C>(C) {
    using M = hls::TidMatcher<hls::BankMemory<C>>;
    EXPECT_EQ(M::fingerprint(~uint64_t{0}), M::kFingerprintMask);
    EXPECT_EQ(M::kFingerprintMask & M::kSlotMask, 0u);
    EXPECT_EQ(M::kFingerprintMask | M::kSlotMask | hls::Bucket::kValid, 0xffffffffu);
  };
  disjoint(Config{});
  disjoint(hls::CardBankConfig{});
  disjoint(hls::HostBankConfig{});
}

/// Insert, remove or find one of 32 slots under one of 64 keys; the hash of a key has few values.
struct Op {
  enum Kind { kInsert, kRemove, kFind } kind;
  uint32_t slot;
  uint64_t key;
};
std::ostream& operator<<(std::ostream& out, const Op& op) {
  static constexpr const char* kNames[] = {"insert", "remove", "find"};
  return out << kNames[op.kind] << " slot " << op.slot << " key " << op.key;
}
rc::Gen<std::vector<Op>> ops() {
  const auto op = rc::gen::build<Op>(
      rc::gen::set(&Op::kind, rc::gen::weightedElement<Op::Kind>({{4, Op::kInsert}, {1, Op::kRemove}, {1, Op::kFind}})),
      rc::gen::set(&Op::slot, rc::gen::inRange(0u, Config::kSlots)),
      rc::gen::set(&Op::key, rc::gen::inRange<uint64_t>(0, 64)));
  return rc::gen::scale(3.0, rc::gen::container<std::vector<Op>>(op));
}

RC_GTEST_PROP(TidMatcherProperty, BehavesLikeAMapAndRefusesOnlyWhenTheRowsAreFull, ()) {
  // Two rows a table are in use and four fingerprints, so that refusals and false candidates are frequent.
  const auto hash = [](uint64_t key) { return hash_of(key & 1u, (key >> 1) & 1u, (key >> 2) & 3u); };
  Driver matcher;
  std::map<uint64_t, uint32_t> model;
  std::map<uint32_t, uint64_t> key_of;
  // Entries by bucket: row + 4 table; the stash is 8.
  std::array<unsigned, 9> filled{};
  bool refused = false;
  const auto bucket = [&](uint32_t slot) {
    return matcher.in_stash(slot) ? 8u : (matcher.location(slot) >> 4) + 4 * table_of(matcher.location(slot));
  };
  for (const Op& op : *ops()) {
    const auto known = model.find(op.key);
    RC_ASSERT(matcher.find(op.key, hash(op.key)) ==
              (known == model.end() ? std::nullopt : std::optional(known->second)));
    if (op.kind == Op::kInsert && known == model.end() && key_of.count(op.slot) == 0) {
      const bool full = filled[op.key & 1u] == 4 && filled[4 + ((op.key >> 1) & 1u)] == 4 && filled[8] == 4;
      const bool inserted = matcher.insert(op.slot, op.key, hash(op.key));
      RC_ASSERT(inserted == !full);
      refused |= !inserted;
      if (!inserted) continue;
      model[op.key] = op.slot;
      key_of[op.slot] = op.key;
      ++filled[bucket(op.slot)];
    } else if (op.kind == Op::kRemove && key_of.count(op.slot) != 0) {
      matcher.remove(op.slot);
      --filled[bucket(op.slot)];
      model.erase(key_of[op.slot]);
      key_of.erase(op.slot);
    }
  }
  for (const auto& [key, slot] : model) {
    RC_ASSERT(matcher.find(key, hash(key)) == std::optional(slot));
    RC_ASSERT(matcher.searches() <= Matcher::kEntries);
  }
  RC_TAG(refused ? "with a refusal" : "without");
}

}  // namespace
}  // namespace tidemill::test
