// SPDX-License-Identifier: Apache-2.0
/// Transactions of the runtime over queue pairs: depths, loss, failures, removal. Every accepted send completes, once.
#include <future>

#include "wires.hpp"

namespace tidemill::guest {
namespace {

struct Traffic : testing::Test {
  Side server{{.device = "rxe1", .send_depth = 512, .receive_depth = 4096}, {.receive_buffers = 4096}};
  void SetUp() override { server.answer(); }
  Address to(const Side& client) const { return address_of(server.identity, client.identity); }
};

class TrafficDepth : public Traffic, public testing::WithParamInterface<uint16_t> {};

TEST_P(TrafficDepth, EveryTransactionIsAnswered) {
  Side client({.device = "rxe0", .send_depth = GetParam(), .receive_depth = 4096}, {.receive_buffers = 4096});
  client.ask();
  const unsigned count = std::max(200u, 2u * GetParam());
  client.send(to(client), count, GetParam(), {.timeout = 5s, .retries = 5});
  ASSERT_TRUE(soon([&] { return client.ended() == count; }, 60s));
  EXPECT_EQ(client.ended(SendStatus::success), count);
  EXPECT_TRUE(client.each_once());
  EXPECT_EQ(client.counters->copied, 0u);  // straight from slot memory
  EXPECT_LE(client.counters->posts, client.counters->posted);
}
INSTANTIATE_TEST_SUITE_P(Depths, TrafficDepth, testing::Values(1, 2, 3, 16, 64, 128, 256, 512, 1024));

class TrafficLoss : public Traffic, public testing::WithParamInterface<unsigned> {
 public:
  void SetUp() override {
    Traffic::SetUp();
    shell("/usr/bin/tc qdisc add dev va root netem loss " + std::to_string(GetParam()) + "%");
    shell("/usr/bin/tc qdisc add dev vb root netem loss " + std::to_string(GetParam()) + "%");
  }
  void TearDown() override {
    shell("/usr/bin/tc qdisc del dev va root");
    shell("/usr/bin/tc qdisc del dev vb root");
  }
};

TEST_P(TrafficLoss, EveryTransactionCompletes) {
  Side client({.device = "rxe0", .receive_depth = 4096});
  client.ask();
  client.send(to(client), 400, 128, {.timeout = 100ms, .retries = 40});
  ASSERT_TRUE(soon([&] { return client.ended() == 400; }, 60s));
  EXPECT_EQ(client.ended(SendStatus::success), 400u);
  EXPECT_TRUE(client.each_once());
  EXPECT_GT(client.tries(), 400u);
}

TEST_P(TrafficLoss, WithoutRetriesTheLostOnesTimeOut) {
  Side client({.device = "rxe0", .receive_depth = 4096});
  client.ask();
  client.send(to(client), 400, 400, {.timeout = 500ms});
  ASSERT_TRUE(soon([&] { return client.ended() == 400; }, 60s));
  EXPECT_EQ(client.ended(SendStatus::success) + client.ended(SendStatus::timeout), 400u);
  EXPECT_GT(client.ended(SendStatus::timeout), 0u);
  EXPECT_TRUE(client.each_once());
}
INSTANTIATE_TEST_SUITE_P(Percent, TrafficLoss, testing::Values(10u, 30u));

TEST_F(Traffic, GoesOnWhenQueuePairsFail) {
  Side client({.device = "rxe0"});
  client.ask();
  for (unsigned round = 0; round < 20; ++round) {
    client.send(to(client), 50, 64, {.timeout = 200ms, .retries = 20});
    // From another thread than the wire's own, as a device fails.
    ASSERT_TRUE((round % 2 == 0 ? client : server).wire().break_down());
  }
  ASSERT_TRUE(soon([&] { return client.ended() == 1000; }, 60s));
  EXPECT_EQ(client.ended(SendStatus::success), 1000u);
  EXPECT_TRUE(client.each_once());
  EXPECT_GE(client.counters->recoveries, 5u);
  EXPECT_GE(server.counters->recoveries, 5u);
}

TEST_F(Traffic, AnErrorOfTheWireIsTheSendsStatus) {
  Side client({.device = "rxe0"});
  client.ask();
  Address wrong = to(client);
  wrong.grh.reset();
  client.send(wrong, 1, 1, {.timeout = 100ms, .retries = 3});
  ASSERT_TRUE(soon([&] { return client.ended() == 1; }));
  EXPECT_EQ(client.ended(SendStatus::error), 1u);
  EXPECT_EQ(client.vendor(), static_cast<uint8_t>(VerbsFault::no_route));
}

TEST_F(Traffic, AgentsAreToldOfALinkThatGoesAndComesBack) {
  Side client({.device = "rxe0"});
  client.ask();
  shell("/usr/bin/ip link set va down");
  EXPECT_TRUE(soon([&] { return client.told(PortEvent::wire_lost); }));
  shell("/usr/bin/ip link set va up");
  EXPECT_TRUE(soon([&] { return client.told(PortEvent::wire_back); }));
  ASSERT_TRUE(soon([] { return std::system("/usr/bin/ip -6 addr show dev va | grep -q fe80::ff:fe00:1") == 0; }));
  std::this_thread::sleep_for(300ms);
  client.send(to(client), 50, 16, {.timeout = 500ms, .retries = 20});
  ASSERT_TRUE(soon([&] { return client.ended() == 50; }, 30s));
  EXPECT_EQ(client.ended(SendStatus::success), 50u);
}

TEST_F(Traffic, AgentsAreToldOfNewAddresses) {
  shell("/usr/bin/ip addr add fd00::99/64 dev vb nodad");
  EXPECT_TRUE(soon([&] { return server.told(PortEvent::address_changed); }));
  shell("/usr/bin/ip addr del fd00::99/64 dev vb");
}

TEST_F(Traffic, ADeviceRemovedInMidTrafficEndsEverySend) {
  auto client = std::make_unique<Side>(VerbsOptions{.device = "rxe0"});
  client->ask();
  const Address somewhere_else = [&] {
    Address a = to(*client);
    a.qpn = 0x123456;  // nobody: these stay outstanding
    return a;
  }();
  client->send(to(*client), 200, 64, {.timeout = 5s, .retries = 5});
  client->send(somewhere_else, 64, 1000, {.timeout = 60s});
  // The kernel's removal waits for the programs that use the device: ours must let go of it by itself.
  auto removal = std::async(std::launch::async, [] { return std::system("/usr/bin/rdma link del rxe0"); });
  EXPECT_TRUE(soon([&] { return client->told(PortEvent::device_removed); }));
  EXPECT_EQ(removal.wait_for(5s), std::future_status::ready);
  EXPECT_TRUE(soon([&] { return client->ended() == 264; }));
  EXPECT_TRUE(client->each_once());
  EXPECT_GE(client->ended(SendStatus::flushed), 64u);
  EXPECT_EQ(client->ended(SendStatus::timeout), 0u);
  client->close();  // returns
  client.reset();
  shell("/usr/bin/rdma link add rxe0 type rxe netdev va");
  std::this_thread::sleep_for(200ms);
  Side again({.device = "rxe0"});
  again.ask();
  again.send(to(again), 50, 16, {.timeout = 1s, .retries = 5});
  ASSERT_TRUE(soon([&] { return again.ended() == 50; }));
  EXPECT_EQ(again.ended(SendStatus::success), 50u);
}

TEST_F(Traffic, AServerThatIsRemovedLeavesTimeoutsNotSilence) {
  Side client({.device = "rxe0"});
  client.ask();
  client.send(to(client), 100, 32, {.timeout = 1s, .retries = 3});
  auto removal = std::async(std::launch::async, [] { return std::system("/usr/bin/rdma link del rxe1"); });
  client.send(to(client), 32, 1000, {.timeout = 100ms, .retries = 2});
  EXPECT_TRUE(soon([&] { return server.told(PortEvent::device_removed); }));
  EXPECT_EQ(removal.wait_for(5s), std::future_status::ready);
  EXPECT_TRUE(soon([&] { return client.ended() == 132; }));
  EXPECT_TRUE(client.each_once());
  server.close();
  shell("/usr/bin/rdma link add rxe1 type rxe netdev vb");
}

}  // namespace
}  // namespace tidemill::guest
