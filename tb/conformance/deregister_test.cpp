// SPDX-License-Identifier: Apache-2.0
/// Deregistration: nothing runs afterwards, everything has completed by then, and it always ends.
#include <atomic>

#include "fixture.hpp"

namespace tidemill::test {
namespace {

using Entry = Log::Entry;
class Deregister : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Devices, Deregister, ::testing::ValuesIn(devices()));

TEST_P(Deregister, ReturnsAfterTheLastCallback) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  EXPECT_EQ(agent.deregister(), Errc::ok);
  EXPECT_EQ(log.count(SendStatus::flushed), 100u);
  for (const auto& t : script_->take_transmitted()) script_->answer(t);
  settle();
  EXPECT_EQ(log.all().size(), 100u);
}

TEST_P(Deregister, Completes65536OutstandingSends) {
  std::atomic<uint64_t> flushed{0};
  Registration r;
  r.on_send = [&](const SendCompletion& c) { flushed += c.status == SendStatus::flushed; };
  r.queue_depth = 65536;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  uint64_t accepted = 0;
  for (;;) {
    const auto id = agent.send(to_peer(mad, 100s));
    if (id.ok()) {
      ++accepted;
      continue;
    }
    ASSERT_EQ(id.code(), Errc::would_block);
    break;
  }
  // With several banks the last slots of one may be missed by a TID search; all but a few are reached.
  EXPECT_GE(accepted, 65536u * 99 / 100);
  settle();
  EXPECT_EQ(agent.deregister(), Errc::ok);
  EXPECT_EQ(flushed, accepted);
}

TEST_P(Deregister, RefusesPostsFromItsStart) {
  Agent agent;
  std::atomic<int> refused{0}, completed{0};
  const Mad mad = request();
  Registration r;
  r.on_send = [&](const SendCompletion&) {
    ++completed;
    refused += agent.send(to_peer(mad, 1s)).code() == Errc::closing;
  };
  agent = register_agent(std::move(r));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  EXPECT_EQ(agent.deregister(), Errc::ok);
  EXPECT_EQ(completed, 10);
  EXPECT_EQ(refused, 10) << "a flush handler that posts again is refused";
}

TEST_P(Deregister, FromItsOwnCallbackIsRefusedNotAHang) {
  Agent agent;
  std::atomic<int> code{-1};
  Registration r;
  r.on_send = [&](const SendCompletion&) { code = static_cast<int>(agent.deregister()); };
  agent = register_agent(std::move(r));
  const Mad mad = request();
  ASSERT_TRUE(agent.send(to_peer(mad, 0ms)).ok());
  ASSERT_TRUE(settle_until([&] { return code != -1; }));
  EXPECT_EQ(static_cast<Errc>(code.load()), Errc::in_callback);
  EXPECT_EQ(agent.deregister(), Errc::ok);
}

TEST_P(Deregister, AsynchronouslyFromItsOwnCallback) {
  Agent agent;
  std::atomic<bool> done{false};
  Log log;
  Registration r = log.registration();
  r.on_receive = [&](const Received&) {
    EXPECT_EQ(agent.deregister_async([&] { done = true; }), Errc::ok);
  };
  agent = register_agent(std::move(r));
  const Mad mad = request();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 3; }));
  script_->answer(script_->take_transmitted()[0]);
  ASSERT_TRUE(settle_until([&] { return done.load(); }));
  EXPECT_EQ(log.count(SendStatus::success), 1u);
  EXPECT_EQ(log.count(SendStatus::flushed), 2u);
}

TEST_P(Deregister, EndsWhileTheWireIsDead) {
  Log log;
  Agent agent = register_agent(log.registration());
  script_->auto_sent = false;
  const Mad mad = request();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 128; }));
  script_->event(PortEvent::wire_lost);
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::event) == 1; }));
  EXPECT_EQ(agent.deregister(), Errc::ok);
  EXPECT_TRUE(script_->abandoned());
  EXPECT_EQ(log.count(SendStatus::flushed), 200u);
}

TEST_P(Deregister, GivesUpOnAWireThatNeverReports) {
  Log log;
  Agent agent = register_agent(log.registration());
  script_->auto_sent = false;
  const Mad mad = request();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 5; }));
  EXPECT_EQ(agent.deregister(), Errc::ok);
  EXPECT_TRUE(script_->abandoned());
  EXPECT_EQ(log.count(SendStatus::flushed), 5u);
}

TEST_P(Deregister, OfOneAgentLeavesTheOthersAlone) {
  Log log, other_log;
  Agent agent = register_agent(log.registration()), other = register_agent(other_log.registration());
  const Mad mad = request();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
    ASSERT_TRUE(other.send(to_peer(mad, 10s)).ok());
  }
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 40; }));
  EXPECT_EQ(agent.deregister(), Errc::ok);
  for (const auto& t : script_->take_transmitted()) script_->answer(t);
  ASSERT_TRUE(settle_until([&] { return other_log.count(SendStatus::success) == 20; }));
  EXPECT_EQ(log.count(SendStatus::flushed), 20u);
  // Banks report in no order among each other: what is dropped may be told after the last answer.
  EXPECT_TRUE(settle_until([&] { return port_.stats().dropped[static_cast<unsigned>(DropCause::stale)] >= 20; }));
  EXPECT_EQ(port_.stats().dropped[static_cast<unsigned>(DropCause::stale)], 20u);
}

TEST_P(Deregister, DroppingTheHandleDoesIt) {
  Log log;
  const Mad mad = request();
  {
    Agent agent = register_agent(log.registration());
    ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  }
  EXPECT_EQ(log.count(SendStatus::flushed), 1u);
}

TEST_P(Deregister, WhileTrafficRuns) {
  script_->auto_answer = true;
  for (int round = 0; round < 20; ++round) {
    std::atomic<uint64_t> ended{0};
    uint64_t accepted = 0;
    const Mad mad = request();
    Registration r;
    r.on_send = [&](const SendCompletion&) { ++ended; };
    Agent agent = register_agent(std::move(r));
    for (int i = 0; i < 200; ++i) accepted += agent.send(to_peer(mad, 1s, 1)).ok();
    if (round % 2 == 0) settle();
    EXPECT_EQ(agent.deregister(), Errc::ok);
    EXPECT_EQ(ended, accepted);
  }
}

TEST_P(Deregister, TwiceOrOfAnEmptyHandleIsRefused) {
  Log log;
  Agent agent = register_agent(log.registration());
  EXPECT_EQ(agent.deregister(), Errc::ok);
  EXPECT_EQ(agent.deregister(), Errc::not_registered);
  Agent none;
  EXPECT_EQ(none.deregister(), Errc::not_registered);
  EXPECT_EQ(none.cancel({}), Errc::not_registered);
  const Mad mad = request();
  EXPECT_EQ(none.send(to_peer(mad)).code(), Errc::not_registered);
}

TEST_P(Deregister, AnIdIsNotGivenAgainAtOnce) {
  Log log;
  std::vector<uint32_t> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(register_agent(log.registration()).id());
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace
}  // namespace tidemill::test
