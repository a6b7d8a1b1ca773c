// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "fabric_fixture.hpp"

namespace tidemill::test {
namespace {

constexpr std::size_t kData = 64;

class FabricResponder : public testing::Test {
 protected:
  std::shared_ptr<Clock> clock = virtual_clock();
  SimulatedFabric fabric = SimulatedFabric::create({.nodes = 20, .radix = 16, .clock = clock}).value();
  Station station{fabric, clock, 0};
  const uint16_t first_switch = static_cast<uint16_t>(fabric.nodes() + 1);

  Mad smp(uint16_t lid, uint16_t attribute, uint32_t modifier = 0, uint8_t method = mad_method::get) {
    const auto answer =
        station.ask(Mad::make(mad_class::subn_lid, 1, method, attribute, modifier), smi(lid), Qp::smi);
    EXPECT_TRUE(answer) << lid;
    EXPECT_EQ(answer->view().method(), mad_method::get_resp);
    return answer.value_or(Mad());
  }
  Mad perf(uint16_t lid, uint16_t attribute, uint8_t port = 1, uint8_t method = mad_method::get, uint16_t select = 0) {
    Mad request = Mad::make(mad_class::perf, 1, method, attribute);
    request.put8(kData + 1, port).put16(kData + 2, select);
    const auto answer = station.ask(request, gsi(lid), Qp::gsi);
    EXPECT_TRUE(answer) << lid;
    return answer.value_or(Mad());
  }
};

TEST_F(FabricResponder, NodeInfoDescribesAdapterAndSwitch) {
  const Mad adapter = smp(fabric.lid(3), 0x0011);
  EXPECT_EQ(adapter.view().status(), 0);
  EXPECT_EQ(adapter.view().u8(kData + 0), 1);
  EXPECT_EQ(adapter.view().u8(kData + 1), 1);
  EXPECT_EQ(adapter.view().u8(kData + 2), 1) << "channel adapter";
  EXPECT_EQ(adapter.view().u8(kData + 3), 1) << "one port";
  EXPECT_EQ(adapter.view().u64(kData + 12), fabric.node_guid(3));
  EXPECT_EQ(adapter.view().u64(kData + 20), fabric.node_guid(3) | 1) << "port GUID";
  EXPECT_EQ(adapter.view().u16(kData + 28), 1) << "one P_Key";
  EXPECT_EQ(adapter.view().u8(kData + 36), 1) << "local port";
  EXPECT_EQ(adapter.view().u32(kData + 36) & 0xffffff, kEchoOui) << "vendor";

  const Mad switched = smp(first_switch, 0x0011);
  EXPECT_EQ(switched.view().u8(kData + 2), 2) << "switch";
  EXPECT_EQ(switched.view().u8(kData + 3), 16);
  EXPECT_EQ(switched.view().u64(kData + 20), switched.view().u64(kData + 12)) << "one GUID for all its ports";
}

TEST_F(FabricResponder, NodeDescriptionNamesTheNode) {
  const auto text = [&](uint16_t lid) {
    const Mad mad = smp(lid, 0x0010);
    return std::string(reinterpret_cast<const char*>(mad.bytes().data() + kData));
  };
  EXPECT_EQ(text(fabric.lid(7)), "tidemill node 7");
  EXPECT_EQ(text(first_switch), "tidemill switch 0");
}

TEST_F(FabricResponder, PortInfoTellsLidManagerAndState) {
  const Mad info = smp(fabric.lid(3), 0x0015);
  EXPECT_EQ(info.view().u64(kData + 8), 0xfe80000000000000u) << "GID prefix";
  EXPECT_EQ(info.view().u16(kData + 16), fabric.lid(3));
  EXPECT_EQ(info.view().u16(kData + 18), fabric.lid(fabric.nodes() - 1)) << "master SM";
  EXPECT_EQ(info.view().u8(kData + 28), 1) << "local port";
  EXPECT_EQ(info.view().u8(kData + 32) & 0xf, 4) << "active";
  EXPECT_EQ(info.view().u8(kData + 33) >> 4, 5) << "link up";
  EXPECT_EQ(info.view().u8(kData + 34), 0) << "no LMC, no M_Key protection";
  EXPECT_EQ(smp(fabric.lid(3), 0x0015, 1).view().u16(kData + 16), fabric.lid(3)) << "its only port by number";
  EXPECT_EQ(smp(fabric.lid(3), 0x0015, 2).view().status(), 0x001c);
}

TEST_F(FabricResponder, PortInfoOfASwitchTellsWhichPortsHaveALink) {
  EXPECT_EQ(smp(first_switch, 0x0015, 0).view().u16(kData + 16), first_switch) << "the management port has the LID";
  unsigned active = 0;
  for (unsigned port = 1; port <= 16; ++port) {
    const Mad info = smp(first_switch, 0x0015, port);
    EXPECT_EQ(info.view().status(), 0);
    active += (info.view().u8(kData + 32) & 0xf) == 4;
  }
  EXPECT_EQ(active, 10 + 1) << "half of the nodes, and the cable up";
  EXPECT_EQ(smp(first_switch, 0x0015, 17).view().status(), 0x001c);
}

TEST_F(FabricResponder, PortInfoSeesABrokenLink) {
  const auto state = [&](unsigned port) { return smp(first_switch, 0x0015, port).view().u8(kData + 32) & 0xf; };
  EXPECT_EQ(state(5), 4);
  fabric.set_link(4, false);  // at port 5
  EXPECT_EQ(state(5), 1);
  fabric.set_link(4, true);
  EXPECT_EQ(state(5), 4);
}

TEST_F(FabricResponder, SwitchInfoIsOfSwitchesOnly) {
  const Mad info = smp(first_switch, 0x0012);
  EXPECT_EQ(info.view().status(), 0);
  EXPECT_EQ(info.view().u16(kData + 0), 0xc000) << "linear forwarding table entries";
  EXPECT_EQ(info.view().u16(kData + 6), fabric.nodes() + fabric.switches()) << "its highest LID in use";
  EXPECT_EQ(smp(fabric.lid(1), 0x0012).view().status(), kStatusUnsupportedMethodAttribute);
}

TEST_F(FabricResponder, GuidAndPkeyTablesHaveOneEntry) {
  EXPECT_EQ(smp(fabric.lid(2), 0x0014).view().u64(kData), fabric.node_guid(2) | 1);
  EXPECT_EQ(smp(fabric.lid(2), 0x0014, 1).view().status(), 0x001c);
  EXPECT_EQ(smp(fabric.lid(2), 0x0016).view().u16(kData), 0xffff);
  EXPECT_EQ(smp(fabric.lid(2), 0x0016).view().u16(kData + 2), 0);
  EXPECT_EQ(smp(fabric.lid(2), 0x0016, 1).view().status(), 0x001c);
}

TEST_F(FabricResponder, SmInfoIsAnsweredByTheLastNodeOnly) {
  const unsigned manager = fabric.nodes() - 1;
  const Mad info = smp(fabric.lid(manager), 0x0020);
  EXPECT_EQ(info.view().status(), 0);
  EXPECT_EQ(info.view().u64(kData), fabric.node_guid(manager) | 1);
  EXPECT_EQ(info.view().u8(kData + 20) & 0xf, 3) << "master";
  EXPECT_EQ(smp(fabric.lid(manager), 0x0015).view().u32(kData + 20) & 2, 2u) << "its port has IsSM";
  EXPECT_EQ(smp(fabric.lid(1), 0x0020).view().status(), kStatusUnsupportedMethodAttribute);
}

TEST_F(FabricResponder, SubnetAgentRefusesWhatItDoesNotHave) {
  EXPECT_EQ(smp(fabric.lid(1), 0x0019).view().status(), kStatusUnsupportedMethodAttribute);
  EXPECT_EQ(smp(fabric.lid(1), 0x0015, 0, mad_method::set).view().status(), kStatusUnsupportedMethodAttribute);
  const auto old = station.ask(Mad::make(mad_class::subn_lid, 2, mad_method::get, 0x0011), smi(2), Qp::smi);
  EXPECT_EQ(old->view().status(), 0x0004) << "unsupported class version";
}

TEST_F(FabricResponder, PerformanceAgentDescribesItself) {
  const Mad info = perf(fabric.lid(1), 0x0001);
  EXPECT_EQ(info.view().status(), 0);
  EXPECT_EQ(info.view().u16(kData), 0x0101) << "base and class version";
  EXPECT_EQ(perf(fabric.lid(1), 0x0001, 1, mad_method::set).view().status(), kStatusUnsupportedMethodAttribute);
  EXPECT_EQ(perf(fabric.lid(1), 0x0042).view().status(), kStatusUnsupportedMethodAttribute);
}

TEST_F(FabricResponder, PortCountersCountMadsBothWays) {
  for (int i = 0; i < 10; ++i) station.ask(echo(100 + static_cast<uint64_t>(i)), gsi(fabric.lid(5)), Qp::gsi);
  const auto counters = [&](uint16_t lid) {
    const Mad mad = perf(lid, 0x0012);
    EXPECT_EQ(mad.view().status(), 0);
    EXPECT_EQ(mad.view().u32(kData + 24), mad.view().u32(kData + 32) * 72) << "words of 4 bytes";
    EXPECT_EQ(mad.view().u32(kData + 28), mad.view().u32(kData + 36) * 72);
    return std::pair(mad.view().u32(kData + 32), mad.view().u32(kData + 36));
  };
  EXPECT_EQ(counters(fabric.lid(5)), std::pair(10u, 10u)) << "before this request counts";
  EXPECT_EQ(counters(fabric.lid(5)), std::pair(11u, 11u));
  EXPECT_EQ(counters(fabric.lid(6)), std::pair(0u, 0u));
  const auto [out, in] = counters(fabric.lid(0));
  EXPECT_EQ(out, 14u) << "node 0 asked 13 times before, and once to itself";
  EXPECT_EQ(in, 13u);
}

TEST_F(FabricResponder, PortCountersAreClearedByTheBitsOfASet) {
  for (int i = 0; i < 4; ++i) station.ask(echo(1), gsi(fabric.lid(5)), Qp::gsi);
  constexpr uint16_t packets_out = 1u << 14;
  const Mad cleared = perf(fabric.lid(5), 0x0012, 1, mad_method::set, packets_out);
  EXPECT_EQ(cleared.view().u32(kData + 32), 0u);
  EXPECT_EQ(cleared.view().u32(kData + 36), 4u) << "not chosen";
  EXPECT_EQ(perf(fabric.lid(5), 0x0012).view().u32(kData + 32), 1u);
}

TEST_F(FabricResponder, PortCountersCountBrokenLinksAndCheckThePort) {
  fabric.set_link(5, false);
  fabric.set_link(5, false);
  fabric.set_link(5, true);
  EXPECT_EQ(perf(fabric.lid(5), 0x0012).view().u8(kData + 7), 1) << "link downed";
  EXPECT_EQ(perf(fabric.lid(5), 0x0012, 2).view().status(), 0x001c);
  EXPECT_EQ(perf(fabric.lid(5), 0x0012, 0xff).view().status(), 0) << "all ports";
  EXPECT_EQ(perf(first_switch, 0x0012, 16).view().status(), 0);
}

TEST_F(FabricResponder, EchoReturnsTheBytesOfGetSetAndSend) {
  for (const uint8_t method : {mad_method::get, mad_method::set, mad_method::send}) {
    Mad request = echo(0x123456789, method);
    for (std::size_t i = 40; i < kMadBytes; ++i) request.put8(i, static_cast<uint8_t>(i * 7));
    const auto answer = station.ask(request, gsi(fabric.lid(9)), Qp::gsi);
    ASSERT_TRUE(answer);
    request.method(mad_method::get_resp);
    EXPECT_TRUE(std::ranges::equal(answer->bytes(), request.bytes()));
    EXPECT_EQ(station.sink.got.back().from.lid, fabric.lid(9));
    EXPECT_EQ(station.sink.got.back().from.qpn, 1u);
    EXPECT_EQ(station.sink.got.back().qp, Qp::gsi);
  }
}

TEST_F(FabricResponder, ShortMadsArriveAsTwoHundredFiftySixBytes) {
  const Mad request = echo(5);
  station.wire().transmit({.token = 1, .to = gsi(2), .mad = request.bytes().first(40)});
  station.run();
  ASSERT_EQ(station.sink.got.size(), 1u);
  EXPECT_EQ(station.sink.got[0].mad.view().tid(), 5u);
}

TEST_F(FabricResponder, WhatNobodyHandlesIsAnsweredAsUnsupported) {
  const auto status = [&](uint8_t mgmt_class, uint8_t method) -> int {
    const auto answer = station.ask(Mad::make(mgmt_class, 1, method, 1), gsi(fabric.lid(2)), Qp::gsi);
    return answer ? answer->view().status() : -1;
  };
  EXPECT_EQ(status(mad_class::subn_adm, mad_method::get), kStatusUnsupportedMethodAttribute);
  EXPECT_EQ(status(mad_class::subn_adm, mad_method::set), kStatusUnsupportedMethodAttribute);
  EXPECT_EQ(status(mad_class::com_mgt, mad_method::send), -1) << "only Get and Set are answered";
  EXPECT_EQ(status(mad_class::perf, mad_method::trap), -1);
  EXPECT_EQ(status(kEchoClass, mad_method::get), kStatusUnsupportedMethodAttribute) << "another OUI is not echoed";
}

TEST_F(FabricResponder, IgnoresWhatItsQueuePairDoesNotCarry) {
  EXPECT_FALSE(station.ask(Mad::make(mad_class::subn_lid, 1, mad_method::get, 0x0011), gsi(2), Qp::gsi));
  EXPECT_FALSE(station.ask(echo(1), smi(2), Qp::smi));
  EXPECT_FALSE(station.ask(echo(1).base_version(2), gsi(2), Qp::gsi));
  EXPECT_EQ(fabric.counters().delivered, 3u) << "they arrive, and that is all";
}

TEST_F(FabricResponder, ResponsesWithoutAReceiverEndAtTheAdapter) {
  EXPECT_FALSE(station.ask(make_response(echo(1).view()), gsi(2), Qp::gsi));
  EXPECT_EQ(fabric.counters().delivered, 1u);
}

TEST_F(FabricResponder, ANodeAnswersItself) {
  EXPECT_TRUE(station.ask(echo(1), gsi(station.lid()), Qp::gsi));
  const auto info = station.ask(directed(0x0011, {}), smi(kPermissiveLid), Qp::smi);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->view().u64(kData + 12), fabric.node_guid(0));
}

TEST_F(FabricResponder, AttachedNodesGetOnlyWhatTheirRespondersDoNotHandle) {
  Station server(fabric, clock, 1);
  EXPECT_TRUE(station.ask(echo(1), gsi(server.lid()), Qp::gsi));
  EXPECT_FALSE(station.ask(Mad::make(mad_class::subn_adm, 2, mad_method::get, 0x11).tid(7), gsi(server.lid()), Qp::gsi));
  server.run();
  ASSERT_EQ(server.sink.got.size(), 1u);
  EXPECT_EQ(server.sink.got[0].mad.view().tid(), 7u);
  EXPECT_EQ(server.sink.got[0].from.lid, station.lid());

  EXPECT_FALSE(station.ask(Mad::make(mad_class::subn_lid, 1, mad_method::trap, 2).tid(8), smi(server.lid()), Qp::smi));
  EXPECT_FALSE(station.ask(Mad::make(mad_class::subn_lid, 1, mad_method::get, 0x20).tid(9), smi(server.lid()), Qp::smi))
      << "SMInfo is the business of a subnet manager there, if any";
  EXPECT_FALSE(station.ask(echo(10).oui(0x123456), gsi(server.lid()), Qp::gsi));
  server.run();
  EXPECT_EQ(server.sink.got.size(), 4u);
}

TEST_F(FabricResponder, AttachedNodesWithoutRespondersGetEverything) {
  Station server(fabric, clock, 1, false);
  EXPECT_FALSE(station.ask(echo(1), gsi(server.lid()), Qp::gsi));
  server.run();
  ASSERT_EQ(server.sink.got.size(), 1u);
  // And may answer as it likes, by directed route too.
  EXPECT_FALSE(station.ask(directed(0x0011, {1, 2}).tid(2), smi(kPermissiveLid), Qp::smi));
  server.run();
  ASSERT_EQ(server.sink.got.size(), 2u);
  const auto& asked = server.sink.got.back();
  EXPECT_EQ(asked.qp, Qp::smi);
  EXPECT_EQ(asked.from.lid, kPermissiveLid);
  EXPECT_EQ(asked.mad.view().hop_pointer(), 3);
  server.send(make_response(asked.mad.view()), asked.from, Qp::smi);
  server.run();
  EXPECT_TRUE(station.sink.got.empty());
  station.run();
  ASSERT_EQ(station.sink.got.size(), 1u);
  EXPECT_EQ(station.sink.got[0].mad.view().tid(), 2u);
  EXPECT_EQ(station.sink.got[0].mad.view().hop_pointer(), 0);
}

TEST_F(FabricResponder, ResponsesAlwaysReachTheAttachedPort) {
  Station other(fabric, clock, 1);
  station.send(make_response(echo(5).view()), gsi(other.lid()), Qp::gsi);
  station.run();
  other.run();
  ASSERT_EQ(other.sink.got.size(), 1u);
  EXPECT_EQ(other.sink.got[0].mad.view().tid(), 5u);
}

}  // namespace
}  // namespace tidemill::test
