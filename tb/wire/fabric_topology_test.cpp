// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fabric_fixture.hpp"

namespace tidemill::test {
namespace {

using testing::HasSubstr;

constexpr uint16_t kNodeInfo = 0x0011, kPortInfo = 0x0015;

struct Found {
  std::set<uint64_t> adapters, switches;
  std::size_t longest = 0;
};

/// Asks every port of every switch who is behind it, by directed routes only.
Found sweep(Station& from) {
  Found found;
  std::deque<std::vector<uint8_t>> paths{{}};
  while (!paths.empty()) {
    const std::vector<uint8_t> path = paths.front();
    paths.pop_front();
    const std::optional<Mad> info = from.ask(directed(kNodeInfo, path), smi(kPermissiveLid), Qp::smi);
    if (!info) continue;  // a port without a cable
    const MadView v = info->view();
    EXPECT_EQ(v.status(), kDirectionBit);
    EXPECT_EQ(v.hop_pointer(), 0) << "back at its start";
    const bool is_switch = v.u8(64 + 2) == 2;
    auto& known = is_switch ? found.switches : found.adapters;
    if (!known.insert(v.u64(64 + 12)).second) continue;
    found.longest = std::max(found.longest, path.size());
    if (is_switch || path.empty()) {
      for (unsigned port = 1; port <= v.u8(64 + 3); ++port) {
        paths.push_back(path);
        paths.back().push_back(static_cast<uint8_t>(port));
      }
    }
  }
  return found;
}

struct Shape {
  unsigned nodes, radix, switches;
  std::size_t hops;
};

class FabricShape : public testing::TestWithParam<Shape> {};

TEST_P(FabricShape, IsFoundWholeByDirectedRoutesFromNodeZero) {
  const auto clock = virtual_clock();
  auto fabric = SimulatedFabric::create({.nodes = GetParam().nodes, .radix = GetParam().radix, .clock = clock}).value();
  EXPECT_EQ(fabric.nodes(), GetParam().nodes);
  EXPECT_EQ(fabric.switches(), GetParam().switches);
  Station station(fabric, clock, 0);
  const Found found = sweep(station);
  EXPECT_EQ(found.adapters.size(), fabric.nodes());
  EXPECT_EQ(found.switches.size(), fabric.switches());
  EXPECT_EQ(found.longest, GetParam().hops);
  for (unsigned n = 0; n < fabric.nodes(); ++n) EXPECT_TRUE(found.adapters.count(fabric.node_guid(n))) << n;
}

TEST_P(FabricShape, AnswersAtEveryLid) {
  const auto clock = virtual_clock();
  auto fabric = SimulatedFabric::create({.nodes = GetParam().nodes, .radix = GetParam().radix, .clock = clock}).value();
  Station station(fabric, clock, 0);
  std::set<uint64_t> guids;
  for (unsigned lid = 1; lid <= fabric.nodes() + fabric.switches(); ++lid) {
    const auto to = static_cast<uint16_t>(lid);
    const auto info =
        station.ask(Mad::make(mad_class::subn_lid, 1, mad_method::get, kNodeInfo).tid(lid), smi(to), Qp::smi);
    ASSERT_TRUE(info) << lid;
    EXPECT_EQ(info->view().tid(), lid);
    EXPECT_EQ(station.sink.got.back().from.lid, lid);
    guids.insert(info->view().u64(64 + 12));
  }
  EXPECT_EQ(guids.size(), fabric.nodes() + fabric.switches());
}

INSTANTIATE_TEST_SUITE_P(Trees, FabricShape,
                         testing::Values(Shape{1, 16, 1, 1}, Shape{2, 2, 1, 2}, Shape{4, 16, 1, 2},
                                         Shape{16, 16, 1, 2}, Shape{17, 16, 3, 4}, Shape{64, 16, 6, 4},
                                         Shape{40, 3, 39, 10}, Shape{255, 255, 1, 2}, Shape{300, 255, 3, 4}),
                         [](const auto& shape) {
                           return "Nodes" + std::to_string(shape.param.nodes) + "Radix" +
                                  std::to_string(shape.param.radix);
                         });

TEST(Fabric, NumbersPortsAlikeOnBothSidesOfACable) {
  const auto clock = virtual_clock();
  auto fabric = SimulatedFabric::create({.nodes = 5, .radix = 4, .clock = clock}).value();
  Station station(fabric, clock, 0);
  // To the leaf switch, up to the root, down by the same cable: at the leaf switch again, by its up port.
  const auto root = station.ask(directed(kNodeInfo, {1, 4}), smi(kPermissiveLid), Qp::smi);
  ASSERT_TRUE(root);
  const uint8_t entry = root->view().u8(64 + 36);
  EXPECT_EQ(root->view().return_path(2), entry);
  const auto leaf = station.ask(directed(kNodeInfo, {1, 4, entry}), smi(kPermissiveLid), Qp::smi);
  ASSERT_TRUE(leaf);
  EXPECT_EQ(leaf->view().u8(64 + 36), 4);
  const auto direct = station.ask(directed(kNodeInfo, {1}), smi(kPermissiveLid), Qp::smi);
  EXPECT_EQ(leaf->view().u64(64 + 12), direct->view().u64(64 + 12));
}

TEST(Fabric, ReportsTheEntryPortOfALidRoutedSmp) {
  const auto clock = virtual_clock();
  auto fabric = SimulatedFabric::create({.nodes = 5, .radix = 4, .clock = clock}).value();
  Station station(fabric, clock, 0);
  for (unsigned s = 0; s < fabric.switches(); ++s) {
    const auto lid = static_cast<uint16_t>(fabric.nodes() + s + 1);
    const auto info = station.ask(Mad::make(mad_class::subn_lid, 1, mad_method::get, kNodeInfo), smi(lid), Qp::smi);
    // The same switch asked by its route says the same.
    bool checked = false;
    for (const auto& path : std::vector<std::vector<uint8_t>>{{1}, {1, 4}, {1, 4, 2}}) {
      const auto same = station.ask(directed(kNodeInfo, path), smi(kPermissiveLid), Qp::smi);
      if (!same || same->view().u64(64 + 12) != info->view().u64(64 + 12)) continue;
      EXPECT_EQ(same->view().u8(64 + 36), info->view().u8(64 + 36));
      checked = true;
    }
    EXPECT_TRUE(checked) << lid;
  }
}

TEST(Fabric, LosesDirectedRoutesThatBreakOff) {
  const auto clock = virtual_clock();
  auto fabric = SimulatedFabric::create({.nodes = 4, .radix = 16, .clock = clock}).value();
  Station station(fabric, clock, 0);
  const std::vector<std::vector<uint8_t>> broken{
      {0},        // there is no port 0 to leave by
      {2},        // an adapter has one port
      {1, 9},     // no cable
      {1, 200},   // no port
      {1, 2, 1},  // adapters pass nothing on
      std::vector<uint8_t>(64, 1),
  };
  for (const auto& path : broken) {
    EXPECT_FALSE(station.ask(directed(kNodeInfo, path), smi(kPermissiveLid), Qp::smi)) << path.size();
  }
  EXPECT_EQ(fabric.counters().unroutable, broken.size());
  EXPECT_EQ(station.sink.count(WireStatus::sent), broken.size()) << "they leave all the same";
}

TEST(Fabric, RefusesTheLidRoutedPartOfADirectedRoute) {
  const auto clock = virtual_clock();
  auto fabric = SimulatedFabric::create({.clock = clock}).value();
  Station station(fabric, clock, 0);
  EXPECT_FALSE(station.ask(directed(kNodeInfo, {1}).dr_slid(1), smi(kPermissiveLid), Qp::smi));
  EXPECT_FALSE(station.ask(directed(kNodeInfo, {1}).dr_dlid(2), smi(kPermissiveLid), Qp::smi));
  EXPECT_FALSE(station.ask(directed(kNodeInfo, {1}), smi(2), Qp::smi));
  EXPECT_FALSE(station.ask(directed(kNodeInfo, {1}).hop_pointer(1), smi(kPermissiveLid), Qp::smi));
  EXPECT_EQ(fabric.counters().unroutable, 4u);
}

TEST(Fabric, LosesWhatHasNoDestination) {
  const auto clock = virtual_clock();
  auto fabric = SimulatedFabric::create({.nodes = 4, .clock = clock}).value();
  Station station(fabric, clock, 0);
  Address elsewhere = gsi(2);
  elsewhere.qpn = 7;
  EXPECT_FALSE(station.ask(echo(1), gsi(0), Qp::gsi));
  EXPECT_FALSE(station.ask(echo(1), gsi(6), Qp::gsi));
  EXPECT_FALSE(station.ask(echo(1), gsi(0xc001), Qp::gsi)) << "multicast";
  EXPECT_FALSE(station.ask(echo(1), gsi(kPermissiveLid), Qp::gsi));
  EXPECT_FALSE(station.ask(echo(1), elsewhere, Qp::gsi));
  EXPECT_EQ(fabric.counters().unroutable, 5u);
}

TEST(Fabric, CarriesGlobalRoutesByLidAndChecksTheGid) {
  const auto clock = virtual_clock();
  auto fabric = SimulatedFabric::create({.nodes = 4, .clock = clock}).value();
  Station station(fabric, clock, 0);
  const auto gid_of = [&](unsigned node) {
    Gid gid{0xfe, 0x80};
    const uint64_t port_guid = fabric.node_guid(node) | 1;
    for (unsigned i = 0; i < 8; ++i) gid[8 + i] = static_cast<uint8_t>(port_guid >> (56 - 8 * i));
    return gid;
  };
  Address to = gsi(fabric.lid(2));
  to.grh = GlobalRoute{.gid = gid_of(2), .hop_limit = 9, .traffic_class = 3, .flow_label = 0x12345};
  ASSERT_TRUE(station.ask(echo(1), to, Qp::gsi));
  const Address& from = station.sink.got.back().from;
  ASSERT_TRUE(from.grh);
  EXPECT_EQ(from.grh->gid, gid_of(2)) << "the responder's";
  EXPECT_EQ(from.grh->traffic_class, 3);
  EXPECT_EQ(from.grh->flow_label, 0x12345u);
  to.grh->gid = gid_of(3);
  EXPECT_FALSE(station.ask(echo(2), to, Qp::gsi));
  EXPECT_EQ(fabric.counters().unroutable, 1u);
}

TEST(Fabric, FailsTriesWithAnIndexOutsideItsTables) {
  auto fabric = SimulatedFabric::create({.clock = virtual_clock()}).value();
  Station station(fabric, virtual_clock(), 0);
  Address to = gsi(2);
  to.pkey_index = 1;
  station.send(echo(1), to, Qp::gsi);
  to.pkey_index = 0;
  to.grh = GlobalRoute{.gid_index = 1};
  station.send(echo(2), to, Qp::gsi);
  station.poll();
  EXPECT_EQ(station.sink.count(WireStatus::error), 2u);
  EXPECT_EQ(fabric.counters().errors, 2u);
  EXPECT_EQ(fabric.counters().sent, 0u);
}

TEST(Fabric, RefusesOptionsItCannotBuildAndNamesThem) {
  const auto message = [](FabricOptions options) {
    const auto result = SimulatedFabric::create(std::move(options));
    EXPECT_EQ(result.code(), Errc::bad_option);
    return result.ok() ? std::string() : result.error().message;
  };
  EXPECT_THAT(message({.nodes = 0}), HasSubstr("nodes is 0"));
  EXPECT_THAT(message({.radix = 1}), HasSubstr("radix is 1"));
  EXPECT_THAT(message({.radix = 256}), HasSubstr("radix is 256"));
  EXPECT_THAT(message({.nodes = 3, .radix = 2}), HasSubstr("radix is 2"));
  EXPECT_THAT(message({.nodes = 50'000}), HasSubstr("nodes is 50000"));
  EXPECT_THAT(message({.nodes = 4'000'000'000}), HasSubstr("nodes is 4000000000"));
  EXPECT_THAT(message({.faults = {.loss = 1.5}}), HasSubstr("faults.loss is 1.5"));
  EXPECT_THAT(message({.faults = {.duplication = -0.1}}), HasSubstr("faults.duplication"));
  EXPECT_THAT(message({.faults = {.reordering = 2}}), HasSubstr("faults.reordering"));
  EXPECT_THAT(message({.faults = {.corruption = 2}}), HasSubstr("faults.corruption"));
  EXPECT_THAT(message({.faults = {.stale = 2}}), HasSubstr("faults.stale"));
  EXPECT_THAT(message({.faults = {.forged = 2}}), HasSubstr("faults.forged"));
  EXPECT_THAT(message({.faults = {.send_error = 2}}), HasSubstr("faults.send_error"));
  EXPECT_THAT(message({.faults = {.flush = 0.0 / 0.0}}), HasSubstr("faults.flush"));
  EXPECT_THAT(message({.faults = {.delay = Nanoseconds(-1)}}), HasSubstr("faults.delay "));
  EXPECT_THAT(message({.faults = {.delay_jitter = std::chrono::hours(2)}}), HasSubstr("faults.delay_jitter"));
}

TEST(Fabric, BuildsTheLargestTreesThatFitTheLids) {
  auto fabric = SimulatedFabric::create({.nodes = 48'956, .radix = 255, .clock = virtual_clock()}).value();
  EXPECT_EQ(fabric.nodes() + fabric.switches(), 0xbfffu - 1);
  EXPECT_TRUE(SimulatedFabric::create({.nodes = 24'000, .radix = 3, .clock = virtual_clock()}).ok());
}

TEST(Fabric, AttachesOneWireToANode) {
  const auto clock = virtual_clock();
  auto fabric = SimulatedFabric::create({.nodes = 4, .clock = clock}).value();
  EXPECT_THAT(fabric.attach(4).error().message, HasSubstr("node 4 does not exist; nodes are 0 to 3"));
  {
    const Station first(fabric, clock, 3);
    EXPECT_THAT(fabric.attach(3).error().message, HasSubstr("node 3 has a wire already"));
  }
  EXPECT_TRUE(fabric.attach(3).ok()) << "the first one is gone";
}

TEST(Fabric, WireTellsItsAttributes) {
  auto fabric = SimulatedFabric::create({.nodes = 4, .clock = virtual_clock()}).value();
  const auto wire = std::move(fabric.attach(2)).value();
  const WireAttributes a = wire->attributes();
  EXPECT_EQ(a.lid, fabric.lid(2));
  EXPECT_EQ(a.lmc, 0);
  EXPECT_TRUE(a.has_smi && a.has_gsi);
  EXPECT_EQ(a.port_guid, fabric.node_guid(2) | 1);
  EXPECT_GE(wire->event_fd(), 0);
}

TEST(Fabric, WireOutlivesItsFabric) {
  const auto clock = virtual_clock();
  std::unique_ptr<Station> station;
  {
    auto fabric = SimulatedFabric::create({.clock = clock}).value();
    station = std::make_unique<Station>(fabric, clock, 0);
  }
  EXPECT_TRUE(station->ask(echo(1), gsi(2), Qp::gsi));
}

}  // namespace
}  // namespace tidemill::test
