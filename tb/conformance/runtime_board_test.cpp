// SPDX-License-Identifier: Apache-2.0
/// The board that watches the conformance suite finds what is wrong: a runtime and a wire are played by hand, right in
/// the first test and with one deliberate fault in each of the others.
#include "tb/support/runtime_board.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "tidemill/mad.hpp"

namespace tidemill::test {
namespace {

using namespace std::chrono_literals;

class RuntimeBoardCatches : public ::testing::Test {
 protected:
  struct Post {
    RuntimeBoard::Serial serial = 0;
    SendId id;
    Mad on_wire;
    Address to;
  };
  struct What {
    Nanoseconds timeout = 10ms;
    unsigned retries = 0;
    Errc result = Errc::ok;
  };

  RuntimeBoardCatches() {
    WireAttributes wire;
    wire.send_depth = {2, 4};
    board_ = std::make_unique<RuntimeBoard>(RuntimeBoard::Options{
        .report = [this](const std::string& what) { found_.push_back(what); }, .clock = clock_, .wire = wire});
    agent_ = register_agent(7, 0);
  }

  RuntimeBoard::Key register_agent(uint32_t id, uint16_t window, uint8_t weight = 4) {
    Registration r;
    r.on_send = [](const SendCompletion&) {};
    r.on_receive = [](const Received&) {};
    r.unsolicited = MadFilter::get_and_set(0x04, 1);
    r.window = window;
    r.weight = weight;
    const RuntimeBoard::Key key = board_->registering(r);
    board_->registered(key, id);
    ids_[key] = id;
    return key;
  }
  Post post(RuntimeBoard::Key agent, const What& what) {
    Post p;
    p.on_wire = Mad::make(0x30, 1, mad_method::get, 0x10).oui(1).tid(uint64_t{ids_[agent]} << 32 | ++tid_);
    p.to.lid = 9;
    SendRequest r{.mad = p.on_wire.bytes(), .to = p.to, .pace = {}, .tid = {}, .context = 5};
    r.pace.timeout = what.timeout;
    r.pace.retries = what.retries;
    p.serial = board_->posting(agent, r);
    p.id = {static_cast<uint16_t>(p.serial), 1};
    p.on_wire.put64(240, p.serial);
    board_->posted(p.serial, what.result, p.id);
    return p;
  }
  Post post() { return post(agent_, What{}); }
  void transmit(const Post& p) { board_->transmitted({p.serial, Qp::gsi, p.to, p.on_wire.bytes()}, p.serial); }
  void report(const Post& p, WireStatus status = WireStatus::sent, uint8_t vendor = 0, uint8_t recovery = 0) {
    board_->reported(p.serial, status, vendor, recovery);
  }
  Post waiting() { return waiting(What{}); }
  Post waiting(const What& what) {
    const Post p = post(agent_, what);
    transmit(p);
    report(p);
    return p;
  }
  void arrive(const Post& p) {
    board_->polling();
    const Mad answer = make_response(p.on_wire.view());
    board_->arrived({Qp::gsi, p.to, answer.bytes()});
  }
  void receive_begins(const Post& p, const Mad& mad) {
    board_->receive_begins(
        agent_, {.mad = mad.view(), .from = p.to, .qp = Qp::gsi, .port = 1, .matched = p.id, .context = p.serial});
  }
  void receive(const Post& p) {
    receive_begins(p, make_response(p.on_wire.view()));
    board_->receive_ends(p.serial);
  }
  void complete(const Post& p, SendStatus status = SendStatus::success, unsigned tries = 1) {
    const SendCompletion c{
        .id = p.id, .status = status, .tries = tries, .elapsed = {}, .context = p.serial, .vendor = 0};
    EXPECT_EQ(board_->completion_begins(agent_, c), 5u) << "the program's own context comes back";
    board_->callback_ends();
  }
  void answered(const Post& p) {
    arrive(p);
    receive(p);
    complete(p);
  }
  void expect_clean() { EXPECT_THAT(found_, ::testing::IsEmpty()); }
  void expect_caught(const char* what) {
    EXPECT_THAT(found_, ::testing::ElementsAre(::testing::HasSubstr(what)));
    EXPECT_EQ(board_->counts().violations, found_.size());
  }

  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  std::unique_ptr<RuntimeBoard> board_;
  std::map<RuntimeBoard::Key, uint32_t> ids_;
  RuntimeBoard::Key agent_ = 0;
  uint32_t tid_ = 0;
  std::vector<std::string> found_;
};

TEST_F(RuntimeBoardCatches, NothingInARunThatIsRight) {
  answered(waiting());
  const Post slow = waiting({.retries = 1});
  clock_->advance_to(10ms);
  transmit(slow);
  report(slow);
  clock_->advance_to(20ms);
  complete(slow, SendStatus::timeout, 2);
  const Post cancelled = waiting();
  board_->cancelling(agent_, cancelled.id);
  board_->cancelled(agent_, cancelled.id, Errc::ok);
  complete(cancelled, SendStatus::flushed);
  const Post open = waiting();
  board_->closing(agent_);
  complete(open, SendStatus::flushed);
  board_->deregistered(agent_);
  post(agent_, {.result = Errc::closing});
  board_->finish();
  expect_clean();
  EXPECT_EQ(board_->counts().accepted, 4u);
  EXPECT_EQ(board_->counts().completed, 4u);
}

TEST_F(RuntimeBoardCatches, ADoubleCompletion) {
  const Post p = waiting();
  answered(p);
  complete(p);
  expect_caught("I1 exactly one completion: another one");
}

TEST_F(RuntimeBoardCatches, AMissingCompletion) {
  waiting();
  board_->finish();
  expect_caught("I1 exactly one completion: none came");
}

TEST_F(RuntimeBoardCatches, ACompletionOfARefusedPost) {
  const Post p = post(agent_, {.result = Errc::would_block});
  complete(p);
  expect_caught("I2 nothing for what was refused: a completion");
}

TEST_F(RuntimeBoardCatches, ARefusedPostOnTheWire) {
  const Post p = post(agent_, {.result = Errc::would_block});
  transmit(p);
  expect_caught("I2 none for a refused post: transmitted");
}

TEST_F(RuntimeBoardCatches, ACompletionBeforeTheResponse) {
  const Post p = waiting();
  complete(p);
  expect_caught("I3 response before completion: success without a response");
}

TEST_F(RuntimeBoardCatches, ACompletionInsideTheReceiveCallback) {
  const Post p = waiting();
  arrive(p);
  receive_begins(p, make_response(p.on_wire.view()));
  complete(p);
  EXPECT_THAT(found_, ::testing::Contains(::testing::HasSubstr(
                          "I3 response before completion: its receive callback has not returned")));
}

TEST_F(RuntimeBoardCatches, ASecondResponse) {
  const Post p = waiting();
  arrive(p);
  receive(p);
  arrive(p);
  receive(p);
  expect_caught("I4 at most one response");
}

TEST_F(RuntimeBoardCatches, AResponseAfterTheCompletion) {
  const Post p = waiting();
  clock_->advance_to(10ms);
  complete(p, SendStatus::timeout);
  arrive(p);
  receive(p);
  expect_caught("I5 no response after completion");
}

TEST_F(RuntimeBoardCatches, AReceiveAfterCancel) {
  const Post p = waiting();
  board_->cancelling(agent_, p.id);
  board_->cancelled(agent_, p.id, Errc::ok);
  arrive(p);
  receive(p);
  expect_caught("I6 cancelled never matches: received after its cancel");
}

TEST_F(RuntimeBoardCatches, ACancelledSendThatSucceeds) {
  const Post p = waiting({.timeout = 0ms});
  board_->cancelling(agent_, p.id);
  board_->cancelled(agent_, p.id, Errc::ok);
  complete(p);
  expect_caught("I6 cancelled never matches: cancelled, ends as success");
}

TEST_F(RuntimeBoardCatches, AnAnsweredSendThatIsFlushed) {
  const Post p = waiting();
  arrive(p);
  receive(p);
  board_->cancelling(agent_, p.id);
  complete(p, SendStatus::flushed);
  expect_caught("I7 cancel loses cleanly");
}

TEST_F(RuntimeBoardCatches, AResponseOfAnotherTid) {
  const Post p = waiting();
  Mad other = make_response(p.on_wire.view());
  other.tid(other.view().tid() + 1);
  board_->arrived({Qp::gsi, p.to, other.bytes()});
  receive_begins(p, other);
  expect_caught("I9 match implies all fields: another TID");
}

TEST_F(RuntimeBoardCatches, AResponseToWhatNeverLeft) {
  const Post p = post();
  arrive(p);
  receive(p);
  expect_caught("I9 match implies all fields: the send never left");
}

TEST_F(RuntimeBoardCatches, AnAnsweredSendThatTimesOut) {
  const Post p = waiting();
  arrive(p);
  clock_->advance_to(10ms);
  complete(p, SendStatus::timeout);
  expect_caught("I10 completeness of matching");
}

TEST_F(RuntimeBoardCatches, ATimeoutThatIsEarly) {
  const Post p = waiting();
  clock_->advance_to(9ms);
  complete(p, SendStatus::timeout);
  expect_caught("I12 never early");
}

TEST_F(RuntimeBoardCatches, ATryTooMany) {
  const Post p = waiting();
  clock_->advance_to(10ms);
  transmit(p);
  expect_caught("I13 number of tries: 2 started, 1 allowed");
}

TEST_F(RuntimeBoardCatches, ATimeoutWithTriesLeft) {
  const Post p = waiting({.retries = 2});
  clock_->advance_to(10ms);
  complete(p, SendStatus::timeout);
  expect_caught("I13 number of tries: timed out after 1 of 3");
}

TEST_F(RuntimeBoardCatches, ATryWithOtherBytes) {
  Post p = waiting({.retries = 1});
  clock_->advance_to(10ms);
  p.on_wire.put8(100, 1);
  transmit(p);
  expect_caught("I14 same bytes: a later try carries others");
}

TEST_F(RuntimeBoardCatches, BytesThatChangeOnTheWire) {
  Post p = post();
  transmit(p);
  p.on_wire.put8(100, 1);
  report(p);
  expect_caught("I14 same bytes: they changed while the wire had them");
}

TEST_F(RuntimeBoardCatches, ACallbackAfterDeregistration) {
  const Post p = waiting();
  board_->closing(agent_);
  complete(p, SendStatus::flushed);
  board_->deregistered(agent_);
  board_->event_begins(agent_, PortEvent::wire_lost);
  expect_caught("I15 silence after deregistration: port event");
}

TEST_F(RuntimeBoardCatches, ASendOutstandingAfterDeregistration) {
  waiting();
  board_->closing(agent_);
  board_->deregistered(agent_);
  expect_caught("I16 deregistration completes: outstanding when it returned");
}

TEST_F(RuntimeBoardCatches, AFlushNobodyAskedFor) {
  complete(waiting(), SendStatus::flushed);
  expect_caught("I16 flushed, and nobody asked for it");
}

TEST_F(RuntimeBoardCatches, APostAcceptedOnAClosingAgent) {
  const Post p = waiting();
  board_->closing(agent_);
  complete(p, SendStatus::flushed);
  post();
  expect_caught("I17 closing is closed");
}

TEST_F(RuntimeBoardCatches, ADeregistrationThatWaitsInACallback) {
  board_->event_begins(agent_, PortEvent::wire_lost);
  board_->closing(agent_);
  board_->deregister_result(agent_, Errc::ok);
  expect_caught("I18");
}

TEST_F(RuntimeBoardCatches, TwoAgentsWithOneId) {
  register_agent(7, 0);
  expect_caught("I20 two live agents have the id 7");
}

TEST_F(RuntimeBoardCatches, AnUnsolicitedMadGivenTwiceOrToAnother) {
  const Mad mad = Mad::make(0x04, 1, mad_method::get, 1);
  board_->arrived({Qp::gsi, {}, mad.bytes()});
  const Address from{};
  const Received r{.mad = mad.view(), .from = from, .qp = Qp::gsi, .port = 1, .matched = {}, .context = 0};
  board_->receive_begins(agent_, r);
  board_->receive_ends(0);
  expect_clean();
  board_->receive_begins(agent_, r);
  board_->receive_ends(0);
  expect_caught("I22 exactly once");
  found_.clear();
  const Mad other = Mad::make(0x06, 1, mad_method::get, 1);
  board_->arrived({Qp::gsi, {}, other.bytes()});
  board_->receive_begins(agent_,
                         {.mad = other.view(), .from = from, .qp = Qp::gsi, .port = 1, .matched = {}, .context = 0});
  EXPECT_THAT(found_, ::testing::ElementsAre(::testing::HasSubstr("I22 one owner")));
}

TEST_F(RuntimeBoardCatches, MoreTriesThanTheWireTakes) {
  for (int i = 0; i < 5; ++i) transmit(post());
  expect_caught("I23 queue conservation: 5 tries on the wire");
}

TEST_F(RuntimeBoardCatches, ACompletionWhileTheWireHasATry) {
  const Post p = post(agent_, {.timeout = 0ms});
  transmit(p);
  board_->cancelling(agent_, p.id);
  complete(p, SendStatus::flushed);
  expect_caught("I23 queue conservation: completed while the wire has a try of it");
}

TEST_F(RuntimeBoardCatches, ASendThatOvertakesAnother) {
  post();
  transmit(post());
  expect_caught("I24 order");
}

TEST_F(RuntimeBoardCatches, CreditAboveTheWindow) {
  agent_ = register_agent(8, 2);
  for (int i = 0; i < 3; ++i) waiting();
  expect_caught("I25 window: 3 in use, 2 allowed");
}

TEST_F(RuntimeBoardCatches, NoCreditOfSendsHandedDownBeforeThereWasAWindow) {
  agent_ = register_agent(8, 0);
  for (int i = 0; i < 2; ++i) waiting();
  board_->window_changed(agent_, 1);
  for (int i = 0; i < 4; ++i) board_->polling();
  waiting();
  expect_clean();
  waiting();
  expect_clean();  // the change may have been on its way until a queue was looked at
}

TEST_F(RuntimeBoardCatches, ARequestThatStandsStill) {
  agent_ = register_agent(8, 2);
  waiting();
  post();
  board_->idle();
  expect_caught("I26 no stall");
}

TEST_F(RuntimeBoardCatches, AnAgentThatStarves) {
  const RuntimeBoard::Key greedy = register_agent(8, 0, 1);
  post();
  board_->polling();
  for (int i = 0; i < 40 && found_.empty(); ++i) {
    const Post p = post(greedy, {.timeout = 0ms});
    transmit(p);
    report(p);
    const SendCompletion c{
        .id = p.id, .status = SendStatus::success, .tries = 1, .elapsed = {}, .context = p.serial, .vendor = 0};
    board_->completion_begins(greedy, c);
    board_->callback_ends();
  }
  expect_clean();  // it shows when its turn comes at last
  Post late;
  late.serial = 1;
  late.on_wire = Mad::make(0x30, 1, mad_method::get, 0x10).oui(1).tid(uint64_t{7} << 32 | 1);
  late.to.lid = 9;
  transmit(late);
  expect_caught("I27 fair service");
}

// Races in which the runtime is right: the watcher must not take what it has not seen for what has not been.
TEST_F(RuntimeBoardCatches, NoPostThatIsAcceptedBeforeAnotherThreadsDeregistrationHasBegun) {
  const Post first = waiting();
  arrive(first);
  board_->closing(agent_);
  std::thread([&] {
    receive(first);
    complete(first);
  }).join();
  const Post second = post();  // the runtime has not been told yet
  transmit(second);
  report(second);
  complete(second, SendStatus::flushed);
  board_->deregistered(agent_);
  expect_clean();
}

TEST_F(RuntimeBoardCatches, NoFlushWhenADeregistrationInACallbackIsRefusedMeanwhile) {
  const Post p = waiting();
  board_->closing(agent_);
  std::thread([&] {
    board_->event_begins(agent_, PortEvent::wire_lost);
    board_->closing(agent_);
    board_->deregister_result(agent_, Errc::in_callback);
    board_->callback_ends();
  }).join();
  complete(p, SendStatus::flushed);
  board_->deregistered(agent_);
  expect_clean();
}

TEST_F(RuntimeBoardCatches, NoUnfairShareOfASendWhosePostHasNotReturned) {
  const RuntimeBoard::Key greedy = register_agent(8, 0, 1);
  const Post first = post();
  Post slow;
  slow.on_wire = Mad::make(0x30, 1, mad_method::get, 0x10).oui(1).tid(uint64_t{7} << 32 | 99);
  slow.to.lid = 9;
  SendRequest r{.mad = slow.on_wire.bytes(), .to = slow.to, .pace = {}, .tid = {}, .context = 5};
  r.pace.timeout = 10ms;
  board_->polling();
  slow.serial = board_->posting(agent_, r);
  transmit(first);
  for (int i = 0; i < 40; ++i) {
    const Post p = post(greedy, {.timeout = 0ms});
    transmit(p);
    report(p);
    board_->completion_begins(
        greedy,
        {.id = p.id, .status = SendStatus::success, .tries = 1, .elapsed = {}, .context = p.serial, .vendor = 0});
    board_->callback_ends();
  }
  slow.id = {static_cast<uint16_t>(slow.serial), 1};
  board_->posted(slow.serial, Errc::ok, slow.id);
  transmit(slow);
  expect_clean();
}

TEST_F(RuntimeBoardCatches, AReplyThatWaitsBehindRequests) {
  agent_ = register_agent(8, 1);
  waiting();
  post();  // stands in the window
  board_->idle();
  expect_clean();
  post(agent_, {.timeout = 0ms});  // stands in none
  board_->idle();
  expect_caught("I28 replies are not blocked");
}

TEST_F(RuntimeBoardCatches, AnErrorThatIsSwallowed) {
  const Post p = post();
  transmit(p);
  report(p, WireStatus::error, 3);
  clock_->advance_to(10ms);
  complete(p, SendStatus::timeout);
  EXPECT_THAT(found_,
              ::testing::Contains(::testing::HasSubstr("I31 error isolation: the wire failed it, ends as timeout")));
}

}  // namespace
}  // namespace tidemill::test
