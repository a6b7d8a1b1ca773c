// SPDX-License-Identifier: Apache-2.0
// The wire contract as the simulated fabric keeps it: links, back-pressure, time, threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <deque>
#include <functional>
#include <set>
#include <thread>

#include "allocation_count.hpp"
#include "fabric_fixture.hpp"

namespace tidemill::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr FabricFaults kTimeless{.delay = Nanoseconds(0), .delay_jitter = Nanoseconds(0)};

class FabricWireTest : public testing::Test {
 protected:
  std::shared_ptr<Clock> clock = virtual_clock();
  SimulatedFabric fabric = SimulatedFabric::create({.nodes = 4, .clock = clock}).value();
  Station a{fabric, clock, 0}, b{fabric, clock, 1, false};

  Mad request(uint64_t tid) { return echo(tid); }
};

bool readable(int fd) {
  pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&p, 1, 0) == 1;
}

// ---------------------------------------------------------------- links

TEST_F(FabricWireTest, BreakingAndMendingALinkIsReportedOnceEach) {
  a.poll();
  EXPECT_THAT(a.sink.events, IsEmpty());
  fabric.set_link(0, false);
  fabric.set_link(0, false);
  a.poll();
  a.poll();
  EXPECT_THAT(a.sink.events, ElementsAre(PortEvent::wire_lost));
  fabric.set_link(0, true);
  a.poll();
  a.poll();
  EXPECT_THAT(a.sink.events, ElementsAre(PortEvent::wire_lost, PortEvent::wire_back));
  b.poll();
  EXPECT_THAT(b.sink.events, IsEmpty()) << "it is not its link";
}

TEST_F(FabricWireTest, ABreakBetweenTwoPollsIsReportedWhole) {
  a.poll();
  for (int i = 0; i < 3; ++i) {
    fabric.set_link(0, false);
    fabric.set_link(0, true);
  }
  a.poll();
  EXPECT_THAT(a.sink.events, ElementsAre(PortEvent::wire_lost, PortEvent::wire_back));
  fabric.set_link(0, false);
  a.poll();
  fabric.set_link(0, true);
  fabric.set_link(0, false);
  a.poll();
  EXPECT_THAT(a.sink.events, ElementsAre(PortEvent::wire_lost, PortEvent::wire_back, PortEvent::wire_lost,
                                         PortEvent::wire_back, PortEvent::wire_lost));
}

TEST_F(FabricWireTest, WhatIsSentIntoABrokenLinkLeavesAndIsLost) {
  fabric.set_link(0, false);
  a.send(request(1), gsi(3), Qp::gsi);
  a.run();
  EXPECT_EQ(a.sink.count(WireStatus::sent), 1u);
  EXPECT_THAT(a.sink.got, IsEmpty());
  EXPECT_EQ(fabric.counters().lost, 1u);
  fabric.set_link(0, true);
  EXPECT_TRUE(a.ask(request(2), gsi(3), Qp::gsi));
}

TEST_F(FabricWireTest, ABreakLosesWhatIsOnTheLinkEvenIfMendedInTime) {
  a.send(request(1), gsi(3), Qp::gsi);
  fabric.set_link(0, false);
  fabric.set_link(0, true);
  a.run();
  EXPECT_THAT(a.sink.got, IsEmpty());
  a.send(request(2), gsi(3), Qp::gsi);
  fabric.set_link(2, false);  // the other side
  fabric.set_link(2, true);
  a.run();
  EXPECT_THAT(a.sink.got, IsEmpty());
  EXPECT_EQ(fabric.counters().lost, 2u);
  EXPECT_TRUE(a.ask(request(3), gsi(3), Qp::gsi));
}

TEST_F(FabricWireTest, NodesBehindABrokenLinkAreSilent) {
  fabric.set_link(2, false);
  EXPECT_FALSE(a.ask(request(1), gsi(3), Qp::gsi));
  EXPECT_FALSE(a.ask(directed(0x0011, {1, 3}), smi(kPermissiveLid), Qp::smi));
  EXPECT_TRUE(a.ask(request(1), gsi(4), Qp::gsi));
  EXPECT_EQ(fabric.counters().lost, 2u);
}

TEST_F(FabricWireTest, ARemovedDeviceFlushesEveryTryWithoutRecovery) {
  a.poll();
  a.send(request(1), gsi(3), Qp::gsi);
  fabric.remove(0);
  fabric.remove(0);
  a.send(request(2), gsi(3), Qp::gsi);
  a.run();
  EXPECT_THAT(a.sink.events, ElementsAre(PortEvent::device_removed));
  ASSERT_EQ(a.sink.reports.size(), 2u);
  EXPECT_EQ(a.sink.reports[0].status, WireStatus::sent) << "it had left";
  EXPECT_EQ(a.sink.reports[1].status, WireStatus::flushed);
  EXPECT_EQ(a.sink.reports[1].recovery, 0);
  EXPECT_THAT(a.sink.got, IsEmpty());
  fabric.set_link(0, true);
  a.poll();
  EXPECT_THAT(a.sink.events, ElementsAre(PortEvent::device_removed)) << "for good";
}

TEST_F(FabricWireTest, AWireLearnsTheStateOfItsLinkWhenAttached) {
  fabric.set_link(2, false);
  Station late(fabric, clock, 2);
  late.poll();
  EXPECT_THAT(late.sink.events, ElementsAre(PortEvent::wire_lost));
  fabric.set_link(3, false);
  fabric.set_link(3, true);
  Station later(fabric, clock, 3);
  later.poll();
  EXPECT_THAT(later.sink.events, IsEmpty()) << "what was before does not concern it";
}

TEST_F(FabricWireTest, AWireAttachedAgainStartsFresh) {
  auto last = std::make_unique<Station>(fabric, clock, 2, false);
  a.send(request(1), gsi(3), Qp::gsi);
  last->send(request(2), gsi(4), Qp::gsi);
  last.reset();
  Station next(fabric, clock, 2, false);
  next.run();
  EXPECT_THAT(next.sink.got, IsEmpty());
  EXPECT_THAT(next.sink.reports, IsEmpty());
  EXPECT_EQ(fabric.counters().lost, 2u) << "what was under way to the wire before";
}

// ---------------------------------------------------------------- back-pressure

TEST_F(FabricWireTest, AMadWithoutABufferWaitsForTheNextPoll) {
  a.sink.buffers[1] = 0;
  for (uint64_t tid = 1; tid <= 5; ++tid) a.send(request(tid), gsi(3), Qp::gsi);
  clock->advance_to(Nanoseconds(1'000'000));
  a.poll();
  a.poll();
  EXPECT_THAT(a.sink.got, IsEmpty());
  EXPECT_LE(a.wire().next_event(), clock->now()) << "it is due";
  a.sink.buffers[1] = 2;
  a.poll();
  EXPECT_EQ(a.sink.got.size(), 2u);
  a.sink.buffers[1] = 9;
  a.poll();
  EXPECT_EQ(a.sink.got.size(), 5u);
  EXPECT_EQ(fabric.counters().overrun, 0u);
  std::set<uint64_t> tids;
  for (const auto& got : a.sink.got) tids.insert(got.mad.view().tid());
  EXPECT_EQ(tids.size(), 5u);
}

TEST_F(FabricWireTest, OneQueuePairWithoutBuffersDoesNotHoldUpTheOther) {
  a.sink.buffers[1] = 0;
  a.send(request(1), gsi(3), Qp::gsi);
  a.send(directed(0x0011, {1}), smi(kPermissiveLid), Qp::smi);
  clock->advance_to(Nanoseconds(1'000'000));
  a.poll();
  ASSERT_EQ(a.sink.got.size(), 1u);
  EXPECT_EQ(a.sink.got[0].qp, Qp::smi);
}

TEST_F(FabricWireTest, WhatWaitsForBuffersIsBoundedAndTheRestCounted) {
  fabric.set_faults(kTimeless);
  a.sink.buffers[1] = 0;
  constexpr uint64_t kLimit = 1 << 17, kMore = 1000;
  const Mad mad = request(1);
  for (uint64_t i = 0; i < kLimit + kMore; ++i) {
    a.wire().transmit({.token = i, .to = gsi(3), .mad = mad.bytes()});
    if (i % 128 == 0) a.poll();
  }
  a.poll();
  EXPECT_GE(fabric.counters().overrun, kMore - 1);
  EXPECT_LE(fabric.counters().overrun, kMore);
  a.sink.buffers[1] = ~std::size_t{0};
  a.sink.got.reserve(kLimit + 1);
  a.poll();
  EXPECT_EQ(a.sink.got.size() + fabric.counters().overrun, kLimit + kMore);
}

/// Sends again from inside the wire's calls.
struct Reentrant final : WireSink {
  explicit Reentrant(std::function<void()> next) : again(std::move(next)) {}
  void sent(uint64_t token, WireStatus, uint8_t, uint8_t) override {
    reported = token;
    again();
  }
  bool received(const WireReceived& r) override {
    const uint64_t tid = MadView(r.mad.first<kMadBytes>()).tid();
    EXPECT_LE(tid, reported) << "no response before its try is reported";
    ++responses;
    again();
    return true;
  }
  void event(PortEvent) override {}
  std::function<void()> again;
  uint64_t reported = 0, responses = 0;
};

TEST_F(FabricWireTest, TransmittingFromTheSinkIsLeftToTheNextPoll) {
  fabric.set_faults(kTimeless);
  uint64_t tid = 0;
  std::deque<Mad> mads;
  Reentrant sink([&] {
    if (tid >= 1000) return;
    mads.push_back(request(++tid));
    a.wire().transmit({.token = tid, .to = gsi(3), .mad = mads.back().bytes()});
  });
  sink.again();
  int polls = 0;
  while (sink.responses < 1000 && ++polls < 5000) a.wire().poll(sink);
  EXPECT_EQ(sink.responses, 1000u);
  EXPECT_GT(polls, 5) << "a poll ends although every report brings a new try";
}

// ---------------------------------------------------------------- memory

TEST_F(FabricWireTest, AllocatesNothingInSteadyState) {
  struct Counting final : WireSink {
    void sent(uint64_t, WireStatus, uint8_t, uint8_t) override {}
    bool received(const WireReceived&) override { return ++responses != 0; }
    void event(PortEvent) override {}
    uint64_t responses = 0;
  } sink;
  const Mad echoed = request(1);
  const Mad query = Mad::make(mad_class::perf, 1, mad_method::get, 0x0012).put8(65, 1);
  const auto traffic = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      for (uint64_t k = 0; k < 100; ++k) {
        a.wire().transmit({.token = k, .to = gsi(3), .mad = echoed.bytes()});
        a.wire().transmit({.token = k, .to = gsi(3), .mad = query.bytes()});
        a.wire().transmit({.token = k, .to = gsi(b.lid()), .mad = echoed.bytes()});  // one way only
      }
      clock->advance_to(clock->now() + Nanoseconds(700));
      a.wire().poll(sink);
      b.wire().poll(sink);
    }
  };
  FabricFaults busy{.duplication = 0.1, .reordering = 0.1, .stale = 0.1, .forged = 0.1, .send_error = 0.1};
  for (const FabricFaults& faults : {kTimeless, FabricFaults{}, busy}) {
    fabric.set_faults(faults);
    traffic(200);
    const uint64_t before = allocations();
    traffic(200);
    EXPECT_EQ(allocations(), before);
  }
  EXPECT_GT(sink.responses, 0u);
}

// ---------------------------------------------------------------- time and threads

TEST_F(FabricWireTest, NextEventSaysWhenThereIsSomethingToDo) {
  a.poll();
  EXPECT_EQ(a.wire().next_event(), std::nullopt);
  fabric.set_faults({.delay = Nanoseconds(500), .delay_jitter = Nanoseconds(0)});
  a.send(request(1), gsi(b.lid()), Qp::gsi);
  EXPECT_EQ(a.wire().next_event(), clock->now()) << "the report";
  a.poll();
  EXPECT_EQ(a.wire().next_event(), std::nullopt) << "whether an answer comes, only the other side knows";
  EXPECT_EQ(b.wire().next_event(), clock->now()) << "something has come in";
  b.poll();
  EXPECT_THAT(b.sink.got, IsEmpty());
  EXPECT_EQ(b.wire().next_event(), Nanoseconds(500));
  b.run();
  EXPECT_EQ(b.sink.got.size(), 1u);
}

TEST_F(FabricWireTest, EventDescriptorTellsWhatOthersHaveDone) {
  b.poll();
  const int fd = b.wire().event_fd();
  EXPECT_FALSE(readable(fd));
  a.send(request(1), gsi(b.lid()), Qp::gsi);
  EXPECT_TRUE(readable(fd));
  b.poll();
  EXPECT_FALSE(readable(fd));
  fabric.set_link(1, false);
  EXPECT_TRUE(readable(fd));
  b.poll();
  EXPECT_FALSE(readable(fd));
}

TEST_F(FabricWireTest, RunsInRealTimeToo) {
  auto real = SimulatedFabric::create({.nodes = 2}).value();
  Station station(real, std::make_shared<SteadyClock>(), 0);
  station.send(request(1), gsi(2), Qp::gsi);
  while (station.sink.got.empty()) station.poll();
  EXPECT_EQ(station.sink.got[0].mad.view().tid(), 1u);
}

/// Answers every request until told to stop.
class Server {
 public:
  explicit Server(Wire& wire) : thread_([this, &wire] {
    Sink sink;
    std::deque<Mad> answers;
    while (!stop_.load()) {
      wire.poll(sink);
      for (const auto& got : sink.got) {
        answers.push_back(make_response(got.mad.view()));
        wire.transmit({.token = 0, .qp = got.qp, .to = got.from, .mad = answers.back().bytes()});
      }
      sink.got.clear();
      sink.reports.clear();
      while (answers.size() > 4096) answers.pop_front();
    }
  }) {}
  ~Server() {
    stop_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(FabricThreads, TwoThreadsExchangeMadsOverTwoWires) {
  auto fabric = SimulatedFabric::create({.nodes = 4, .faults = kTimeless}).value();
  const auto client = std::move(fabric.attach(0)).value();
  const auto served = std::move(fabric.attach(1, false)).value();
  constexpr uint64_t kExchanges = 20'000;
  const Server server(*served);
  Sink sink;
  uint64_t posted = 0, answered = 0;
  const Mad mad = echo(1);
  while (answered < kExchanges) {
    for (; posted < kExchanges && posted < answered + 64; ++posted) {
      client->transmit({.token = posted, .to = gsi(fabric.lid(1)), .mad = mad.bytes()});
    }
    client->poll(sink);
    answered += sink.got.size();
    sink.got.clear();
    sink.reports.clear();
    std::this_thread::yield();
  }
  EXPECT_EQ(answered, kExchanges);
  EXPECT_EQ(fabric.counters().lost + fabric.counters().overrun + fabric.counters().unroutable, 0u);
}

TEST(FabricThreads, AnyThreadMayBreakLinksSetFaultsAndReadCounters) {
  auto fabric = SimulatedFabric::create({.nodes = 4}).value();
  const auto client = std::move(fabric.attach(0)).value();
  const auto served = std::move(fabric.attach(1, false)).value();
  std::atomic<bool> stop{false};
  uint64_t reported = 0, posted = 0;
  {
    const Server server(*served);
    std::thread busy([&] {
      Sink sink;
      const Mad mad = echo(1);
      while (!stop.load()) {
        for (int i = 0; i < 16; ++i, ++posted) {
          client->transmit({.token = posted, .to = gsi(static_cast<uint16_t>(2 + posted % 3)), .mad = mad.bytes()});
        }
        client->poll(sink);
        reported += sink.reports.size();
        sink = Sink();
      }
    });
    for (unsigned i = 0; i < 300; ++i) {
      fabric.set_link(i % 3, i % 2 == 0);
      fabric.set_faults({.loss = 0.1, .duplication = 0.1, .stale = 0.1, .delay = Nanoseconds(i)});
      const FabricCounters c = fabric.counters();
      EXPECT_LE(c.lost, c.sent + c.duplicated + c.stale);
      std::this_thread::yield();
    }
    fabric.remove(1);
    stop.store(true);
    busy.join();
  }
  EXPECT_EQ(reported, posted);
}

}  // namespace
}  // namespace tidemill::test
