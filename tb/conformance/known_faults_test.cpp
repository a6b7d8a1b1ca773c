// SPDX-License-Identifier: Apache-2.0
/// Faults that other MAD layers have had, as scenarios: each test is named after what must hold. Those of RMPP, of the
/// drop-in library and of single calls stand with their subject; docs/conformance.md lists them all.
#include <map>

#include "fixture.hpp"
#include "fmt/format.h"

namespace tidemill::test {
namespace {

using Entry = Log::Entry;
class KnownFaults : public Conformance {
 protected:
  static bool simulated() { return !GetParam().uri.starts_with("soft:"); }
  uint64_t dropped(DropCause cause) const { return port_.stats().dropped[static_cast<unsigned>(cause)]; }
};
INSTANTIATE_TEST_SUITE_P(Devices, KnownFaults, ::testing::ValuesIn(devices()));
class KnownFaultsOnVirtualTime : public KnownFaults {};
INSTANTIATE_TEST_SUITE_P(Devices, KnownFaultsOnVirtualTime, ::testing::ValuesIn(devices(Progress::poll)));

TEST_P(KnownFaults, AReceiveCallbackMayFreeItsRequestAndSendAnother) {
  script_->auto_answer = true;
  Log log;
  Registration r = log.registration();
  auto first = std::make_unique<Mad>(request());
  Agent* poster = nullptr;
  r.on_receive = [&, note = std::move(r.on_receive)](const Received& m) {
    note(m);
    if (!first) return;
    first.reset();
    const auto second = std::make_unique<Mad>(request());
    EXPECT_TRUE(poster->send(to_peer(*second, 10s)).ok());
  };
  Agent agent = register_agent(std::move(r));
  poster = &agent;
  ASSERT_TRUE(agent.send(to_peer(*first, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 2; }));
  settle();
  EXPECT_EQ(log.count(Entry::received), 2u);
  EXPECT_EQ(log.count(Entry::completed), 2u);
}

TEST_P(KnownFaults, ThousandsOfEqualDeadlinesDoNotHoldUpAnotherAgent) {
  const unsigned many = simulated() ? 2'000 : 20'000;
  Log late, prompt;
  Registration r = late.registration();
  r.queue_depth = 32768;
  Agent silent = register_agent(std::move(r)), lively = register_agent(prompt.registration());
  const Mad mad = request();
  for (unsigned i = 0; i < many; ++i) ASSERT_TRUE(silent.send(to_peer(mad, 50ms)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == many; }));
  script_->take_transmitted();
  unsigned answered = 0;
  const bool all = settle_until([&] {
    for (const Transmitted& t : script_->take_transmitted()) script_->answer(t);
    if (prompt.count(SendStatus::success) == answered && lively.send(to_peer(mad, 1s)).ok()) ++answered;
    return late.count(SendStatus::timeout) == many;
  });
  EXPECT_TRUE(all) << late.count(SendStatus::timeout) << " of " << many;
  ASSERT_TRUE(settle_until([&] {
    for (const Transmitted& t : script_->take_transmitted()) script_->answer(t);
    return prompt.count(SendStatus::success) == answered;
  }));
  if (!polled()) return;  // a real clock has the machine's other work in it
  for (const Entry& e : prompt.all()) EXPECT_LT(e.elapsed, 5ms);
}

TEST_P(KnownFaults, ManyShortTimeoutsLeaveTheQueueToOthers) {
  // A hundred agents that try again and again at every tick, and one with a single request.
  const unsigned many = simulated() ? 20 : 100;
  Log impatient, patient;
  std::vector<Agent> agents;
  const Mad mad = request();
  for (unsigned i = 0; i < many; ++i) {
    agents.push_back(register_agent(impatient.registration()));
    ASSERT_TRUE(agents.back().send(to_peer(mad, 1us, kMaxRetries)).ok());
  }
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() > 3 * many; }));
  Agent agent = register_agent(patient.registration());
  const Mad other = request(mad_method::set);
  script_->take_transmitted();
  ASSERT_TRUE(agent.send(to_peer(other, 10s)).ok());
  unsigned ahead = 0;
  bool left = false;
  ASSERT_TRUE(settle_until([&] {
    for (const Transmitted& t : script_->take_transmitted()) {
      if (t.mad.view().method() == mad_method::set) {
        script_->answer(t);
        left = true;
      }
      ahead += !left;
    }
    return patient.count(SendStatus::success) == 1;
  }));
  // Each of the others may be granted once before it. A thread of the device's own may have done more before the post.
  if (polled()) {
    EXPECT_LE(ahead, many);
  }
  if (simulated()) return;  // 255 tries each are too many for a simulation
  ASSERT_TRUE(settle_until([&] { return impatient.count(SendStatus::timeout) == many; }));
}

TEST_P(KnownFaults, ASendStillInItsLaneIsNotMatched) {
  Log log;
  Registration r = log.registration();
  r.window = 1;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  SendRequest second = to_peer(mad, 10s);
  second.tid = 0x5ec0d;
  ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ASSERT_TRUE(agent.send(second).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  const Transmitted first = script_->take_transmitted().front();
  Mad guess = make_response(first.mad.view());
  guess.tid(uint64_t{agent.id()} << 32 | 0x5ec0d);
  script_->arrive(guess, first.to);
  ASSERT_TRUE(settle_until([&] { return port_.stats().dropped_total() == 1; }));
  EXPECT_EQ(dropped(DropCause::stale) + dropped(DropCause::never_sent), 1u);
  EXPECT_EQ(log.count(Entry::received), 0u);
  // The guess has cost it nothing.
  script_->answer(first);
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 2; }));
  script_->answer(script_->take_transmitted().front());
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 2; }));
}

TEST_P(KnownFaults, AFailedRetryIsAnErrorAndNotATimeout) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  ASSERT_TRUE(agent.send(to_peer(mad, 20ms, 5)).ok());
  script_->auto_sent = false;
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  script_->report(script_->take_transmitted().front().token, WireStatus::sent);
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 2; }));
  script_->report(script_->take_transmitted().front().token, WireStatus::error, 17);
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
  const Entry end = log.all().back();
  EXPECT_EQ(end.status, SendStatus::error);
  EXPECT_EQ(end.vendor, 17);
  EXPECT_EQ(end.tries, 2u);
}

TEST_P(KnownFaults, AReportTwiceOrOfNoTryIsPassedOver) {
  open({.send_depth = {1, 1}});
  Log log;
  Agent agent = register_agent(log.registration());
  script_->auto_sent = false;
  const Mad mad = request();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  const Transmitted first = script_->take_transmitted().front();
  for (const uint64_t token : {first.token, first.token, first.token ^ 0xffff0000u, uint64_t{0xffff}, ~uint64_t{0}})
    script_->report(token, WireStatus::sent);
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 2; }));
  settle();
  EXPECT_EQ(script_->transmitted_total(), 2u) << "a report that is none has opened the wire's queue";
  EXPECT_EQ(log.count(Entry::completed), 0u);
  script_->auto_sent = true;
  script_->report(script_->take_transmitted().front().token, WireStatus::sent);
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 3; }));
}

TEST_P(KnownFaults, DeregistrationDoesNotWaitForALongWait) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  const auto id = agent.send(to_peer(mad, 100ms));
  ASSERT_TRUE(id.ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 1; }));
  EXPECT_EQ(agent.modify(id.value(), 68s), Errc::ok);
  const auto before = clock_->now();
  EXPECT_EQ(agent.deregister(), Errc::ok);
  EXPECT_LT(clock_->now() - before, 10s);
  EXPECT_EQ(log.count(SendStatus::flushed), 1u);
}

TEST_P(KnownFaultsOnVirtualTime, AFailureAtItsDeadlineEndsASendOnce) {
  script_->auto_sent = false;
  for (const Nanoseconds late : {-1ms, 0ms, 1ms}) {
    Log log;
    Agent agent = register_agent(log.registration());
    const Mad mad = request();
    SendRequest r = to_peer(mad, 10s);
    r.pace.deadline = 20ms;
    const auto posted = clock_->now();
    ASSERT_TRUE(agent.send(r).ok());
    std::vector<Transmitted> sent;
    ASSERT_TRUE(settle_until([&] { return !(sent = script_->take_transmitted()).empty(); }));
    clock_->advance_to(posted + 20ms + late);
    script_->report(sent.front().token, WireStatus::error, 17);
    ASSERT_TRUE(settle_until([&] { return log.count(Entry::completed) == 1; }));
    settle();
    EXPECT_EQ(log.count(Entry::completed), 1u);
    EXPECT_EQ(log.count(SendStatus::error) + log.count(SendStatus::deadline), 1u);
  }
}

TEST_P(KnownFaultsOnVirtualTime, ATraceChangesNothing) {
  std::vector<std::string> runs[2];
  for (const bool traced : {false, true}) {
    open({}, {.trace = traced ? std::make_shared<Trace>() : nullptr});
    Log log;
    Agent agent = register_agent(log.registration());
    const Mad mad = request();
    for (unsigned i = 0; i < 40; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10ms, i % 3, i)).ok());
    std::map<uint64_t, unsigned> tries;
    ASSERT_TRUE(settle_until([&] {
      for (const Transmitted& t : script_->take_transmitted())
        if (const uint64_t tid = t.mad.view().tid(); ++tries[tid] == tid % 4) script_->answer(t);
      return log.count(Entry::completed) == 40;
    }));
    for (const Entry& e : log.all())
      runs[traced].push_back(fmt::format("{} kind {} status {} tries {}", e.context, static_cast<int>(e.kind),
                                         static_cast<int>(e.status), e.tries));
    // Banks tell in an order of their own.
    std::sort(runs[traced].begin(), runs[traced].end());
  }
  EXPECT_EQ(runs[0], runs[1]);
}

}  // namespace
}  // namespace tidemill::test
