// SPDX-License-Identifier: Apache-2.0
/// Whole messages between two agents of two ports on a simulated fabric, on a virtual clock.
#include <gmock/gmock.h>

#include <functional>

#include "tb/rmpp/messages.hpp"
#include "tb/support/scripted_wire.hpp"
#include "tidemill.hpp"

namespace tidemill::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct Got {
  std::vector<std::byte> message;
  std::optional<SendId> matched;
  Address from;
  uint64_t tid = 0;
};

class Messages : public testing::Test {
 protected:
  void open(FabricFaults faults = {}, uint64_t seed = 1) {
    fabric_.emplace(SimulatedFabric::create({.nodes = 2, .seed = seed, .faults = faults, .clock = clock_}).value());
    device_.emplace(Device::open("soft:", {.progress = Progress::poll, .clock = clock_}).value());
    for (unsigned i : {0u, 1u}) ports_.push_back(device_->open_port(i + 1, fabric_->attach(i, false).value()).value());
  }
  Agent agent(unsigned port, bool server, std::size_t limit = 64 << 20) {
    Registration r{.rmpp_version = 1, .message_limit = limit};
    r.on_send = [this, port](const SendCompletion& c) { done_[port].push_back(c); };
    r.on_receive = [this, port](const Received& m) {
      got_[port].push_back({{m.message.begin(), m.message.end()}, m.matched, m.from, m.mad.tid()});
      if (on_receive_[port]) on_receive_[port](m);
    };
    if (server) {
      MadFilter f{.mgmt_class = mad_class::subn_adm, .class_version = 2};
      f.methods.set(kGetTable);
      r.unsolicited = f;
    }
    return ports_[port].register_agent(std::move(r)).value();
  }
  Address to(unsigned node) const { return {.lid = fabric_->lid(node)}; }
  /// Until nothing more happens within `most` of virtual time.
  void settle(Nanoseconds most = 100s) {
    const Nanoseconds end = clock_->now() + most;
    while (clock_->now() < end) {
      const Nanoseconds before = clock_->now();
      if (device_->poll() == 0 && clock_->now() == before) break;
    }
  }
  SendRequest request(const Mad& mad, Pace pace = {.timeout = 1s, .retries = 3}) const {
    return {.mad = mad.bytes(), .to = to(1), .pace = pace, .context = 42};
  }
  static Mad get_table() { return Mad::make(mad_class::subn_adm, 2, kGetTable, 0x0035).put8(24, 1).put8(25, 1); }
  /// The server answers each request with a table of this many bytes.
  void serve(Agent& server, std::size_t bytes) {
    on_receive_[1] = [this, &server, bytes](const Received& m) {
      const auto table = make_message(bytes, kGetTableResponse, m.mad.tid());
      EXPECT_TRUE(server.send({.mad = table, .to = m.from}).ok());
    };
  }

  // What the ports' end still calls outlives them.
  std::array<std::vector<SendCompletion>, 2> done_;
  std::array<std::vector<Got>, 2> got_;
  std::array<std::function<void(const Received&)>, 2> on_receive_;
  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  std::optional<SimulatedFabric> fabric_;
  std::optional<Device> device_;
  std::vector<Port> ports_;
};

TEST_F(Messages, ATableAnswersARequestAsOneMessage) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{200}, std::size_t{201}, std::size_t{100'000}}) {
    SCOPED_TRACE(bytes);
    ports_.clear();
    device_.reset();
    done_ = {};
    got_ = {};
    open();
    Agent client = agent(0, false), server = agent(1, true);
    serve(server, bytes);
    const Mad ask = get_table();
    const SendId id = client.send(request(ask)).value();
    settle();
    ASSERT_EQ(got_[0].size(), 1u);
    EXPECT_EQ(got_[0][0].matched, id);
    EXPECT_EQ(data_of(got_[0][0].message), data_of(make_message(bytes)));
    ASSERT_EQ(done_[0].size(), 1u) << "and its completion came after it";
    EXPECT_EQ(done_[0][0].status, SendStatus::success);
    EXPECT_EQ(done_[0][0].context, 42u);
    ASSERT_EQ(done_[1].size(), 1u);
    EXPECT_EQ(done_[1][0].status, SendStatus::success);
    EXPECT_NE(done_[1][0].id.message, 0u);
    client.deregister();
    server.deregister();
  }
}

TEST_F(Messages, ARequestOfManySegmentsIsMatchedByItsAnswer) {
  open();
  Agent client = agent(0, false), server = agent(1, true);
  serve(server, 5000);
  const auto ask = make_message(3000, kGetTable);
  const SendId id = client.send({.mad = ask, .to = to(1), .pace = {.timeout = 1s, .retries = 2}, .context = 7}).value();
  EXPECT_NE(id.message, 0u);
  settle();
  ASSERT_EQ(got_[1].size(), 1u);
  EXPECT_EQ(data_of(got_[1][0].message), data_of(ask));
  EXPECT_FALSE(got_[1][0].matched);
  ASSERT_EQ(got_[0].size(), 1u);
  EXPECT_EQ(got_[0][0].matched, id);
  EXPECT_EQ(data_of(got_[0][0].message), data_of(make_message(5000)));
  ASSERT_EQ(done_[0].size(), 1u);
  EXPECT_EQ(done_[0][0].status, SendStatus::success);
  EXPECT_EQ(done_[0][0].id, id);
  EXPECT_EQ(done_[0][0].context, 7u);
}

TEST_F(Messages, AMessageNobodyAnswersTimesOutAfterItsLastAck) {
  open();
  Agent client = agent(0, false), server = agent(1, true);
  const auto ask = make_message(3000, kGetTable);
  ASSERT_TRUE(client.send({.mad = ask, .to = to(1), .pace = {.timeout = 300ms, .retries = 2}}).ok());
  settle();
  ASSERT_EQ(done_[0].size(), 1u);
  EXPECT_EQ(done_[0][0].status, SendStatus::timeout);
  EXPECT_GE(done_[0][0].elapsed, 300ms);
  EXPECT_LT(done_[0][0].elapsed, 310ms);
}

TEST_F(Messages, AMessageToNobodyEndsAfterItsWindowsRetries) {
  open();
  Agent client = agent(0, false);
  const auto ask = make_message(3000, kGetTable);
  ASSERT_TRUE(client.send({.mad = ask, .to = to(1), .pace = {.timeout = 100ms, .retries = 2}}).ok());
  settle();
  ASSERT_EQ(done_[0].size(), 1u);
  EXPECT_EQ(done_[0][0].status, SendStatus::timeout);
  EXPECT_EQ(done_[0][0].tries, 3u);
  EXPECT_GE(done_[0][0].elapsed, 700ms) << "100, 200 and 400 ms";
}

TEST_F(Messages, CallReturnsTheWholeMessage) {
  open();
  Agent client = agent(0, false), server = agent(1, true);
  serve(server, 30'000);
  const Mad ask = get_table();
  const auto response = client.call(request(ask));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(data_of(response.value().message), data_of(make_message(30'000)));
  EXPECT_THAT(got_[0], IsEmpty());
}

TEST_F(Messages, SurviveLossDuplicationAndReordering) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ports_.clear();
    device_.reset();
    done_ = {};
    got_ = {};
    open({.loss = 0.1, .duplication = 0.05, .reordering = 0.1}, seed);
    Agent client = agent(0, false), server = agent(1, true);
    serve(server, 50'000);
    const Mad ask = get_table();
    ASSERT_TRUE(client.send(request(ask, {.timeout = 2s, .retries = 10})).ok());
    settle();
    ASSERT_EQ(done_[0].size(), 1u);
    EXPECT_EQ(done_[0][0].status, SendStatus::success);
    ASSERT_EQ(got_[0].size(), 1u);
    EXPECT_EQ(data_of(got_[0][0].message), data_of(make_message(50'000)));
    client.deregister();
    server.deregister();
    EXPECT_EQ(server.stats().outstanding, 0u);
  }
}

TEST_F(Messages, ASenderThatDiesCostsItsClientOneTimeout) {
  open();
  Agent client = agent(0, false), server = agent(1, true);
  serve(server, 1'000'000);
  const Mad ask = get_table();
  ASSERT_TRUE(client.send(request(ask, {.timeout = 500ms})).ok());
  for (int i = 0; i < 200 && got_[1].empty(); ++i) device_->poll(1);
  fabric_->set_link(1, false);
  settle(10s);
  ASSERT_EQ(done_[0].size(), 1u);
  EXPECT_EQ(done_[0][0].status, SendStatus::timeout);
  EXPECT_THAT(got_[0], IsEmpty());
}

TEST_F(Messages, DeregisteringFlushesMessagesBothWays) {
  open();
  Agent client = agent(0, false), server = agent(1, true);
  serve(server, 1'000'000);
  const Mad ask = get_table();
  ASSERT_TRUE(client.send(request(ask, {.timeout = 5s})).ok());
  const auto long_ask = make_message(500'000, kGetTable);
  ASSERT_TRUE(client.send({.mad = long_ask, .to = to(1), .pace = {.timeout = 5s}}).ok());
  for (int i = 0; i < 200 && got_[1].empty(); ++i) device_->poll(1);
  EXPECT_EQ(client.deregister(), Errc::ok);
  ASSERT_EQ(done_[0].size(), 2u);
  for (const auto& c : done_[0]) EXPECT_EQ(c.status, SendStatus::flushed);
  EXPECT_THAT(got_[0], IsEmpty());
  EXPECT_EQ(server.deregister(), Errc::ok);
  ASSERT_EQ(done_[1].size(), 1u);
  EXPECT_NE(done_[1][0].status, SendStatus::success);
}

TEST_F(Messages, ACancelledMessageCompletesAsFlushedAndIsNeverAnswered) {
  open();
  Agent client = agent(0, false), server = agent(1, true);
  serve(server, 100);
  const auto ask = make_message(100'000, kGetTable);
  const SendId id = client.send({.mad = ask, .to = to(1), .pace = {.timeout = 1s}}).value();
  for (int i = 0; i < 20; ++i) device_->poll(1);
  EXPECT_EQ(client.cancel(id), Errc::ok);
  EXPECT_EQ(client.cancel(id), Errc::not_outstanding);
  settle(5s);
  ASSERT_EQ(done_[0].size(), 1u);
  EXPECT_EQ(done_[0][0].status, SendStatus::flushed);
  EXPECT_THAT(got_[0], IsEmpty());
}

TEST_F(Messages, ALimitRefusesAtTheSenderAndStopsAtTheReceiver) {
  open();
  Agent client = agent(0, false, 10'000), server = agent(1, true);
  serve(server, 20'000);
  const auto ask = make_message(20'000, kGetTable);
  EXPECT_EQ(client.send({.mad = ask, .to = to(1)}).code(), Errc::bad_length);
  const Mad table = get_table();
  ASSERT_TRUE(client.send(request(table)).ok());
  settle();
  ASSERT_EQ(done_[0].size(), 1u);
  EXPECT_EQ(done_[0][0].status, SendStatus::error);
  EXPECT_EQ(done_[0][0].vendor, 1) << "resources exhausted";
  ASSERT_EQ(done_[1].size(), 1u);
  EXPECT_EQ(done_[1][0].status, SendStatus::error) << "told by STOP";
  EXPECT_EQ(done_[1][0].vendor, 1);
}

TEST_F(Messages, TooShortForTheHeadersOfItsClassIsRefused) {
  open();
  Agent client = agent(0, false);
  auto ask = make_message(0, kGetTable);
  ask.resize(50);
  EXPECT_EQ(client.send({.mad = ask, .to = to(1)}).code(), Errc::bad_length);
}

/// One agent on a wire that the test plays.
class MessagesOnAWire : public Messages {
 protected:
  void SetUp() override {
    device_.emplace(Device::open("soft:", {.progress = Progress::poll, .clock = clock_}).value());
    script_ = std::make_shared<WireScript>();
    ports_.push_back(device_->open_port(1, std::make_unique<ScriptedWire>(script_)).value());
    client_ = agent(0, false);
  }
  void pass() {
    for (int i = 0; i < 10; ++i) device_->poll();
  }
  std::shared_ptr<WireScript> script_;
  Agent client_;
};

TEST_F(MessagesOnAWire, ASegmentThatMatchesNothingMakesNoStateAndNoAnswer) {
  const Address peer{.lid = 9};
  for (uint32_t number : {1u, 2u, 64u}) {
    Mad stray =
        rmpp::make_answer(MadView(std::span<const std::byte, kMadBytes>(
                              make_message(1000, kGetTable, uint64_t{client_.id()} << 32 | 5).data(), kMadBytes)),
                          rmpp::Type::data, rmpp::Reason::none, number, 500);
    stray.put8(26, static_cast<uint8_t>(rmpp::Flag::active | (number == 1 ? rmpp::Flag::first : 0)));
    script_->arrive(stray, peer);
  }
  pass();
  EXPECT_THAT(got_[0], IsEmpty());
  EXPECT_THAT(script_->take_transmitted(), IsEmpty());
}

TEST_F(MessagesOnAWire, AFirstSegmentOfAnotherVersionIsAbortedAndEndsItsSend) {
  const Mad ask = get_table();
  ASSERT_TRUE(client_.send({.mad = ask.bytes(), .to = {.lid = 9}, .pace = {.timeout = 1s}}).ok());
  pass();
  const auto sent = script_->take_transmitted();
  ASSERT_EQ(sent.size(), 1u);
  Mad answer = rmpp::make_answer(sent[0].mad.view(), rmpp::Type::data, rmpp::Reason::none, 1, 220);
  answer.put8(24, 9).put8(26, rmpp::Flag::active | rmpp::Flag::first);
  script_->arrive(answer, {.lid = 9});
  pass();
  ASSERT_EQ(done_[0].size(), 1u);
  EXPECT_EQ(done_[0][0].status, SendStatus::error);
  EXPECT_EQ(done_[0][0].vendor, static_cast<uint8_t>(rmpp::Reason::unsupported_version));
  const auto aborts = script_->take_transmitted();
  ASSERT_EQ(aborts.size(), 1u);
  EXPECT_EQ(aborts[0].mad.view().rmpp_type(), static_cast<uint8_t>(rmpp::Type::abort));
  EXPECT_EQ(aborts[0].mad.view().tid(), sent[0].mad.view().tid());
  EXPECT_THAT(got_[0], IsEmpty());
}

TEST_F(MessagesOnAWire, AnAckOfARequestIsNotItsResponse) {
  const auto ask = make_message(300, kGetTable);
  ASSERT_TRUE(client_.send({.mad = ask, .to = {.lid = 9}, .pace = {.timeout = 1s}}).ok());
  pass();
  auto sent = script_->take_transmitted();
  ASSERT_EQ(sent.size(), 1u);
  script_->arrive(rmpp::make_answer(sent[0].mad.view(), rmpp::Type::ack, rmpp::Reason::none, 1, 65), {.lid = 9});
  pass();
  sent = script_->take_transmitted();
  ASSERT_EQ(sent.size(), 1u);
  script_->arrive(rmpp::make_answer(sent[0].mad.view(), rmpp::Type::ack, rmpp::Reason::none, 2, 66), {.lid = 9});
  pass();
  EXPECT_THAT(done_[0], IsEmpty()) << "acknowledged, not answered";
  script_->arrive(make_response(sent[0].mad.view()).put8(26, 0), {.lid = 9});
  pass();
  ASSERT_EQ(done_[0].size(), 1u);
  EXPECT_EQ(done_[0][0].status, SendStatus::success);
  ASSERT_EQ(got_[0].size(), 1u);
}

TEST_F(MessagesOnAWire, AbortEndsAMessageWithItsReason) {
  const auto ask = make_message(300, kGetTable);
  ASSERT_TRUE(client_.send({.mad = ask, .to = {.lid = 9}, .pace = {.timeout = 1s}}).ok());
  pass();
  const auto sent = script_->take_transmitted();
  script_->arrive(rmpp::make_answer(sent.at(0).mad.view(), rmpp::Type::abort, rmpp::Reason::bad_type, 0, 0),
                  {.lid = 9});
  pass();
  ASSERT_EQ(done_[0].size(), 1u);
  EXPECT_EQ(done_[0][0].status, SendStatus::error);
  EXPECT_EQ(done_[0][0].vendor, static_cast<uint8_t>(rmpp::Reason::bad_type));
  EXPECT_THAT(script_->take_transmitted(), IsEmpty()) << "an ABORT is not answered";
}

}  // namespace
}  // namespace tidemill::test
