// SPDX-License-Identifier: Apache-2.0
/// What of the umad wire needs no kernel.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "../../host/umad_wire/tid_book.hpp"
#include "../../host/umad_wire/umad_address.hpp"

namespace tidemill::umad {
namespace {

TEST(TidBook, GivesEveryRequestALowerHalfOfItsOwnAndItsResponseTheRealTid) {
  TidBook book;
  // Two agents that chose the same lower half.
  const uint32_t a = book.enter(0x0000000100000007), b = book.enter(0x0000000200000007);
  EXPECT_NE(a, b);
  EXPECT_EQ(book.take(b), 0x0000000200000007u);
  EXPECT_EQ(book.take(a), 0x0000000100000007u);
  EXPECT_EQ(book.size(), 0u);
}

TEST(TidBook, AResponseCountsOnce) {
  TidBook book;
  const uint32_t lower = book.enter(5);
  EXPECT_TRUE(book.take(lower));
  EXPECT_FALSE(book.take(lower));
  EXPECT_FALSE(book.take(lower + 1));
}

TEST(UmadAddress, SurvivesTheWayThereAndBack) {
  Address a{.lid = 0x1234, .sl = 3, .path_bits = 2, .qpn = 1, .pkey_index = 5};
  EXPECT_EQ(from_umad(to_umad(a)), a);
  a.grh =
      GlobalRoute{.gid = {0xfe, 0x80, 1}, .gid_index = 4, .hop_limit = 9, .traffic_class = 7, .flow_label = 0xabcde};
  EXPECT_EQ(from_umad(to_umad(a)), a);
}

TEST(UmadAddress, IsInNetworkOrder) {
  const ib_mad_addr_t u = to_umad({.lid = 0x1234, .qpn = 1});
  EXPECT_EQ(ntohs(u.lid), 0x1234);
  EXPECT_EQ(ntohl(u.qpn), 1u);
  EXPECT_EQ(ntohl(u.qkey), kGsiQkey);
}

}  // namespace
}  // namespace tidemill::umad
