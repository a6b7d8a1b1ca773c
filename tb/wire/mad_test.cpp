// SPDX-License-Identifier: Apache-2.0
#include "tidemill/mad.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <vector>

namespace tidemill {
namespace {

using Bytes = std::array<std::byte, kMadBytes>;

/// Byte i holds i: a field's value tells its offset.
Bytes counting() {
  Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

Bytes of(MadView view) {
  Bytes bytes{};
  std::ranges::copy(view.bytes(), bytes.begin());
  return bytes;
}

/// Offsets at which two MADs differ.
std::set<std::size_t> differences(const Bytes& a, const Bytes& b) {
  std::set<std::size_t> at;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) at.insert(i);
  }
  return at;
}

/// Reads through every accessor; the sum only keeps the reads alive.
uint64_t read_everything(MadView v) {
  uint64_t sum = v.base_version() + v.mgmt_class() + v.class_version() + v.method() + v.status() + v.tid() +
                 v.attribute() + v.modifier() + v.is_response() + v.is_directed_route() + v.is_vendor2() + v.oui() +
                 v.hop_pointer() + v.hop_count() + v.mkey() + v.dr_slid() + v.dr_dlid() + v.has_rmpp() +
                 v.rmpp_version() + v.rmpp_type() + v.rmpp_flags() + v.rmpp_active() + v.rmpp_status() +
                 v.rmpp_segment() + v.rmpp_length();
  for (unsigned hop = 0; hop < 256; ++hop) sum += v.initial_path(hop) + v.return_path(hop);
  // By the MAD's own counts, as a forwarder indexes.
  sum += v.initial_path(v.hop_pointer()) + v.return_path(v.hop_count());
  return sum;
}

TEST(MadView, CommonHeaderLiesWhereTheArchitectureSays) {
  const Bytes bytes = counting();
  const MadView v(bytes);
  EXPECT_EQ(v.base_version(), 0);
  EXPECT_EQ(v.mgmt_class(), 1);
  EXPECT_EQ(v.class_version(), 2);
  EXPECT_EQ(v.method(), 3);
  EXPECT_EQ(v.status(), 0x0405);
  EXPECT_EQ(v.tid(), 0x08090a0b0c0d0e0fu);
  EXPECT_EQ(v.attribute(), 0x1011);
  EXPECT_EQ(v.modifier(), 0x14151617u);
}

TEST(MadView, DirectedRouteFieldsLieWhereTheArchitectureSays) {
  const Bytes bytes = counting();
  const MadView v(bytes);
  EXPECT_EQ(v.hop_pointer(), 6);
  EXPECT_EQ(v.hop_count(), 7);
  EXPECT_EQ(v.mkey(), 0x18191a1b1c1d1e1fu);
  EXPECT_EQ(v.dr_slid(), 0x2021);
  EXPECT_EQ(v.dr_dlid(), 0x2223);
  EXPECT_EQ(v.initial_path(0), 128);
  EXPECT_EQ(v.initial_path(63), 191);
  EXPECT_EQ(v.return_path(0), 192);
  EXPECT_EQ(v.return_path(63), 255);
}

TEST(MadView, RmppHeaderAndOuiLieWhereTheArchitectureSays) {
  const Bytes bytes = counting();
  const MadView v(bytes);
  EXPECT_EQ(v.rmpp_version(), 24);
  EXPECT_EQ(v.rmpp_type(), 25);
  EXPECT_EQ(v.rmpp_flags(), 26 & 7);
  EXPECT_EQ(v.rmpp_status(), 27);
  EXPECT_EQ(v.rmpp_segment(), 0x1c1d1e1fu);
  EXPECT_EQ(v.rmpp_length(), 0x20212223u);
  EXPECT_EQ(v.oui(), 0x252627u) << "the byte before the OUI is reserved";
}

TEST(MadView, HopsBeyondThePathWrapInsteadOfReadingPastIt) {
  const Bytes bytes = counting();
  const MadView v(bytes);
  EXPECT_EQ(v.initial_path(64), v.initial_path(0));
  EXPECT_EQ(v.return_path(255), v.return_path(63));
}

TEST(MadView, TellsResponsesFromRequests) {
  const auto response = [](uint8_t mgmt_class, uint8_t method, uint32_t modifier) {
    return Mad::make(mgmt_class, 1, method, 0, modifier).view().is_response();
  };
  EXPECT_FALSE(response(mad_class::perf, mad_method::get, 0));
  EXPECT_FALSE(response(mad_class::perf, mad_method::trap, 1));
  EXPECT_TRUE(response(mad_class::perf, mad_method::get_resp, 0));
  EXPECT_TRUE(response(mad_class::com_mgt, mad_method::send | mad_method::response_bit, 0));
  EXPECT_TRUE(response(mad_class::subn_lid, mad_method::trap_repress, 0)) << "TrapRepress has no R bit";
  EXPECT_TRUE(response(mad_class::bm, mad_method::send, 1)) << "BM tells by bit 0 of the modifier";
  EXPECT_FALSE(response(mad_class::bm, mad_method::send, 2));
}

TEST(MadView, KnowsWhichClassesCarryRmpp) {
  std::set<int> with;
  for (int c = 0; c < 256; ++c) {
    if (Mad::make(static_cast<uint8_t>(c), 1, mad_method::get, 0).view().has_rmpp()) with.insert(c);
  }
  std::set<int> expected{mad_class::subn_adm, mad_class::dev_mgt, mad_class::dev_adm, mad_class::bis};
  for (int c = mad_class::vendor2_first; c <= mad_class::vendor2_last; ++c) expected.insert(c);
  EXPECT_EQ(with, expected);
}

TEST(MadView, RmppIsActiveOnlyInClassesThatCarryIt) {
  Mad mad = Mad::make(mad_class::subn_adm, 2, mad_method::get, 0);
  EXPECT_FALSE(mad.view().rmpp_active());
  mad.put8(26, 1);
  EXPECT_TRUE(mad.view().rmpp_active());
  mad.put8(26, 0xfe);
  EXPECT_FALSE(mad.view().rmpp_active()) << "first, last and the response time are other bits";
  mad.put8(26, 1).mgmt_class(mad_class::perf);
  EXPECT_FALSE(mad.view().rmpp_active()) << "these bytes are data there";
}

TEST(MadView, EveryAccessorIsInRangeOfAllOnes) {
  Bytes bytes;
  bytes.fill(std::byte{0xff});
  const MadView v(bytes);
  EXPECT_NE(read_everything(v), 0u);
  EXPECT_EQ(v.oui(), 0xffffffu);
  EXPECT_EQ(v.rmpp_flags(), 7);
}

TEST(MadView, EveryAccessorIsInRangeOfRandomBytes) {
  std::mt19937_64 random(20040901);
  // A heap block of exactly 256 bytes, so that AddressSanitizer sees a read past either end.
  const auto bytes = std::make_unique<Bytes>();
  for (int i = 0; i < 2000; ++i) {
    for (std::byte& b : *bytes) b = static_cast<std::byte>(random());
    read_everything(MadView(*bytes));
  }
}

TEST(Mad, StartsAsZeros) {
  const Mad mad;
  EXPECT_THAT(mad.bytes(), testing::Each(std::byte{0}));
}

TEST(Mad, MakeSetsWhatIsAskedAndNothingElse) {
  const Mad mad = Mad::make(0x04, 2, mad_method::set, 0x1234, 0x56789abc);
  EXPECT_EQ(mad.view().base_version(), 1);
  EXPECT_EQ(mad.view().mgmt_class(), 0x04);
  EXPECT_EQ(mad.view().class_version(), 2);
  EXPECT_EQ(mad.view().method(), mad_method::set);
  EXPECT_EQ(mad.view().attribute(), 0x1234);
  EXPECT_EQ(mad.view().modifier(), 0x56789abcu);
  const std::set<std::size_t> named{0, 1, 2, 3, 16, 17, 20, 21, 22, 23};
  EXPECT_EQ(differences(of(mad.view()), Bytes{}), named);
}

TEST(Mad, SettersWriteWhatAccessorsRead) {
  Mad mad;
  mad.base_version(1).mgmt_class(0x81).class_version(3).method(4).status(0x8005).tid(0x0102030405060708u);
  mad.attribute(0x1112).modifier(0x13141516).oui(0xffabcdefu).hop_pointer(9).hop_count(10);
  mad.dr_slid(0xffff).dr_dlid(0xfffe).initial_path(2, 11).return_path(3, 12);
  const MadView v = mad.view();
  EXPECT_EQ(v.base_version(), 1);
  EXPECT_EQ(v.mgmt_class(), 0x81);
  EXPECT_EQ(v.class_version(), 3);
  EXPECT_EQ(v.method(), 4);
  EXPECT_EQ(v.status(), 0x8005);
  EXPECT_EQ(v.tid(), 0x0102030405060708u);
  EXPECT_EQ(v.attribute(), 0x1112);
  EXPECT_EQ(v.modifier(), 0x13141516u);
  EXPECT_EQ(v.oui(), 0xabcdefu);
  EXPECT_EQ(v.u8(36), 0) << "reserved before the OUI";
  EXPECT_EQ(v.hop_pointer(), 9);
  EXPECT_EQ(v.hop_count(), 10);
  EXPECT_EQ(v.dr_slid(), 0xffff);
  EXPECT_EQ(v.dr_dlid(), 0xfffe);
  EXPECT_EQ(v.initial_path(2), 11);
  EXPECT_EQ(v.return_path(3), 12);
}

TEST(Mad, IsBigEndian) {
  Mad mad;
  mad.put64(100, 0x0102030405060708u);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(mad.view().u8(100 + i), i + 1);
  EXPECT_EQ(mad.view().u64(100), 0x0102030405060708u);
  EXPECT_EQ(mad.view().u32(104), 0x05060708u);
}

TEST(Mad, CopiesAView) {
  const Bytes bytes = counting();
  EXPECT_EQ(of(Mad(MadView(bytes)).view()), bytes);
}

TEST(MakeResponse, ChangesMethodAndStatusOnly) {
  Mad request(MadView{counting()});
  request.mgmt_class(mad_class::perf).method(mad_method::set).status(0);
  const Mad response = make_response(request.view(), 0x000c);
  EXPECT_EQ(response.view().method(), mad_method::get_resp);
  EXPECT_EQ(response.view().status(), 0x000c);
  const std::set<std::size_t> changed{3, 5};
  EXPECT_EQ(differences(of(request.view()), of(response.view())), changed);
  EXPECT_TRUE(response.view().is_response());
}

TEST(MakeResponse, SetsTheDirectionBitOfDirectedRouteSmps) {
  const Mad smp = Mad::make(mad_class::subn_directed, 1, mad_method::get, 0x0011);
  EXPECT_EQ(make_response(smp.view()).view().status(), 0x8000);
  EXPECT_EQ(make_response(smp.view(), 0x001c).view().status(), 0x801c);
  const Mad lid_routed = Mad::make(mad_class::subn_lid, 1, mad_method::get, 0x0011);
  EXPECT_EQ(make_response(lid_routed.view()).view().status(), 0);
}

TEST(MakeResponse, KeepsRouteAndOui) {
  Mad smp = Mad::make(mad_class::subn_directed, 1, mad_method::get, 0x0011);
  smp.hop_count(2).hop_pointer(3).initial_path(1, 1).initial_path(2, 7).return_path(1, 5).return_path(2, 6);
  const Mad answer = make_response(smp.view());
  EXPECT_EQ(answer.view().hop_count(), 2);
  EXPECT_EQ(answer.view().hop_pointer(), 3);
  EXPECT_EQ(answer.view().initial_path(2), 7);
  EXPECT_EQ(answer.view().return_path(2), 6);

  const Mad vendor = Mad::make(0x30, 1, mad_method::send, 0).oui(0x00d1de).tid(77);
  EXPECT_EQ(make_response(vendor.view()).view().oui(), 0x00d1deu);
  EXPECT_EQ(make_response(vendor.view()).view().tid(), 77u);
}

}  // namespace
}  // namespace tidemill
