// SPDX-License-Identifier: Apache-2.0
/// An agent with messages under way, whose wire and peers do what they should not.
#include <gmock/gmock.h>

#include <array>
#include <map>
#include <random>

#include "tb/rmpp/messages.hpp"
#include "tb/support/scripted_wire.hpp"
#include "tidemill.hpp"

namespace tidemill::test {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

class HostilePeers : public testing::Test {
 protected:
  void SetUp() override { open(64 << 20); }
  /// On a clock that waits for nobody unless `real`.
  void open(std::size_t limit, bool real = false) {
    agent_ = {};
    ports_.clear();
    device_.emplace(Device::open("soft:", {.progress = Progress::poll, .clock = real ? nullptr : clock_}).value());
    script_ = std::make_shared<WireScript>();
    ports_.push_back(device_->open_port(1, std::make_unique<ScriptedWire>(script_)).value());
    Registration r{.rmpp_version = 1, .message_limit = limit};
    r.on_send = [this](const SendCompletion& c) { done_.push_back(c); };
    r.on_receive = [this](const Received& m) { got_.emplace_back(m.message.begin(), m.message.end()); };
    MadFilter f{.mgmt_class = mad_class::subn_adm, .class_version = 2};
    f.methods.set(kGetTable);
    r.unsolicited = f;
    agent_ = ports_[0].register_agent(std::move(r)).value();
  }
  void pass() {
    for (int i = 0; i < 10; ++i) device_->poll();
  }
  void settle(Nanoseconds most = 200s) {
    const Nanoseconds end = clock_->now() + most;
    while (clock_->now() < end) {
      const Nanoseconds before = clock_->now();
      if (device_->poll() == 0 && clock_->now() == before) break;
    }
  }
  SendId send(std::span<const std::byte> mad, Pace pace = {.timeout = 1s}) {
    return agent_.send({.mad = mad, .to = {.lid = 9}, .pace = pace}).value();
  }
  static Mad get_table() { return Mad::make(mad_class::subn_adm, 2, kGetTable, 0x0035).put8(24, 1).put8(25, 1); }
  /// A DATA segment that answers.
  static Mad data(const MadView& to, uint32_t number, bool last) {
    Mad mad = rmpp::make_answer(to, rmpp::Type::data, rmpp::Reason::none, number, last ? 100 : 0);
    return mad.put8(26, static_cast<uint8_t>(rmpp::Flag::active | (number == 1 ? rmpp::Flag::first : 0) |
                                             (last ? rmpp::Flag::last : 0)));
  }
  static Mad ack(const MadView& to, uint32_t number, uint32_t window) {
    return rmpp::make_answer(to, rmpp::Type::ack, rmpp::Reason::none, number, window);
  }

  std::vector<SendCompletion> done_;  // outlives the agent, whose end completes sends
  std::vector<std::vector<std::byte>> got_;
  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  std::shared_ptr<WireScript> script_;
  std::optional<Device> device_;
  std::vector<Port> ports_;
  Agent agent_;
};

TEST_F(HostilePeers, AnAgentThatHasJustReceivedAMessageTakesItsDeviceWithIt) {
  open(64 << 20, true);
  Mad ask = get_table();
  ask.put8(26, rmpp::Flag::active | rmpp::Flag::first | rmpp::Flag::last).put32(28, 1).put32(32, 100);
  script_->arrive(ask, {.lid = 9});
  pass();
  ASSERT_EQ(got_.size(), 1u);
  EXPECT_EQ(agent_.deregister(), Errc::ok);
  agent_ = {};
  ports_.clear();
  device_.reset();
  EXPECT_EQ(script_.use_count(), 1) << "the wire is gone";
}

TEST_F(HostilePeers, ASendThatFailsBehindTheStartOfItsResponseGivesItsMemoryBack) {
  open(4000);
  script_->auto_sent = false;
  const Mad ask = get_table();
  for (std::size_t i = 1; i <= 20; ++i) {
    send(ask.bytes());
    pass();
    const auto sent = script_->take_transmitted();
    ASSERT_EQ(sent.size(), 1u);
    script_->arrive(data(sent[0].mad.view(), 1, false), {.lid = 9});
    pass();
    for (const auto& answer : script_->take_transmitted()) script_->report(answer.token, WireStatus::sent);
    script_->report(sent[0].token, WireStatus::error);
    pass();
    for (const auto& answer : script_->take_transmitted()) script_->report(answer.token, WireStatus::sent);
    ASSERT_EQ(done_.size(), i);
    ASSERT_NE(done_.back().status, SendStatus::success);
  }
  script_->auto_sent = true;
  send(ask.bytes());
  pass();
  const auto sent = script_->take_transmitted();
  for (uint32_t n = 1; n <= 10; ++n) {
    script_->arrive(data(sent.at(0).mad.view(), n, n == 10), {.lid = 9});
    pass();
  }
  ASSERT_EQ(done_.back().status, SendStatus::success) << "2,000 bytes of 4,000";
  EXPECT_EQ(got_.size(), 1u);
}

TEST_F(HostilePeers, ADeadlineHoldsWhileAMessageWaitsForItsResponse) {
  const auto ask = make_message(100, kGetTable);
  send(ask, {.timeout = 60s, .deadline = 2s});
  pass();
  script_->arrive(ack(script_->take_transmitted().at(0).mad.view(), 1, 65), {.lid = 9});
  settle(5s);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, SendStatus::deadline);
  EXPECT_GE(done_[0].elapsed, 2s);
  EXPECT_LT(done_[0].elapsed, 2100ms);
  EXPECT_THAT(script_->take_transmitted(), IsEmpty()) << "the other side has it all: nothing to abort";
}

TEST_F(HostilePeers, ADeadlineThatNoTimerHoldsIsRefused) {
  const auto ask = make_message(1000, kGetTable);
  const SendRequest r{.mad = ask, .to = {.lid = 9}, .pace = {.timeout = 1s, .deadline = Nanoseconds::max()}};
  EXPECT_EQ(agent_.send(r).code(), Errc::bad_time);
}

TEST_F(HostilePeers, AMessageMayWaitAsLongAsAnyOtherSend) {
  const auto ask = make_message(1000, kGetTable);
  EXPECT_TRUE(agent_.send({.mad = ask, .to = {.lid = 9}, .pace = {.timeout = 1000s}}).ok());
}

TEST_F(HostilePeers, AnAckThatComesAgainDoesNotProlongTheWaitForAResponse) {
  const auto ask = make_message(100, kGetTable);
  const Nanoseconds start = clock_->now();
  send(ask, {.timeout = 1s});
  pass();
  const Mad sent = script_->take_transmitted().at(0).mad;
  for (uint32_t window = 2; done_.empty() && window < 40; ++window) {
    script_->arrive(ack(sent.view(), 1, window), {.lid = 9});
    settle(500ms);
  }
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, SendStatus::timeout);
  EXPECT_LT(clock_->now() - start, 3s);
}

TEST_F(HostilePeers, AnAckOfAnotherVersionAbortsTheMessage) {
  const auto ask = make_message(1000, kGetTable);
  send(ask);
  pass();
  script_->arrive(ack(script_->take_transmitted().at(0).mad.view(), 1, 65).put8(24, 9), {.lid = 9});
  pass();
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, SendStatus::error);
  EXPECT_EQ(done_[0].vendor, static_cast<uint8_t>(rmpp::Reason::unsupported_version));
}

/// Any 256 bytes, half of them shaped like a part of what is under way.
Mad random_mad(std::mt19937& dice, const std::vector<Transmitted>& seen) {
  Mad mad;
  for (std::size_t i = 0; i < kMadBytes; ++i) mad.put8(i, static_cast<uint8_t>(dice()));
  if (dice() % 8 == 0) return mad;
  if (!seen.empty() && dice() % 8 != 0) {
    const MadView like = seen[seen.size() - 1 - dice() % std::min<std::size_t>(seen.size(), 64)].mad.view();
    for (std::size_t i = 0; i < 24; ++i) mad.put8(i, like.u8(i));
    mad.method(static_cast<uint8_t>(like.method() ^ (dice() % 4 != 0 ? mad_method::response_bit : 0)));
  } else {
    const Mad ask = Mad::make(mad_class::subn_adm, 2, kGetTable, 0x0035);
    for (std::size_t i = 0; i < 24; ++i) mad.put8(i, ask.view().u8(i));
    mad.tid(dice() % 64);
  }
  mad.put8(24, dice() % 16 == 0 ? static_cast<uint8_t>(dice()) : 1);
  mad.put8(25, static_cast<uint8_t>(dice() % 8 == 0 ? dice() % 7 : 1 + dice() % 2));
  mad.put8(26, static_cast<uint8_t>(dice() % 16 == 0 ? dice() : dice() % 2 == 0 ? 1 : 3 + 4 * (dice() % 4 == 0)));
  mad.put32(28, dice() % 16 == 0 ? static_cast<uint32_t>(dice()) : dice() % 8);
  mad.put32(32, dice() % 16 == 0 ? static_cast<uint32_t>(dice()) : dice() % 240);
  return mad;
}

TEST_F(HostilePeers, WhateverArrivesEveryMessageCompletesOnceAndNothingIsLeft) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 dice(seed);
  std::map<std::array<uint32_t, 3>, unsigned> accepted;
  const auto name = [](SendId id) { return std::array<uint32_t, 3>{id.slot, id.generation, id.message}; };
  for (int round = 0; round < 6; ++round) {
    open(20'000);
    accepted.clear();
    done_.clear();
    got_.clear();
    std::vector<Transmitted> seen;
    std::vector<SendId> ids;
    for (int i = 0; i < 3000; ++i) {
      if (dice() % 10 == 0) {
        const bool response = dice() % 3 == 0;
        const auto message = make_message(dice() % 2000, response ? kGetTableResponse : kGetTable, dice() % 64);
        const Mad single = Mad(get_table()).put8(26, 0);
        const SendRequest r{
            .mad = dice() % 2 == 0 ? std::span<const std::byte>(message) : single.bytes(),
            .to = {.lid = 9},
            .pace = {.timeout = dice() % 4 == 0 && response ? 0s : 1s, .retries = static_cast<unsigned>(dice() % 3)}};
        if (const auto id = agent_.send(r); id.ok()) {
          ++accepted[name(id.value())];
          ids.push_back(id.value());
        }
      }
      if (dice() % 50 == 0 && !ids.empty()) agent_.cancel(ids[dice() % ids.size()]);
      script_->auto_sent = dice() % 4 != 0;
      for (unsigned n = dice() % 4; n > 0; --n)
        script_->arrive(random_mad(dice, seen), {.lid = static_cast<uint16_t>(dice() % 8 == 0 ? 8 : 9)});
      if (dice() % 4 == 0) device_->poll(1 + dice() % 8);
      for (const auto& t : script_->take_transmitted()) {
        seen.push_back(t);
        if (!script_->auto_sent) script_->report(t.token, dice() % 8 == 0 ? WireStatus::error : WireStatus::sent);
      }
    }
    script_->auto_sent = true;
    if (round % 2 == 0) {
      settle();
      ASSERT_EQ(agent_.stats().outstanding, 0u);
    }
    EXPECT_EQ(agent_.deregister(), Errc::ok);
    for (const auto& c : done_) {
      ASSERT_NE(accepted[name(c.id)], 0u) << "completed more often than sent";
      --accepted[name(c.id)];
    }
    for (const auto& [id, left] : accepted) ASSERT_EQ(left, 0u);
    EXPECT_GT(got_.size(), 10u) << "of what came some was fine";
    const auto script = script_;
    agent_ = {};
    ports_.clear();
    device_.reset();
    script_.reset();
    EXPECT_EQ(script.use_count(), 1) << "the wire is gone";
  }
}

}  // namespace
}  // namespace tidemill::test
