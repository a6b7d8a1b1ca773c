// SPDX-License-Identifier: Apache-2.0
#include "gid_table.hpp"

#include <gtest/gtest.h>

namespace tidemill::verbs {
namespace {

Gid link_local() {
  return {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1};
}
Gid mapped() {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
}
Gid unique_local() {
  return {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
}

/// As a RoCE card lists them: each GID for version 1 and version 2.
GidTable card() {
  return GidTable({{mapped(), 0, false},
                   {mapped(), 1, true},
                   {unique_local(), 2, false},
                   {unique_local(), 3, true},
                   {link_local(), 4, false},
                   {link_local(), 5, true}});
}

TEST(GidTable, KnowsTheKinds) {
  EXPECT_EQ(kind_of(link_local()), GidKind::link_local);
  EXPECT_EQ(kind_of(mapped()), GidKind::ipv4_mapped);
  EXPECT_EQ(kind_of(unique_local()), GidKind::ipv6);
}

TEST(GidTable, PrefersLinkLocalAndTheRoutableVersion) {
  EXPECT_EQ(card().choose(-1)->index, 5);
}

TEST(GidTable, WithoutLinkLocalTakesIpv6BeforeIpv4) {
  EXPECT_EQ(GidTable({{mapped(), 0, true}, {unique_local(), 1, true}}).choose(-1)->index, 1);
  EXPECT_EQ(GidTable({{mapped(), 7, true}}).choose(-1)->index, 7);
  EXPECT_FALSE(GidTable().choose(-1));
}

TEST(GidTable, TakesTheIndexAskedForOrNone) {
  EXPECT_EQ(card().choose(2)->gid, unique_local());
  EXPECT_FALSE(card().choose(6));
}

TEST(GidTable, FindsAGidAtThePreferredIndexElseVersion2) {
  EXPECT_EQ(card().index_of(link_local(), 4), 4);
  EXPECT_EQ(card().index_of(link_local(), 0), 5);
  EXPECT_EQ(card().index_of(mapped(), 5), 1);
  EXPECT_FALSE(card().index_of(Gid{}, 0));
}

}  // namespace
}  // namespace tidemill::verbs
