// SPDX-License-Identifier: Apache-2.0
/// Sending, matching, timeouts: what a program sees of one send.
#include "fixture.hpp"

namespace tidemill::test {
namespace {

using Entry = Log::Entry;
class Send : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Devices, Send, ::testing::ValuesIn(devices()));
/// Exact times: only where the application polls on a virtual clock.
class SendOnVirtualTime : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Devices, SendOnVirtualTime, ::testing::ValuesIn(devices(Progress::poll)));

TEST_P(Send, DeliversTheResponseAndThenTheCompletion) {
  Log log;
  Agent agent = register_agent(log.registration());
  script_->auto_answer = true;
  const Mad mad = request();
  const auto id = agent.send(to_peer(mad, 200ms, 3, 42));
  ASSERT_TRUE(id.ok());
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  const auto entries = log.all();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].kind, Entry::received);
  EXPECT_TRUE(entries[0].matched);
  EXPECT_EQ(entries[0].id, id.value());
  EXPECT_EQ(entries[0].context, 42u);
  EXPECT_EQ(entries[1].kind, Entry::completed);
  EXPECT_EQ(entries[1].status, SendStatus::success);
  EXPECT_EQ(entries[1].context, 42u);
  EXPECT_EQ(entries[1].tries, 1u);
}

TEST_P(Send, PutsTheAgentIdInTheUpperHalfOfTheTid) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  SendRequest r = to_peer(mad, 0ms);
  r.tid = 0xcafe;
  ASSERT_TRUE(agent.send(r).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  EXPECT_EQ(script_->take_transmitted()[0].mad.view().tid(), uint64_t{agent.id()} << 32 | 0xcafe);
  EXPECT_EQ(mad.view().tid(), 0u) << "the caller's bytes are his";
}

TEST_P(Send, ChoosesATidThatNoLiveSendOfTheCallerHas) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  constexpr uint32_t kEach = 60;
  for (uint32_t tid = 1; tid <= kEach; ++tid) {
    SendRequest r = to_peer(mad, 10s);
    r.tid = tid;
    ASSERT_TRUE(agent.send(r).ok());
  }
  for (uint32_t i = 0; i < kEach; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 2 * kEach; })) << log.count(SendStatus::duplicate);
  EXPECT_EQ(log.count(Entry::completed), 0u);
  for (const Transmitted& t : script_->take_transmitted()) script_->answer(t);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 2 * kEach; }));
  // What has ended may be chosen again.
  ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
}

TEST_P(Send, KeepsThePeersTidInAResponse) {
  Log log;
  Agent agent = register_agent(log.registration());
  Mad mad = request(mad_method::get_resp);
  mad.tid(0x1122334455667788);
  ASSERT_TRUE(agent.send(to_peer(mad, 0ms)).ok());
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 1; }));
  EXPECT_EQ(script_->take_transmitted()[0].mad.view().tid(), 0x1122334455667788u);
}

TEST_P(Send, TriesAgainAndTimesOut) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  ASSERT_TRUE(agent.send(to_peer(mad, 2ms, 2)).ok());
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  const auto entries = log.all();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].status, SendStatus::timeout);
  EXPECT_EQ(entries[0].tries, 3u);
  EXPECT_GE(entries[0].elapsed, 6ms);
  const auto tries = script_->take_transmitted();
  ASSERT_EQ(tries.size(), 3u);
  for (const auto& t : tries) EXPECT_EQ(0, std::memcmp(t.mad.bytes().data(), tries[0].mad.bytes().data(), kMadBytes));
}

TEST_P(SendOnVirtualTime, BacksOffExponentiallyUpToItsCap) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  SendRequest r = to_peer(mad, 1ms, 4);
  r.pace.backoff_cap = 4ms;
  ASSERT_TRUE(agent.send(r).ok());
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  // 1 + 2 + 4 + 4 + 4 ms; each try late by two ticks and a step of the clock at most.
  EXPECT_GE(log.all()[0].elapsed, 15ms);
  EXPECT_LE(log.all()[0].elapsed, 15ms + 5 * 5us);
}

TEST_P(Send, AnErrorOfTheWireCompletesItAtOnce) {
  Log log;
  Agent agent = register_agent(log.registration());
  script_->auto_sent = false;
  const Mad mad = request();
  ASSERT_TRUE(agent.send(to_peer(mad, 200ms, 3)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  script_->report(script_->take_transmitted()[0].token, WireStatus::error, 0x2a);
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  EXPECT_EQ(log.all()[0].status, SendStatus::error);
  EXPECT_EQ(log.all()[0].vendor, 0x2a);
  EXPECT_EQ(script_->transmitted_total(), 1u);
}

TEST_P(Send, AFlushedTryIsSentOnceMorePerRecovery) {
  Log log;
  Agent agent = register_agent(log.registration());
  script_->auto_sent = false;
  const Mad mad = request();
  ASSERT_TRUE(agent.send(to_peer(mad, 500ms)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  script_->report(script_->take_transmitted()[0].token, WireStatus::flushed, 0, 1);
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 2; }));
  EXPECT_EQ(log.count(Entry::completed), 0u);
  script_->report(script_->take_transmitted()[0].token, WireStatus::flushed, 0, 1);
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  EXPECT_EQ(log.all()[0].status, SendStatus::flushed);
  EXPECT_EQ(script_->transmitted_total(), 2u);
}

TEST_P(Send, ASecondSendWithALiveTidIsADuplicate) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  SendRequest r = to_peer(mad);
  r.tid = 5;
  ASSERT_TRUE(agent.send(r).ok());
  ASSERT_TRUE(agent.send(r).ok());
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::duplicate) == 1; }));
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  script_->answer(script_->take_transmitted()[0]);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 1; }));
}

TEST_P(Send, RefusesWhatCannotBeSentAndCompletesNone) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request(), response = request(mad_method::get_resp);
  SendRequest r = to_peer(mad);
  r.mad = r.mad.first(23);
  EXPECT_EQ(agent.send(r).code(), Errc::bad_length);
  r = to_peer(mad, -1ms);
  EXPECT_EQ(agent.send(r).code(), Errc::bad_time);
  r = to_peer(mad, std::chrono::hours(24));
  EXPECT_EQ(agent.send(r).code(), Errc::bad_time);
  EXPECT_EQ(agent.send(to_peer(mad, 1ms, kMaxRetries + 1)).code(), Errc::bad_time);
  EXPECT_EQ(agent.send(to_peer(response, 1ms)).code(), Errc::response_expects);
  settle();
  EXPECT_TRUE(log.all().empty());
  EXPECT_EQ(script_->transmitted_total(), 0u);
  EXPECT_EQ(agent.stats().accepted, 0u);
  EXPECT_EQ(agent.stats().refused, 5u);
}

TEST_P(Send, ABatchNamesTheFirstRefused) {
  Log log;
  Agent agent = register_agent(log.registration());
  script_->auto_answer = true;
  const Mad mad = request();
  std::vector<SendRequest> batch(5, to_peer(mad));
  batch[3].mad = batch[3].mad.first(10);
  std::vector<SendId> ids(5);
  const BatchResult r = agent.send(batch, ids);
  EXPECT_EQ(r.accepted, 3u);
  EXPECT_EQ(r.refused, Errc::bad_length);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 3; }));
}

}  // namespace
}  // namespace tidemill::test
