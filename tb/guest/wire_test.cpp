// SPDX-License-Identifier: Apache-2.0
/// The wire contract, kept by queue pairs of rxe0 and rxe1; no runtime.
#include <gmock/gmock.h>

#include "wires.hpp"

namespace tidemill::guest {
namespace {

using testing::ElementsAre;

struct Report {
  uint64_t token;
  WireStatus status;
  uint8_t vendor;
  bool operator==(const Report&) const = default;
};

class RecordingSink final : public WireSink {
 public:
  void sent(uint64_t token, WireStatus status, uint8_t vendor, uint8_t) override {
    reports.push_back({token, status, vendor});
  }
  bool received(const WireReceived& r) override {
    if (refuse > 0) return --refuse, false;
    mads.emplace_back(r.mad.begin(), r.mad.end());
    from.push_back(r.from);
    return true;
  }
  void event(PortEvent e) override { events.push_back(e); }

  unsigned refuse = 0;
  std::vector<Report> reports;
  std::vector<std::vector<std::byte>> mads;
  std::vector<Address> from;
  std::vector<PortEvent> events;
};

struct WireContract : testing::Test {
  std::unique_ptr<VerbsWire> a = open_wire({.device = "rxe0"}), b = open_wire({.device = "rxe1"});
  RecordingSink at_a, at_b;
  Address to_b = address_of(b->identity(), a->identity());
  std::vector<std::byte> bytes = std::vector<std::byte>(256, std::byte{0x5a});

  bool until(const std::function<bool()>& condition, Nanoseconds limit = 5s) {
    return soon([&] { return a->poll(at_a), b->poll(at_b), condition(); }, limit);
  }
};

TEST_F(WireContract, AMadArrivesAndItsTryIsReportedOnce) {
  a->transmit({.token = 7, .to = to_b, .mad = bytes});
  ASSERT_TRUE(until([&] { return !at_b.mads.empty() && !at_a.reports.empty(); }));
  EXPECT_THAT(at_a.reports, ElementsAre(Report{7, WireStatus::sent, 0}));
  EXPECT_EQ(at_b.mads[0], bytes);
}

TEST_F(WireContract, TheSenderIsNamedSoThatItCanBeAnswered) {
  a->transmit({.token = 1, .to = to_b, .mad = bytes});
  ASSERT_TRUE(until([&] { return !at_b.from.empty(); }));
  ASSERT_TRUE(at_b.from[0].grh);
  EXPECT_EQ(at_b.from[0].qpn, a->identity().qpn);
  EXPECT_EQ(at_b.from[0].grh->gid, a->identity().gid);
  EXPECT_EQ(at_b.from[0].grh->gid_index, b->identity().gid_index);
  b->transmit({.token = 2, .to = at_b.from[0], .mad = bytes});
  EXPECT_TRUE(until([&] { return !at_a.mads.empty(); }));
}

TEST_F(WireContract, AShortMadIsFilledWithZeros) {
  for (const std::size_t length : {24u, 25u, 200u, 255u, 256u}) {
    at_b.mads.clear();
    a->transmit({.token = 1, .to = to_b, .mad = std::span(bytes).first(length)});
    ASSERT_TRUE(until([&] { return !at_b.mads.empty(); }));
    std::vector<std::byte> expected(256);
    std::copy_n(bytes.begin(), length, expected.begin());
    EXPECT_EQ(at_b.mads[0], expected) << length;
  }
}

TEST_F(WireContract, ABatchIsOnePostAndArrivesInOrder) {
  std::vector<std::vector<std::byte>> many;
  for (unsigned i = 0; i < 100; ++i) {
    many.push_back(bytes);
    many.back()[50] = static_cast<std::byte>(i);
  }
  for (unsigned i = 0; i < 100; ++i) a->transmit({.token = i, .to = to_b, .mad = many[i]});
  ASSERT_TRUE(until([&] { return at_b.mads.size() == 100 && at_a.reports.size() == 100; }));
  EXPECT_EQ(at_b.mads, many);
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(at_a.reports[i], (Report{i, WireStatus::sent, 0}));
  EXPECT_EQ(a->counters()->posts, 1u);
}

TEST_F(WireContract, MemoryItWasToldOfIsNotCopied) {
  a->memory(bytes);
  a->transmit({.token = 1, .to = to_b, .mad = bytes});
  ASSERT_TRUE(until([&] { return !at_b.mads.empty(); }));
  EXPECT_EQ(at_b.mads[0], bytes);
  EXPECT_EQ(a->counters()->copied, 0u);
}

TEST_F(WireContract, AnAddressItCannotSendToIsAnErrorOfThatTryOnly) {
  Address no_grh = to_b, other_pkey = to_b, no_index = to_b;
  no_grh.grh.reset();
  other_pkey.pkey_index = 1;
  no_index.grh->gid_index = 200;
  a->transmit({.token = 1, .to = no_grh, .mad = bytes});
  a->transmit({.token = 2, .to = to_b, .mad = bytes});
  a->transmit({.token = 3, .to = other_pkey, .mad = bytes});
  a->transmit({.token = 4, .to = no_index, .mad = bytes});
  a->transmit({.token = 5, .to = to_b, .mad = bytes});
  ASSERT_TRUE(until([&] { return at_a.reports.size() == 5; }));
  EXPECT_THAT(at_a.reports,
              testing::UnorderedElementsAre(Report{1, WireStatus::error, 0xf0}, Report{2, WireStatus::sent, 0},
                                            Report{3, WireStatus::error, 0xf1}, Report{4, WireStatus::error, 0xf0},
                                            Report{5, WireStatus::sent, 0}));
  EXPECT_TRUE(until([&] { return at_b.mads.size() == 2; }));
}

TEST_F(WireContract, AnAddressNobodyAnswersForDelaysNoOther) {
  Address away = to_b;
  away.grh->gid = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x77};
  a->transmit({.token = 1, .to = away, .mad = bytes});
  const auto start = std::chrono::steady_clock::now();
  for (unsigned i = 2; i < 50; ++i) {
    a->transmit({.token = i, .to = to_b, .mad = bytes});
    ASSERT_TRUE(until([&] { return at_b.mads.size() == i - 1; }));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 900ms);
  ASSERT_TRUE(until([&] { return at_a.reports.size() == 49; }));
  EXPECT_EQ(at_a.reports.back(), (Report{1, WireStatus::error, 0xf0}));
}

TEST_F(WireContract, AMadTheRuntimeHasNoRoomForIsKept) {
  at_b.refuse = 5;
  for (unsigned i = 0; i < 3; ++i) a->transmit({.token = i, .to = to_b, .mad = bytes});
  EXPECT_TRUE(until([&] { return at_b.mads.size() == 3; }));
  EXPECT_EQ(at_b.refuse, 0u);
}

TEST_F(WireContract, AfterAFailureOfItsQueuePairNothingIsMissing) {
  auto& wire = static_cast<verbs::UdWire&>(*a);
  ASSERT_TRUE(wire.break_down());
  for (unsigned i = 0; i < 50; ++i) a->transmit({.token = i, .to = to_b, .mad = bytes});
  ASSERT_TRUE(until([&] { return at_a.reports.size() == 50; }));
  for (const Report& r : at_a.reports) EXPECT_EQ(r.status, WireStatus::flushed);
  EXPECT_TRUE(std::ranges::is_sorted(at_a.reports, {}, &Report::token));
  EXPECT_EQ(a->counters()->recoveries, 1u);
  // It sends and receives again.
  a->transmit({.token = 100, .to = to_b, .mad = bytes});
  b->transmit({.token = 101, .to = address_of(a->identity(), b->identity()), .mad = bytes});
  EXPECT_TRUE(until([&] { return at_b.mads.size() == 1 && at_a.mads.size() == 1; }));
}

TEST_F(WireContract, AReceiverThatFailedReceivesAgainAlthoughItSendsNothing) {
  auto& wire = static_cast<verbs::UdWire&>(*b);
  ASSERT_TRUE(wire.break_down());
  ASSERT_TRUE(until([&] { return b->counters()->recoveries == 1; }));
  a->transmit({.token = 1, .to = to_b, .mad = bytes});
  EXPECT_TRUE(until([&] { return !at_b.mads.empty(); }));
}

TEST_F(WireContract, AbandonedTriesAreReportedAtOnce) {
  for (unsigned i = 0; i < 20; ++i) a->transmit({.token = i, .to = to_b, .mad = bytes});
  a->abandon();
  a->poll(at_a);
  EXPECT_EQ(at_a.reports.size(), 20u);
  a->transmit({.token = 100, .to = to_b, .mad = bytes});
  EXPECT_TRUE(until([&] { return !at_b.mads.empty(); }));
}

TEST_F(WireContract, ADatagramThatFitsNoReceiveBufferIsCountedAndTheWireGoesOn) {
  const uint64_t errors = b->counters()->receive_errors;
  std::vector<std::byte> longer(1000, std::byte{1});
  a->memory(longer);
  a->transmit({.token = 1, .to = to_b, .mad = std::span(longer).first(400)});
  EXPECT_TRUE(until([&] { return b->counters()->receive_errors > errors && b->counters()->recoveries > 0; }));
  a->transmit({.token = 2, .to = to_b, .mad = bytes});
  EXPECT_TRUE(until([&] { return !at_b.mads.empty() && at_b.mads.back() == bytes; }));
}

TEST(VerbsWireOpen, SaysWhatIsWrongAndTheWayOut) {
  const auto error = [](VerbsOptions o) { return VerbsWire::open(std::move(o)).error(); };
  EXPECT_EQ(error({.device = "mlx5_0"}).code, Errc::unknown_device);
  EXPECT_THAT(error({.device = "mlx5_0"}).message,
              testing::AllOf(testing::HasSubstr("rxe0"), testing::HasSubstr("rxe1")));
  EXPECT_EQ(error({.device = "rxe0", .port = 2}).code, Errc::no_such_port);
  EXPECT_EQ(error({.device = "rxe0", .gid_index = 200}).code, Errc::bad_address);
  EXPECT_EQ(error({.device = "rxe0", .send_depth = 0}).code, Errc::bad_option);
}

}  // namespace
}  // namespace tidemill::guest

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
