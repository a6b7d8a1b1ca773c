// SPDX-License-Identifier: Apache-2.0
/// Cancel and modify.
#include <atomic>

#include "fixture.hpp"

namespace tidemill::test {
namespace {

using Entry = Log::Entry;
class Cancel : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Devices, Cancel, ::testing::ValuesIn(devices()));
class Modify : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Devices, Modify, ::testing::ValuesIn(devices()));

TEST_P(Cancel, FlushesAWaitingSendAndItsLateResponseIsDropped) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  auto id = agent.send(to_peer(mad, 10s));
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  settle();
  EXPECT_EQ(agent.cancel(*id), Errc::ok);
  script_->answer(script_->take_transmitted()[0]);
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1 && port_.stats().dropped_total() == 1; }));
  EXPECT_EQ(log.all()[0].status, SendStatus::flushed);
  EXPECT_EQ(log.count(Entry::received), 0u);
}

TEST_P(Cancel, OfATryOnTheWireCompletesWhenTheWireReportsIt) {
  Log log;
  Agent agent = register_agent(log.registration());
  script_->auto_sent = false;
  const Mad mad = request();
  auto id = agent.send(to_peer(mad, 10s));
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  EXPECT_EQ(agent.cancel(*id), Errc::ok);
  settle();
  EXPECT_EQ(log.count(Entry::completed), 0u) << "its bytes are still the wire's";
  const auto tries = script_->take_transmitted();
  script_->answer(tries[0]);
  script_->report(tries[0].token, WireStatus::sent);
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  EXPECT_EQ(log.all()[0].status, SendStatus::flushed);
  EXPECT_EQ(port_.stats().matched, 0u);
}

TEST_P(Cancel, AfterTheResponseChangesNothing) {
  Log log;
  Agent agent = register_agent(log.registration());
  script_->auto_sent = false;
  const Mad mad = request();
  auto id = agent.send(to_peer(mad, 10s));
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  const auto tries = script_->take_transmitted();
  script_->answer(tries[0]);
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::received) == 1; }));
  EXPECT_EQ(agent.cancel(*id), Errc::not_outstanding) << "too late";
  script_->report(tries[0].token, WireStatus::sent);
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  EXPECT_EQ(log.all()[1].status, SendStatus::success);
}

TEST_P(Cancel, ReachesASendStillInItsLane) {
  Log log;
  Registration r = log.registration();
  r.window = 1;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  auto second = agent.send(to_peer(mad, 10s, 0, 2));
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  settle();
  ASSERT_EQ(script_->transmitted_total(), 1u) << "the window is 1";
  EXPECT_EQ(agent.cancel(*second), Errc::ok);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::flushed) == 1; }));
  EXPECT_EQ(log.all()[0].context, 2u);
  script_->answer(script_->take_transmitted()[0]);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 1; }));
  settle();
  EXPECT_EQ(script_->transmitted_total(), 1u) << "a cancelled send never leaves";
}

TEST_P(Cancel, OfAnEndedOrForeignSendIsRefused) {
  Log log;
  Agent agent = register_agent(log.registration()), other = register_agent(log.registration());
  script_->auto_answer = true;
  const Mad mad = request();
  auto id = agent.send(to_peer(mad));
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  EXPECT_EQ(agent.cancel(*id), Errc::not_outstanding);
  script_->auto_answer = false;
  id = agent.send(to_peer(mad, 10s));
  EXPECT_EQ(other.cancel(*id), Errc::not_outstanding);
  EXPECT_EQ(agent.cancel({65535, 9}), Errc::not_outstanding);
  EXPECT_EQ(agent.cancel(*id), Errc::ok);
}

TEST_P(Cancel, IsNotTooLateForWhatItsOwnCommandEnded) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  const unsigned many = GetParam().uri.starts_with("soft:") ? 3000 : 50;
  for (unsigned i = 0; i < many; ++i) {
    const auto id = agent.send(to_peer(mad, 10s));
    ASSERT_TRUE(id.ok()) << id.error().message;
    ASSERT_EQ(agent.cancel(id.value()), Errc::ok) << "of send " << i << ", which nobody answers";
    ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::flushed) == i + 1; }));
  }
}

TEST_P(Cancel, FromACallbackWorks) {
  Agent agent;
  std::vector<SendId> ids;
  Log log;
  Registration r = log.registration();
  r.on_receive = [&](const Received&) {
    EXPECT_EQ(agent.cancel(ids[1]), Errc::ok);
  };
  agent = register_agent(std::move(r));
  const Mad mad = request();
  for (int i = 0; i < 2; ++i) ids.push_back(agent.send(to_peer(mad, 10s)).value());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 2; }));
  script_->answer(script_->take_transmitted()[0]);
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 2; }));
  EXPECT_EQ(log.count(SendStatus::flushed), 1u);
}

TEST_P(Cancel, InTheSendsOwnReceiveCallbackComesTooLate) {
  Agent agent;
  Log log;
  Registration r = log.registration();
  Errc cancelled = Errc::ok;
  r.on_receive = [&](const Received& m) { cancelled = agent.cancel(*m.matched); };
  agent = register_agent(std::move(r));
  script_->auto_answer = true;
  const Mad mad = request();
  ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  EXPECT_EQ(cancelled, Errc::not_outstanding);
  EXPECT_EQ(log.count(SendStatus::success), 1u);
}

// I6, I7: the cancel and the response race, mostly to a draw.
TEST_P(Cancel, ThatReturnedOkIsFollowedByNoReceiveAndByAFlushedCompletion) {
  std::atomic<uint64_t> received{0}, flushed{0}, ended{0};
  Registration r;
  r.on_receive = [&](const Received&) { ++received; };
  r.on_send = [&](const SendCompletion& c) {
    flushed += c.status == SendStatus::flushed;
    ++ended;
  };
  Agent agent = register_agent(std::move(r));
  script_->auto_answer = true;
  const Mad mad = request();
  uint64_t cancelled = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    auto id = agent.send(to_peer(mad, 10s));
    ASSERT_TRUE(id.ok());
    // A little later every time, so that all of the send's life is hit.
    for (uint64_t spin = 0; spin < (i % 1000) * 60 && ended == i; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
    const bool in_time = agent.cancel(*id) == Errc::ok;
    const uint64_t received_before = received;
    cancelled += in_time;
    ASSERT_TRUE(settle_until([&] { return ended == i + 1; }));
    ASSERT_EQ(flushed, cancelled) << "send " << i << (in_time ? ": cancelled in time" : ": cancelled too late");
    ASSERT_TRUE(!in_time || received == received_before) << "send " << i;
  }
}

TEST_P(Modify, ProlongsTheRunningWaitOnly) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  auto id = agent.send(to_peer(mad, 20ms, 1));
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  EXPECT_EQ(agent.modify(*id, 100ms), Errc::ok);
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  EXPECT_EQ(log.all()[0].status, SendStatus::timeout);
  EXPECT_EQ(log.all()[0].tries, 2u);
  EXPECT_GE(log.all()[0].elapsed, 120ms);
  if (polled()) {
    EXPECT_LE(log.all()[0].elapsed, 122ms);  // a poll may let the time of sixteen steps of the wheel pass
  }
}

TEST_P(Modify, ToZeroCancels) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  auto id = agent.send(to_peer(mad, 10s));
  EXPECT_EQ(agent.modify(*id, 0ms), Errc::ok);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::flushed) == 1; }));
}

TEST_P(Modify, AppliesToASendStillInItsLane) {
  Log log;
  Registration r = log.registration();
  r.window = 1;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  auto second = agent.send(to_peer(mad, 10s, 0, 2));
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  EXPECT_EQ(agent.modify(*second, 5ms), Errc::ok);
  settle();
  script_->answer(script_->take_transmitted()[0]);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::timeout) == 1; }));
}

TEST_P(Cancel, ADeadlineCoversWaitingInTheLane) {
  Log log;
  Registration r = log.registration();
  r.window = 1;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  SendRequest late = to_peer(mad, 10s, 0, 2);
  late.pace.deadline = 5ms;
  ASSERT_TRUE(agent.send(late).ok());
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::deadline) == 1; }));
  EXPECT_EQ(script_->transmitted_total(), 1u);
  EXPECT_EQ(log.all()[0].context, 2u);
  EXPECT_EQ(log.all()[0].tries, 0u);
  EXPECT_GE(log.all()[0].elapsed, 5ms);
}

}  // namespace
}  // namespace tidemill::test
