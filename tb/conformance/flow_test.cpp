// SPDX-License-Identifier: Apache-2.0
/// Windows, full queues, fairness, and the blocking and awaitable forms.
#include <coroutine>
#include <thread>

#include "fixture.hpp"

namespace tidemill::test {
namespace {

using Entry = Log::Entry;
class Flow : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Devices, Flow, ::testing::ValuesIn(devices()));
class Call : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Devices, Call, ::testing::ValuesIn(devices()));

TEST_P(Flow, TheWindowLimitsRequestsOnTheWire) {
  Log log;
  Registration r = log.registration();
  r.window = 3;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 3; }));
  settle();
  EXPECT_EQ(script_->transmitted_total(), 3u);
  for (std::size_t answered = 0; answered < 10;) {
    for (const auto& t : script_->take_transmitted()) {
      script_->answer(t);
      ++answered;
    }
    ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == answered; }));
    ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == std::min<std::size_t>(10, answered + 3); }));
    settle();
    EXPECT_EQ(script_->transmitted_total(), std::min<std::size_t>(10, answered + 3));
  }
}

TEST_P(Flow, RepliesAreNotBlockedByRequests) {
  Log log;
  Registration r = log.registration();
  r.window = 1;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request(), reply = request(mad_method::get_resp);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  ASSERT_TRUE(agent.send(to_peer(reply, 0ms)).ok());
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 1; }));
}

TEST_P(Flow, TheDefaultWindowIsTheKernels) {
  // Subnet administration: an eighth of a quarter of 512 receive buffers.
  Log log;
  Agent agent = register_agent(log.registration(MadFilter::get_and_set(mad_class::subn_adm, 2)));
  const Mad sa = request(mad_method::get, mad_class::subn_adm);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(agent.send(to_peer(sa, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 16; }));
  settle();
  EXPECT_EQ(script_->transmitted_total(), 16u);
  EXPECT_EQ(agent.set_window(20), Errc::ok);
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 20; }));
}

TEST_P(Flow, AFullLaneIsBackPressureAndNothingIsLost) {
  Log log;
  Registration r = log.registration();
  r.window = 1;
  r.queue_depth = 8;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  uint64_t accepted = 0;
  const auto fill = [&] {
    for (;;) {
      const auto id = agent.send(to_peer(mad, 10s));
      if (!id.ok()) {
        EXPECT_EQ(id.code(), Errc::would_block);
        return;
      }
      ++accepted;
    }
  };
  fill();
  // The first one goes to the wire, during the filling or after it.
  if (accepted < 9) {
    EXPECT_TRUE(agent.wait_for_room(5s));
    fill();
  }
  EXPECT_EQ(accepted, 9u) << "one on the wire, eight in the lane";
  EXPECT_FALSE(agent.wait_for_room(5ms));
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  script_->answer(script_->take_transmitted()[0]);
  EXPECT_TRUE(agent.wait_for_room(5s));
  EXPECT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ++accepted;
  EXPECT_EQ(agent.deregister(), Errc::ok);
  EXPECT_EQ(log.count(Entry::completed), accepted);
}

TEST_P(Flow, TheWiresDepthIsKept) {
  open({.send_depth = {4, 4}});
  script_->auto_sent = false;
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 0ms)).ok());
  std::size_t reported = 0;
  while (reported < 20) {
    ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == std::min<std::size_t>(20, reported + 4); }));
    settle();
    EXPECT_EQ(script_->transmitted_total(), std::min<std::size_t>(20, reported + 4));
    for (const auto& t : script_->take_transmitted()) {
      script_->report(t.token, WireStatus::sent);
      ++reported;
    }
  }
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 20; }));
}

TEST_P(Flow, WeightsShareTheWire) {
  open({.send_depth = {1, 1}});
  script_->auto_sent = false;
  Log log;
  Registration heavy = log.registration(), light = log.registration();
  heavy.weight = 3;
  light.weight = 1;
  Agent a = register_agent(std::move(heavy)), b = register_agent(std::move(light));
  const Mad mad = request();
  // The first send occupies the wire while both lanes fill.
  ASSERT_TRUE(a.send(to_peer(mad, 0ms)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(a.send(to_peer(mad, 0ms)).ok() && b.send(to_peer(mad, 0ms)).ok());
  settle();
  unsigned from_a = 0, from_b = 0;
  for (int i = 0; i < 41; ++i) {
    ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == static_cast<std::size_t>(i + 1); }));
    const Transmitted t = script_->take_transmitted()[0];
    if (i > 0) (static_cast<uint32_t>(t.mad.view().tid() >> 32) == a.id() ? from_a : from_b)++;
    if (i < 40) script_->report(t.token, WireStatus::sent);
    if (i == 40) script_->report(t.token, WireStatus::flushed);
  }
  // Where in its turn the first count falls depends on when a thread of its own saw the lanes: a turn either way.
  const unsigned turn = GetParam().progress == Progress::thread ? 3 : 0;
  EXPECT_NEAR(from_a, 30, turn);
  EXPECT_NEAR(from_b, 10, turn);
  script_->auto_sent = true;  // for the other half, which deregistration drains
}

TEST_P(Call, ReturnsTheResponse) {
  Registration r;
  r.calls_only = true;
  Agent agent = register_agent(std::move(r));
  script_->auto_answer = true;
  const Mad mad = request();
  auto response = agent.call(to_peer(mad, 1s));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->mad.view().method(), mad_method::get_resp);
  EXPECT_EQ(response->from.lid, 7);
  EXPECT_EQ(response->completion.status, SendStatus::success);
}

TEST_P(Call, TellsATimeout) {
  Registration r;
  r.calls_only = true;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  EXPECT_EQ(agent.call(to_peer(mad, 2ms, 1)).code(), Errc::timed_out);
  EXPECT_EQ(script_->transmitted_total(), 2u);
}

TEST_P(Call, FromACallbackIsRefused) {
  Agent agent;
  std::atomic<int> code{-1};
  const Mad mad = request();
  Registration r;
  r.on_send = [&](const SendCompletion&) { code = static_cast<int>(agent.call(to_peer(mad)).code()); };
  agent = register_agent(std::move(r));
  ASSERT_TRUE(agent.send(to_peer(mad, 0ms)).ok());
  ASSERT_TRUE(settle_until([&] { return code != -1; }));
  EXPECT_EQ(static_cast<Errc>(code.load()), Errc::in_callback);
}

/// A coroutine that runs by itself.
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Task chain(Agent& agent, const SendRequest& request, int steps, std::atomic<int>& done, std::atomic<int>& failed) {
  for (int i = 0; i < steps; ++i) {
    auto response = co_await agent.request(request);
    if (!response.ok()) {
      ++failed;
      co_return;
    }
  }
  ++done;
}

TEST_P(Call, CoroutinesFanOut) {
  Registration r;
  r.calls_only = true;
  Agent agent = register_agent(std::move(r));
  script_->auto_answer = true;
  const Mad mad = request();
  const SendRequest send = to_peer(mad, 1s);
  std::atomic<int> done{0}, failed{0};
  for (int i = 0; i < 32; ++i) chain(agent, send, 10, done, failed);
  ASSERT_TRUE(settle_until([&] { return done == 32; }));
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(agent.stats().completed_total(), 320u);
}

TEST_P(Call, DeregistrationEndsSuspendedRequests) {
  Registration r;
  r.calls_only = true;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  const SendRequest send = to_peer(mad, 10s);
  std::atomic<int> done{0}, failed{0};
  for (int i = 0; i < 5; ++i) chain(agent, send, 2, done, failed);
  EXPECT_EQ(agent.deregister(), Errc::ok);
  EXPECT_EQ(failed, 5);
}

TEST_P(Flow, ThreadsPostOnOneAgent) {
  Log log;
  std::atomic<uint64_t> ended{0};
  Registration r;
  r.on_send = [&](const SendCompletion&) { ++ended; };
  Agent agent = register_agent(std::move(r));
  script_->auto_answer = true;
  const Mad mad = request();
  std::atomic<uint64_t> accepted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) accepted += agent.send(to_peer(mad, 1s)).ok();
    });
  if (GetParam().progress == Progress::poll)
    for (int i = 0; i < 1000; ++i) device_->poll(16);
  for (auto& t : threads) t.join();
  ASSERT_TRUE(settle_until([&] { return ended == accepted; }));
}

}  // namespace
}  // namespace tidemill::test
