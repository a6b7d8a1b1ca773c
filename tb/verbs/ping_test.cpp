// SPDX-License-Identifier: Apache-2.0
/// Both sides of `tidemill ping` over the simulated fabric; over queue pairs they run in the guest.
#include "ping/ping.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "ping/peer.hpp"

namespace tidemill::tool {
namespace {

using namespace std::chrono_literals;

PingResult ping_over_fabric(const FabricFaults& faults, const PingOptions& options) {
  auto fabric = SimulatedFabric::create({.nodes = 2, .faults = faults}).value();
  std::atomic<bool> stop_server{false}, stop{false};
  auto server_wire = fabric.attach(1).value();
  std::thread server([&] { EXPECT_TRUE(serve_pings(std::move(server_wire), 0ns, stop_server).ok()); });
  Address to;
  to.lid = fabric.lid(1);
  auto result = run_ping(fabric.attach(0).value(), to, options, stop);
  stop_server = true;
  server.join();
  EXPECT_TRUE(result.ok());
  return std::move(result).value();
}

TEST(Ping, EveryRequestIsAnsweredWithItsOwnBytes) {
  const PingOptions options{.count = 2000, .depth = 16, .timeout = 5s};
  const PingResult r = ping_over_fabric({}, options);
  EXPECT_TRUE(r.all_answered(options.count));
  EXPECT_EQ(r.latencies.size(), options.count);
  EXPECT_LE(r.percentile(0), r.percentile(50));
  EXPECT_LE(r.percentile(50), r.percentile(100));
}

TEST(Ping, LossIsCountedAndMadeGoodByRetries) {
  const PingOptions options{.count = 500, .depth = 64, .timeout = 50ms, .retries = 30};
  const PingResult r = ping_over_fabric({.loss = 0.1}, options);
  EXPECT_EQ(r.answered, options.count);
  EXPECT_GT(r.tries, options.count);
}

TEST(Ping, AnAnswerThatWasChangedIsWrong) {
  const PingResult r = ping_over_fabric({.corruption = 1}, {.count = 50, .timeout = 100ms, .retries = 0});
  EXPECT_FALSE(r.all_answered(50));
}

TEST(Peer, SurvivesItsLine) {
  const Peer peer{
      .gid = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1}, .lid = 7, .qpn = 0xffffff, .roce = true};
  EXPECT_EQ(peer_from(to_line(peer)), peer);
}

TEST(Peer, RefusesEveryOtherLine) {
  for (const char* line :
       {"", "HTTP/1.1 400", "tidemill-ping", "tidemill-ping gid=fe80::1 lid=1 qpn=17",
        "tidemill-ping gid=fe80::1 lid=1 qpn=x roce=1", "tidemill-ping gid=fe80::1 lid=70000 qpn=1 roce=1",
        "tidemill-ping gid=1.2.3.4 lid=1 qpn=1 roce=1"})
    EXPECT_FALSE(peer_from(line)) << line;
}

TEST(Peer, IsToldToEveryoneWhoConnects) {
  const Peer self{.lid = 3, .qpn = 17};
  auto teller = PeerTeller::start(self, 28580);
  if (!teller) GTEST_SKIP() << teller.error().message;
  for (int i = 0; i < 3; ++i) {
    auto peer = ask_peer("localhost", 28580);
    ASSERT_TRUE(peer) << peer.error().message;
    EXPECT_EQ(*peer, self);
  }
}

TEST(Peer, NobodyThereIsSaidWithTheWayOut) {
  const auto peer = ask_peer("localhost", 28581);
  ASSERT_FALSE(peer);
  EXPECT_NE(peer.error().message.find("tidemill ping --server"), std::string::npos);
}

}  // namespace
}  // namespace tidemill::tool
