// SPDX-License-Identifier: Apache-2.0
/// A row of the matcher: four entries, looked up in one step.
#include "hls/bucket.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdint>
#include <ostream>
#include <vector>

namespace tidemill::test {
namespace {

using hls::Bucket;
constexpr uint32_t kAll = 0xffffffffu;

TEST(Bucket, ZeroIsFourEmptyEntries) {
  const Bucket row;
  EXPECT_EQ(row.empty(), 0xfu);
  for (uint32_t way = 0; way < 4; ++way) EXPECT_EQ(row.entry(way), 0u);
}

TEST(Bucket, WritesOneEntryAndLeavesTheOthers) {
  for (uint32_t way = 0; way < 4; ++way) {
    Bucket row;
    for (uint32_t w = 0; w < 4; ++w) row.entry(w, 0x11111111u * (w + 1u));
    row.entry(way, Bucket::kValid | 5u);
    for (uint32_t w = 0; w < 4; ++w) EXPECT_EQ(row.entry(w), w == way ? (Bucket::kValid | 5u) : 0x11111111u * (w + 1u));
  }
}

TEST(Bucket, AnEntryIsEmptyUntilItsValidBitIsSet) {
  for (uint32_t way = 0; way < 4; ++way) {
    Bucket row;
    row.entry(way, kAll & ~Bucket::kValid);
    EXPECT_EQ(row.empty(), 0xfu);
    row.entry(way, Bucket::kValid);
    EXPECT_EQ(row.empty(), 0xfu & ~(1u << way));
  }
}

TEST(Bucket, FindsEveryEntryThatIsEqualUnderTheMask) {
  Bucket row;
  row.entry(0, Bucket::kValid | 0x100u | 1u);
  row.entry(1, Bucket::kValid | 0x200u | 2u);
  row.entry(3, Bucket::kValid | 0x100u | 3u);
  EXPECT_EQ(row.equal(Bucket::kValid | 0x100u, ~0xffu), 0b1001u);
  EXPECT_EQ(row.equal(Bucket::kValid | 0x100u | 3u, kAll), 0b1000u);
  EXPECT_EQ(row.equal(Bucket::kValid | 0x300u, ~0xffu), 0u);
}

/// Rows, wanted values and masks in which equality is common.
struct Lookup {
  std::array<uint32_t, 4> entries;
  uint32_t want, mask;
};
std::ostream& operator<<(std::ostream& out, const Lookup& l) {
  out << std::hex << "entries";
  for (const uint32_t e : l.entries) out << ' ' << e;
  return out << " want " << l.want << " mask " << l.mask << std::dec;
}
rc::Gen<Lookup> lookups() {
  const auto value = rc::gen::oneOf(rc::gen::element<uint32_t>(0u, 1u, Bucket::kValid, Bucket::kValid | 0x100u, kAll),
                                    rc::gen::arbitrary<uint32_t>());
  const auto mask =
      rc::gen::oneOf(rc::gen::element<uint32_t>(0u, kAll, Bucket::kValid, ~0x1fffu), rc::gen::arbitrary<uint32_t>());
  return rc::gen::build<Lookup>(rc::gen::set(&Lookup::entries, rc::gen::container<std::array<uint32_t, 4>>(value)),
                                rc::gen::set(&Lookup::want, value), rc::gen::set(&Lookup::mask, mask));
}

RC_GTEST_PROP(BucketProperty, EveryFormOfTheComparisonGivesTheObviousAnswer, ()) {
  const Lookup l = *lookups();
  Bucket row;
  uint32_t equal = 0, empty = 0;
  for (uint32_t way = 0; way < 4; ++way) {
    row.entry(way, l.entries[way]);
    equal |= uint32_t{(l.entries[way] & l.mask) == (l.want & l.mask)} << way;
    empty |= uint32_t{(l.entries[way] & Bucket::kValid) == 0} << way;
  }
  RC_ASSERT(row.equal_plain(l.want, l.mask) == equal);
  RC_ASSERT(row.equal(l.want, l.mask) == equal);
  RC_ASSERT(row.empty() == empty);
}

RC_GTEST_PROP(BucketProperty, HoldsWhatAnArrayOfFourHolds, (const std::vector<std::pair<uint8_t, uint32_t>>& writes)) {
  Bucket row;
  std::array<uint32_t, 4> model{};
  for (const auto& [way, value] : writes) {
    row.entry(way & 3u, value);
    model[way & 3u] = value;
    for (uint32_t w = 0; w < 4; ++w) RC_ASSERT(row.entry(w) == model[w]);
  }
}

}  // namespace
}  // namespace tidemill::test
