// SPDX-License-Identifier: Apache-2.0
/// What arrives: the match rule, dispatch of unsolicited MADs, automatic answers, and every 256-byte string.
#include <random>

#include "fixture.hpp"

namespace tidemill::test {
namespace {

using Entry = Log::Entry;
class Receive : public Conformance {
 protected:
  uint64_t dropped(DropCause cause) const { return port_.stats().dropped[static_cast<unsigned>(cause)]; }
  /// A request on the wire, its timer running.
  Transmitted outstanding(Agent& agent, const SendRequest& r) {
    EXPECT_TRUE(agent.send(r).ok());
    EXPECT_TRUE(settle_until([&] { return script_->transmitted_total() > seen_; }));
    ++seen_;
    settle();
    auto t = script_->take_transmitted();
    EXPECT_EQ(t.size(), 1u);
    return t[0];
  }
  std::size_t seen_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Devices, Receive, ::testing::ValuesIn(devices()));

TEST_P(Receive, OnlyTheRightResponseMatches) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  const Transmitted t = outstanding(agent, to_peer(mad, 10s));
  const Mad right = make_response(t.mad.view());
  Mad wrong = right;
  wrong.tid(right.view().tid() + 1);
  script_->arrive(wrong, t.to);
  wrong = right;
  wrong.mgmt_class(0x31);
  script_->arrive(wrong, t.to);
  Address elsewhere = t.to;
  elsewhere.grh = GlobalRoute{};
  script_->arrive(right, elsewhere);
  ASSERT_TRUE(settle_until([&] { return port_.stats().dropped_total() == 3; }));
  EXPECT_EQ(log.all().size(), 0u);
  EXPECT_EQ(dropped(DropCause::stale), 1u);
  EXPECT_EQ(dropped(DropCause::wrong_class), 1u);
  EXPECT_EQ(dropped(DropCause::wrong_address), 1u);
  // Anyone may answer, unless the agent asks for the responder's address.
  elsewhere = t.to;
  elsewhere.lid = 99;
  script_->arrive(right, elsewhere);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 1; }));
}

TEST_P(Receive, MatchSourceWantsTheResponderAsked) {
  Log log;
  Registration r = log.registration();
  r.match_source = true;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  const Transmitted t = outstanding(agent, to_peer(mad, 10s));
  Address elsewhere = t.to;
  elsewhere.lid = 99;
  script_->arrive(make_response(t.mad.view()), elsewhere);
  ASSERT_TRUE(settle_until([&] { return dropped(DropCause::wrong_address) == 1; }));
  script_->answer(t);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 1; }));
}

TEST_P(Receive, GlobalRouteComparesOurOwnGid) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  SendRequest r = to_peer(mad, 10s);
  r.to.grh = GlobalRoute{.gid = {0xfe, 0x80, 1}, .gid_index = 2};
  const Transmitted t = outstanding(agent, r);
  Address other = t.to;
  other.grh->gid_index = 1;
  script_->arrive(make_response(t.mad.view()), other);
  ASSERT_TRUE(settle_until([&] { return dropped(DropCause::wrong_address) == 1; }));
  script_->answer(t);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 1; }));
}

TEST_P(Receive, PathBitsCountUnderTheLmcMask) {
  open({.lmc = 1});
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  SendRequest r = to_peer(mad, 10s);
  r.to.path_bits = 1;
  const Transmitted t = outstanding(agent, r);
  Address other = t.to;
  other.path_bits = 0;
  script_->arrive(make_response(t.mad.view()), other);
  ASSERT_TRUE(settle_until([&] { return dropped(DropCause::wrong_address) == 1; }));
  other.path_bits = 3;  // bit 1 is above the mask
  script_->arrive(make_response(t.mad.view()), other);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 1; }));
}

TEST_P(Receive, ADuplicateResponseIsDropped) {
  Log log;
  Agent agent = register_agent(log.registration());
  const Mad mad = request();
  const Transmitted t = outstanding(agent, to_peer(mad, 10s));
  for (int i = 0; i < 3; ++i) script_->answer(t);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 1 && port_.stats().dropped_total() == 2; }));
  EXPECT_EQ(log.count(Entry::received), 1u);
}

TEST_P(Receive, AResponseOnTheOtherQpDoesNotMatch) {
  Log log;
  Registration r = log.registration();
  r.qp = Qp::smi;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request(mad_method::get, mad_class::subn_lid);
  const Transmitted t = outstanding(agent, to_peer(mad, 10s));
  Mad as_gsi = make_response(t.mad.view());
  as_gsi.mgmt_class(0x04);
  script_->arrive(as_gsi, t.to, Qp::gsi);
  ASSERT_TRUE(settle_until([&] { return port_.stats().dropped_total() == 1; }));
  EXPECT_EQ(log.all().size(), 0u);
}

TEST_P(Receive, UnsolicitedMadsGoToTheirOwner) {
  Log perf, vendor, vendor2;
  Agent a = register_agent(perf.registration(MadFilter::get_and_set(0x04, 1)));
  MadFilter f = MadFilter::get_and_set(0x30, 1);
  f.oui = 0xabcdef;
  Agent b = register_agent(vendor.registration(f));
  f.oui = 0x123456;
  Agent c = register_agent(vendor2.registration(f));
  script_->arrive(request(mad_method::get, 0x04), {});
  script_->arrive(request(mad_method::set, 0x30), {});
  Mad other_oui = request(mad_method::set, 0x30);
  other_oui.oui(0x123456);
  script_->arrive(other_oui, {});
  ASSERT_TRUE(settle_until([&] { return perf.all().size() + vendor.all().size() + vendor2.all().size() == 3; }));
  EXPECT_EQ(perf.count(Entry::received), 1u);
  EXPECT_EQ(vendor.count(Entry::received), 1u);
  EXPECT_EQ(vendor2.count(Entry::received), 1u);
  EXPECT_FALSE(perf.all()[0].matched);
}

TEST_P(Receive, GetAndSetNobodyHandlesAreAnsweredUnsupported) {
  for (const uint8_t method : {mad_method::get, mad_method::set}) {
    Mad m = request(method, 0x04);
    m.tid(0x1234);
    script_->arrive(m, {.lid = 9});
  }
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 2; }));
  for (const auto& t : script_->take_transmitted()) {
    EXPECT_EQ(t.mad.view().status(), kStatusUnsupportedMethodAttribute);
    EXPECT_EQ(t.mad.view().method(), mad_method::get_resp);
    EXPECT_EQ(t.mad.view().tid(), 0x1234u);
    EXPECT_EQ(t.to.lid, 9);
  }
  EXPECT_EQ(port_.stats().auto_responses, 2u);
}

TEST_P(Receive, OtherMethodsNobodyHandlesAreDroppedSilently) {
  script_->arrive(request(mad_method::trap, 0x04), {});
  ASSERT_TRUE(settle_until([&] { return dropped(DropCause::no_agent) == 1; }));
  EXPECT_EQ(script_->transmitted_total(), 0u);
}

TEST_P(Receive, MalformedMadsAreDropped) {
  Mad bad = request();
  script_->arrive_truncated(bad, 255);
  bad.base_version(2);
  script_->arrive(bad, {});
  script_->arrive(request(mad_method::get, mad_class::subn_lid), {}, Qp::gsi);
  script_->arrive(request(mad_method::get, 0x04), {}, Qp::smi);
  script_->arrive(request(mad_method::get, mad_class::com_mgt), {});
  ASSERT_TRUE(settle_until([&] { return dropped(DropCause::malformed) == 5; }));
}

TEST_P(Receive, EveryStringOf256BytesIsHandled) {
  const uint64_t seed = ::testing::UnitTest::GetInstance()->random_seed();
  std::mt19937_64 random(seed);
  RecordProperty("seed", std::to_string(seed));
  Log log;
  Agent agent = register_agent(log.registration(MadFilter::get_and_set(0x04, 1)));
  const int count = 4000;
  for (int i = 0; i < count; ++i) {
    Mad m;
    for (auto& b : m.bytes()) b = static_cast<std::byte>(random());
    if (i % 2 == 0) m.base_version(1);
    if (i % 4 == 0) m.tid(uint64_t{agent.id()} << 32 | (random() & 3));
    script_->arrive(m, {.lid = static_cast<uint16_t>(random())}, random() % 2 ? Qp::gsi : Qp::smi);
  }
  // Every one ends in exactly one of these.
  EXPECT_TRUE(settle_until([&] {
    const PortStats s = port_.stats();
    const uint64_t refused_offers = s.dropped[static_cast<unsigned>(DropCause::no_buffer)];
    return s.received == static_cast<uint64_t>(count) &&
           s.received == s.dropped_total() - refused_offers + s.unsolicited + s.auto_responses + s.matched;
  })) << "seed " << seed;
}

TEST_P(Receive, ASlowHandlerHoldsOnlyItsBuffers) {
  open({}, {.receive_buffers = 2});
  Log log;
  Agent agent = register_agent(log.registration(MadFilter::get_and_set(0x04, 1)));
  for (int i = 0; i < 50; ++i) script_->arrive(request(mad_method::get, 0x04), {});
  ASSERT_TRUE(settle_until([&] { return log.count(Entry::received) == 50; }));
  EXPECT_EQ(script_->waiting_arrivals(), 0u);
}

TEST_P(Receive, AHandlerMayAnswer) {
  Agent agent;
  Log log;
  Registration r = log.registration(MadFilter::get_and_set(0x04, 1));
  r.on_receive = [&](const Received& m) {
    const Mad response = make_response(m.mad, 0);
    EXPECT_TRUE(agent.send({.mad = response.bytes(), .to = m.from, .pace = {}, .tid = {}, .context = 0}).ok());
  };
  agent = register_agent(std::move(r));
  Mad m = request(mad_method::get, 0x04);
  m.tid(77);
  script_->arrive(m, {.lid = 3});
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::success) == 1; }));
  const auto sent = script_->take_transmitted();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].mad.view().tid(), 77u);
  EXPECT_EQ(sent[0].to.lid, 3);
}

TEST_P(Receive, PortEventsReachEveryAgent) {
  Log a, b;
  Agent first = register_agent(a.registration()), second = register_agent(b.registration());
  script_->event(PortEvent::wire_lost);
  script_->event(PortEvent::wire_back);
  ASSERT_TRUE(settle_until([&] { return a.all().size() == 2 && b.all().size() == 2; }));
  EXPECT_EQ(a.all()[0].port_event, PortEvent::wire_lost);
  EXPECT_EQ(b.all()[1].port_event, PortEvent::wire_back);
}

TEST_P(Receive, DeviceRemovalFlushesAndRefuses) {
  Log log;
  Agent agent = register_agent(log.registration());
  script_->auto_sent = false;
  const Mad mad = request();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(agent.send(to_peer(mad, 10s)).ok());
  ASSERT_TRUE(settle_until([&] { return script_->transmitted_total() == 10; }));
  script_->event(PortEvent::device_removed);
  ASSERT_TRUE(settle_until([&] { return log.count(SendStatus::flushed) == 10 && log.count(Entry::event) == 1; }));
  EXPECT_EQ(agent.send(to_peer(mad)).code(), Errc::device_failed);
  EXPECT_EQ(agent.deregister(), Errc::ok);
}

}  // namespace
}  // namespace tidemill::test
