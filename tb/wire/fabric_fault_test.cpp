// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <string>
#include <tuple>

#include "fabric_fixture.hpp"

namespace tidemill::test {
namespace {

constexpr uint64_t kRequests = 1000, kBatch = 10;

/// A thousand echo requests through faults, ten at a time.
struct Exchange {
  explicit Exchange(const FabricFaults& faults, uint64_t seed = 1)
      : clock(virtual_clock()),
        fabric(SimulatedFabric::create({.nodes = 8, .seed = seed, .faults = faults, .clock = clock}).value()),
        station(fabric, clock, 0) {
    for (uint64_t tid = 1; tid <= kRequests; ++tid) {
      station.send(echo(tid), gsi(fabric.lid(1 + tid % 7)), Qp::gsi);
      if (tid % kBatch == 0) station.run();
    }
    counters = fabric.counters();
  }

  uint64_t got() const { return station.sink.got.size(); }

  std::shared_ptr<Clock> clock;
  SimulatedFabric fabric;
  Station station;
  FabricCounters counters;
};

auto as_tuple(const FabricCounters& c) {
  return std::tuple(c.sent, c.delivered, c.lost, c.duplicated, c.reordered, c.corrupted, c.stale, c.forged, c.errors,
                    c.flushed, c.unroutable, c.overrun);
}

void expect_conserved(const FabricCounters& c) {
  EXPECT_EQ(c.sent + c.duplicated + c.stale + c.forged, c.delivered + c.lost + c.unroutable + c.overrun);
}

/// Of a tenth of `trials`, give or take.
void expect_a_tenth(uint64_t hits, uint64_t trials) {
  EXPECT_GT(hits, trials / 20);
  EXPECT_LT(hits, trials / 6);
}

FabricFaults only(double FabricFaults::*rate, double value) {
  FabricFaults faults;
  faults.*rate = value;
  return faults;
}

TEST(FabricFaults, NoneHappenUnasked) {
  const Exchange run(FabricFaults{});
  EXPECT_EQ(run.got(), kRequests);
  EXPECT_EQ(run.station.sink.count(WireStatus::sent), kRequests);
  EXPECT_EQ(as_tuple(run.counters),
            as_tuple({.sent = 2 * kRequests, .delivered = 2 * kRequests}));
}

TEST(FabricFaults, LossTakesRequestsAndResponses) {
  const Exchange all(only(&FabricFaults::loss, 1));
  EXPECT_EQ(all.got(), 0u);
  EXPECT_EQ(all.counters.lost, kRequests);
  EXPECT_EQ(all.station.sink.count(WireStatus::sent), kRequests) << "the sender does not notice";
  expect_conserved(all.counters);

  const Exchange some(only(&FabricFaults::loss, 0.1));
  expect_a_tenth(some.counters.lost, 2 * kRequests);
  EXPECT_EQ(some.got(), kRequests - some.counters.lost);
  expect_conserved(some.counters);
}

TEST(FabricFaults, DuplicationAddsOneCopyOnEachWay) {
  const Exchange all(only(&FabricFaults::duplication, 1));
  EXPECT_EQ(all.counters.duplicated, 3 * kRequests) << "a request, and both of its responses";
  EXPECT_EQ(all.got(), 4 * kRequests);
  expect_conserved(all.counters);

  const Exchange some(only(&FabricFaults::duplication, 0.1));
  expect_a_tenth(some.counters.duplicated, 2 * kRequests);
  EXPECT_EQ(some.got(), kRequests + some.counters.duplicated);
  expect_conserved(some.counters);
}

TEST(FabricFaults, ReorderingLetsLaterMadsPass) {
  const auto inversions = [](const Exchange& run) {
    uint64_t n = 0;
    for (std::size_t i = 1; i < run.station.sink.got.size(); ++i) {
      n += run.station.sink.got[i].mad.view().tid() < run.station.sink.got[i - 1].mad.view().tid();
    }
    return n;
  };
  FabricFaults faults = only(&FabricFaults::reordering, 0);
  faults.delay_jitter = Nanoseconds(0);
  EXPECT_EQ(inversions(Exchange(faults)), 0u);

  faults.reordering = 0.1;
  const Exchange some(faults);
  EXPECT_EQ(some.got(), kRequests);
  expect_a_tenth(some.counters.reordered, 2 * kRequests);
  EXPECT_GT(inversions(some), kRequests / 20);
  expect_conserved(some.counters);

  faults.reordering = 1;
  const Exchange all(faults);
  EXPECT_EQ(all.got(), kRequests);
  EXPECT_EQ(all.counters.reordered, 2 * kRequests);
  expect_conserved(all.counters);
}

TEST(FabricFaults, ReorderingWorksWithoutDelayToo) {
  FabricFaults faults = only(&FabricFaults::reordering, 0.1);
  faults.delay = faults.delay_jitter = Nanoseconds(0);
  const Exchange run(faults);
  EXPECT_EQ(run.got(), kRequests);
  EXPECT_FALSE(std::ranges::is_sorted(run.station.sink.got, {}, [](const auto& g) { return g.mad.view().tid(); }));
}

TEST(FabricFaults, CorruptionChangesOneByteOnEachWay) {
  const Exchange all(only(&FabricFaults::corruption, 1));
  EXPECT_EQ(all.counters.corrupted, all.counters.sent);
  expect_conserved(all.counters);

  const Exchange some(only(&FabricFaults::corruption, 0.1));
  expect_a_tenth(some.counters.corrupted, 2 * kRequests);
  uint64_t changed = 0;
  for (const auto& got : some.station.sink.got) {
    const Mad right = make_response(echo(got.mad.view().tid()).view());
    const auto differing = std::ranges::count_if(std::views::iota(std::size_t{0}, kMadBytes), [&](std::size_t i) {
      return right.bytes()[i] != got.mad.bytes()[i];
    });
    changed += differing != 0;
    EXPECT_LE(differing, 2 + 2) << "a byte on each way, and the status of one refused";
  }
  EXPECT_GT(changed, 0u);
  EXPECT_LE(changed, some.counters.corrupted);
  expect_conserved(some.counters);
}

TEST(FabricFaults, StaleBringsAnEarlierResponseOnceMore) {
  const Exchange all(only(&FabricFaults::stale, 1));
  EXPECT_EQ(all.counters.stale, kRequests - 1) << "before the first there is none";
  EXPECT_EQ(all.got(), 2 * kRequests - 1);
  expect_conserved(all.counters);

  const Exchange some(only(&FabricFaults::stale, 0.1));
  expect_a_tenth(some.counters.stale, kRequests);
  EXPECT_EQ(some.got(), kRequests + some.counters.stale);
  std::multiset<uint64_t> tids;
  for (const auto& got : some.station.sink.got) tids.insert(got.mad.view().tid());
  for (uint64_t tid = 1; tid <= kRequests; ++tid) EXPECT_GE(tids.count(tid), 1u) << "all stale ones are of this run";
  expect_conserved(some.counters);
}

TEST(FabricFaults, ForgedResponsesAreRightInAllButOneThing) {
  for (const double rate : {1.0, 0.1}) {
    const Exchange run(only(&FabricFaults::forged, rate));
    if (rate == 1) {
      EXPECT_EQ(run.counters.forged, kRequests);
    } else {
      expect_a_tenth(run.counters.forged, kRequests);
    }
    EXPECT_EQ(run.got(), kRequests + run.counters.forged);
    expect_conserved(run.counters);

    std::map<std::string, uint64_t> flaws;
    for (const auto& got : run.station.sink.got) {
      const MadView v = got.mad.view();
      EXPECT_EQ(v.tid() >> 32, 0u) << "the right agent";
      EXPECT_TRUE(v.is_response());
      const bool tid = v.tid() > kRequests, mgmt_class = v.mgmt_class() != kEchoClass, qp = got.qp != Qp::gsi,
                 address = got.from.grh.has_value();
      const int wrong = tid + mgmt_class + qp + address;
      EXPECT_LE(wrong, 1);
      if (tid) {
        EXPECT_GE(v.tid(), 0x80000000u) << "far from the TIDs of counting senders";
      }
      ++flaws[tid ? "tid" : mgmt_class ? "class" : qp ? "qp" : address ? "address" : "none"];
    }
    EXPECT_EQ(flaws["none"], kRequests) << "the true responses";
    for (const char* flaw : {"tid", "class", "qp", "address"}) EXPECT_GT(flaws[flaw], run.counters.forged / 8) << flaw;
  }
}

TEST(FabricFaults, ForgedResponsesOfDirectedRoutesNeverMatch) {
  const auto clock = virtual_clock();
  auto fabric =
      SimulatedFabric::create({.nodes = 4, .faults = only(&FabricFaults::forged, 1), .clock = clock}).value();
  Station station(fabric, clock, 0);
  for (uint64_t tid = 1; tid <= 100; ++tid) {
    station.send(directed(0x0011, {1}).tid(tid), smi(kPermissiveLid), Qp::smi);
    station.run();
  }
  uint64_t matching = 0;
  for (const auto& got : station.sink.got) {
    matching += got.mad.view().tid() <= 100 && got.mad.view().is_directed_route() && got.qp == Qp::smi;
  }
  EXPECT_EQ(station.sink.got.size(), 200u);
  EXPECT_EQ(matching, 100u);
}

TEST(FabricFaults, SendErrorFailsTheTryAndNothingLeaves) {
  const Exchange all(only(&FabricFaults::send_error, 1));
  EXPECT_EQ(all.counters.errors, kRequests);
  EXPECT_EQ(all.counters.sent, 0u);
  EXPECT_EQ(all.station.sink.count(WireStatus::error), kRequests);
  for (const auto& report : all.station.sink.reports) EXPECT_NE(report.vendor, 0);

  const Exchange some(only(&FabricFaults::send_error, 0.1));
  expect_a_tenth(some.counters.errors, kRequests);
  EXPECT_EQ(some.station.sink.count(WireStatus::error), some.counters.errors);
  EXPECT_EQ(some.station.sink.count(WireStatus::sent), kRequests - some.counters.errors);
  EXPECT_EQ(some.got(), kRequests - some.counters.errors);
  expect_conserved(some.counters);
}

TEST(FabricFaults, FlushTakesAllTriesFromTheFailureToTheNextPoll) {
  const Exchange some(only(&FabricFaults::flush, 0.1));
  EXPECT_EQ(some.station.sink.count(WireStatus::flushed), some.counters.flushed);
  EXPECT_EQ(some.got(), kRequests - some.counters.flushed);
  uint64_t failures = 0;
  uint8_t last = 0;
  const auto& reports = some.station.sink.reports;
  ASSERT_EQ(reports.size(), kRequests);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].status != WireStatus::flushed) {
      EXPECT_EQ(reports[i].recovery, 0);
      EXPECT_TRUE(i % kBatch == 0 || reports[i - 1].status == WireStatus::sent) << "nothing leaves a failed queue pair";
      continue;
    }
    if (i % kBatch == 0 || reports[i - 1].status != WireStatus::flushed) {
      ++failures;
      EXPECT_EQ(reports[i].recovery, last + 1) << "recoveries are numbered";
      last = reports[i].recovery;
    }
    EXPECT_EQ(reports[i].recovery, last) << "one recovery, one number";
  }
  EXPECT_GT(failures, kRequests / kBatch / 3);
  expect_conserved(some.counters);
}

TEST(FabricFaults, RecoveryNumbersRunFromOneTo255AndAgain) {
  const auto clock = virtual_clock();
  auto fabric =
      SimulatedFabric::create({.nodes = 2, .faults = only(&FabricFaults::flush, 1), .clock = clock}).value();
  Station station(fabric, clock, 0);
  for (uint64_t i = 0; i < 600; ++i) {
    station.send(echo(i), gsi(2), Qp::gsi);
    station.send(echo(i), gsi(2), Qp::gsi);
    station.poll();
  }
  ASSERT_EQ(station.sink.count(WireStatus::flushed), 1200u);
  for (std::size_t i = 0; i < 1200; ++i) EXPECT_EQ(station.sink.reports[i].recovery, i / 2 % 255 + 1);
  EXPECT_EQ(fabric.counters().flushed, 1200u);
  EXPECT_EQ(fabric.counters().sent, 0u);
}

TEST(FabricFaults, QueuePairsFailApart) {
  const auto clock = virtual_clock();
  auto fabric = SimulatedFabric::create({.nodes = 2, .clock = clock}).value();
  Station station(fabric, clock, 0);
  fabric.set_faults(only(&FabricFaults::flush, 1));
  station.send(echo(1), gsi(2), Qp::gsi);
  fabric.set_faults({});
  station.send(directed(0x0011, {1}), smi(kPermissiveLid), Qp::smi);
  station.send(echo(2), gsi(2), Qp::gsi);
  station.poll();
  ASSERT_EQ(station.sink.reports.size(), 3u);
  EXPECT_EQ(station.sink.reports[0].status, WireStatus::flushed);
  EXPECT_EQ(station.sink.reports[1].status, WireStatus::sent);
  EXPECT_EQ(station.sink.reports[2].status, WireStatus::flushed);
}

TEST(FabricFaults, DelayIsExactAndJitterStaysInItsBounds) {
  const auto clock = virtual_clock();
  auto fabric =
      SimulatedFabric::create(
          {.nodes = 2, .faults = {.delay = Nanoseconds(700), .delay_jitter = Nanoseconds(0)}, .clock = clock})
          .value();
  Station station(fabric, clock, 0);
  clock->advance_to(Nanoseconds(10'000));
  station.send(echo(1), gsi(2), Qp::gsi);
  station.poll();
  EXPECT_EQ(station.sink.reports.size(), 1u) << "a try leaves at once";
  ASSERT_EQ(station.wire().next_event(), Nanoseconds(11'400)) << "there and back";
  clock->advance_to(Nanoseconds(11'399));
  station.poll();
  EXPECT_TRUE(station.sink.got.empty());
  clock->advance_to(Nanoseconds(11'400));
  station.poll();
  EXPECT_EQ(station.sink.got.size(), 1u);
  EXPECT_EQ(station.wire().next_event(), std::nullopt);

  fabric.set_faults({.delay = Nanoseconds(700), .delay_jitter = Nanoseconds(50)});
  std::set<int64_t> waits;
  for (int i = 0; i < 500; ++i) {
    const Nanoseconds start = clock->now();
    station.send(echo(2), gsi(2), Qp::gsi);
    station.run();
    waits.insert((clock->now() - start).count());
  }
  EXPECT_GE(*waits.begin(), 1400);
  EXPECT_LE(*waits.rbegin(), 1500);
  EXPECT_GT(waits.size(), 50u);
}

// ---------------------------------------------------------------- determinism

FabricFaults everything() {
  return {.loss = 0.05, .duplication = 0.05, .reordering = 0.05, .corruption = 0.05, .stale = 0.05, .forged = 0.05,
          .send_error = 0.05, .flush = 0.02};
}

/// All a sender can see of a run.
std::string story(const Exchange& run) {
  std::string text = std::to_string(run.clock->now().count());
  for (const auto& r : run.station.sink.reports) text += static_cast<char>('0' + static_cast<int>(r.status));
  for (const auto& g : run.station.sink.got) {
    text += ';';
    for (const std::byte b : g.mad.bytes()) text += static_cast<char>(b);
    text += std::to_string(g.from.lid) + std::to_string(g.from.grh.has_value());
  }
  return text;
}

TEST(FabricFaults, TheSameSeedGivesTheSameRun) {
  const Exchange one(everything(), 42), again(everything(), 42), other(everything(), 43);
  EXPECT_EQ(story(one), story(again));
  EXPECT_EQ(as_tuple(one.counters), as_tuple(again.counters));
  EXPECT_NE(story(one), story(other));
  expect_conserved(one.counters);
  EXPECT_GT(one.counters.lost * one.counters.stale * one.counters.forged * one.counters.flushed, 0u);
}

TEST(FabricFaults, ARunDoesNotDependOnHowPortsTakeTurns) {
  const auto received = [](bool interleaved) {
    const auto clock = virtual_clock();
    auto fabric = SimulatedFabric::create({.nodes = 4, .faults = everything(), .clock = clock}).value();
    Station a(fabric, clock, 0), b(fabric, clock, 1);
    for (uint64_t tid = 1; tid <= 200; ++tid) {
      a.send(echo(tid), gsi(4), Qp::gsi);
      if (interleaved) b.send(echo(tid), gsi(4), Qp::gsi);
    }
    for (uint64_t tid = 1; tid <= 200 && !interleaved; ++tid) b.send(echo(tid), gsi(4), Qp::gsi);
    (interleaved ? a : b).run();
    (interleaved ? b : a).run();
    std::vector<uint64_t> tids;
    for (const Station* s : {&a, &b}) {
      for (const auto& got : s->sink.got) tids.push_back(got.mad.view().tid());
    }
    return tids;
  };
  EXPECT_EQ(received(true), received(false));
}

TEST(FabricFaults, EverythingAtOnceLosesCountOfNothing) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto clock = virtual_clock();
    auto fabric = SimulatedFabric::create({.nodes = 4, .seed = seed, .faults = everything(), .clock = clock}).value();
    Station a(fabric, clock, 0), b(fabric, clock, 1, false);
    for (uint64_t tid = 1; tid <= 500; ++tid) {
      a.send(echo(tid), gsi(b.lid()), Qp::gsi);
      a.send(directed(0x0011, {1, 3}).tid(tid), smi(kPermissiveLid), Qp::smi);
      b.send(echo(tid), gsi(fabric.lid(2)), Qp::gsi);
      if (tid % 20 != 0) continue;
      a.run();
      b.run();
      for (const auto& got : b.sink.got) {
        if (!got.mad.view().is_response()) b.send(make_response(got.mad.view()), got.from, got.qp);
      }
      b.sink.got.clear();
    }
    b.run();
    a.run();
    b.run();
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_conserved(fabric.counters());
  }
}

}  // namespace
}  // namespace tidemill::test
