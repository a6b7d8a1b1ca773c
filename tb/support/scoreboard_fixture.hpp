// SPDX-License-Identifier: Apache-2.0
/// A scoreboard and a device played by hand: every call is one thing the host does or the device says.
#pragma once
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "scoreboard.hpp"

namespace tidemill::test {

class ScoreboardTest : public ::testing::Test {
 protected:
  struct Post {
    uint16_t slot = 0, generation = 0, lane = 0;
    uint32_t agent = 1, tid = 1, timeout = 10, deadline = 0;
    uint8_t retries = 0;
    uint32_t cap = 0;
  };

  ScoreboardTest() : board_(options()) { open(0, 0); }

  ScoreboardOptions options() {
    return {.report = [this](const std::string& what) { found_.push_back(what); }, .wire_credit = {4, 4}};
  }
  void open(uint16_t lane, uint16_t window, uint8_t weight = 1) {
    abi::Command c;
    c.kind(abi::CommandKind::open_lane);
    c.lane(lane);
    c.window(window);
    c.weight(weight);
    c.qp(true);
    c.service_class(2);
    board_.command(c, now_);
  }
  void weigh(uint16_t lane, uint16_t window, uint8_t weight = 1) {
    abi::Command c;
    c.kind(abi::CommandKind::weigh_lane);
    c.lane(lane);
    c.window(window);
    c.weight(weight);
    board_.command(c, now_);
  }
  void close(uint16_t lane) {
    abi::Command c;
    c.kind(abi::CommandKind::close_lane);
    c.lane(lane);
    board_.command(c, now_);
  }
  void post(const Post& p, uint64_t digest = 0) {
    abi::Descriptor d;
    d.slot(p.slot);
    d.generation(p.generation);
    d.lane(p.lane);
    d.agent(p.agent);
    d.tid((uint64_t{p.agent} << 32) | p.tid);
    d.timeout(p.timeout);
    d.deadline(p.deadline);
    d.retries(p.retries);
    d.backoff_cap(p.cap);
    d.mgmt_class(3);
    d.port(1);
    d.qp(true);
    d.own_address(5);
    board_.accepted(d, now_, digest);
  }
  void command(abi::CommandKind kind, const Post& p, uint32_t ticks = 0) {
    abi::Command c;
    c.kind(kind);
    c.slot(p.slot);
    c.generation(p.generation);
    c.agent(p.agent);
    c.ticks(ticks);
    board_.command(c, now_);
  }
  void transmit(const Post& p, uint8_t tries = 1, uint64_t digest = 0) {
    abi::Transmit t;
    t.slot(p.slot);
    t.generation(p.generation);
    t.port(1);
    t.qp(true);
    t.tries(tries);
    board_.transmitted(t, now_, digest);
  }
  void sent(const Post& p, abi::Status status = abi::Status::success, uint8_t recovery = 0, uint8_t vendor = 0) {
    abi::Sent s;
    s.slot(p.slot);
    s.generation(p.generation);
    s.status(status);
    s.recovery(recovery);
    s.vendor(vendor);
    board_.sent(s, now_);
  }
  /// The response of a send arrives; `change` can make it another one.
  template <class Change>
  void receive(const Post& p, Change change) {
    abi::Received r;
    r.tid((uint64_t{p.agent} << 32) | p.tid);
    r.buffer(7);
    r.mgmt_class(3);
    r.port(1);
    r.qp(true);
    r.own_address(5);
    r.response(true);
    change(r);
    board_.received(r, now_);
  }
  void receive(const Post& p) {
    receive(p, [](abi::Received&) {});
  }
  void complete(const Post& p, abi::Status status, uint8_t tries = 1,
                abi::CompletionKind kind = abi::CompletionKind::send, uint8_t vendor = 0) {
    abi::Completion c;
    c.kind(kind);
    c.slot(p.slot);
    c.generation(p.generation);
    c.agent(p.agent);
    c.tid((uint64_t{p.agent} << 32) | p.tid);
    c.lane(p.lane);
    c.status(status);
    c.tries(tries);
    c.vendor(vendor);
    c.buffer(7);
    c.now(now_);
    board_.completion(c);
  }
  void answer(const Post& p, uint8_t tries = 1) {
    complete(p, abi::Status::success, tries, abi::CompletionKind::response_send);
  }
  void flush_done(uint32_t agent) {
    abi::Completion c;
    c.kind(abi::CompletionKind::flush_done);
    c.agent(agent);
    c.now(now_);
    board_.completion(c);
  }
  void pass(uint32_t ticks) { now_ += ticks; }
  void on_wire(const Post& p) {
    post(p);
    transmit(p);
  }
  void waiting(const Post& p) {
    on_wire(p);
    sent(p);
  }
  void expect_clean() {
    EXPECT_THAT(found_, ::testing::IsEmpty());
    EXPECT_EQ(board_.counts().violations, found_.size());
  }
  void expect_broken(const char* invariant) {
    EXPECT_THAT(found_, ::testing::ElementsAre(::testing::HasSubstr(invariant)));
    found_.clear();
  }

  std::vector<std::string> found_;
  uint32_t now_ = 100;
  Scoreboard board_;
};

}  // namespace tidemill::test
