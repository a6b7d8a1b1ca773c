// SPDX-License-Identifier: Apache-2.0
/// An engine in process with a host, a wire and a scoreboard around it. Whatever a test does, the scoreboard judges.
///
/// The host keeps its side of the contract: a slot of the TID's bank, the next generation, rings that never overflow.
/// The wire holds every try until the test says what became of it; a response is made from the send it answers.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "host/soft/engine.hpp"
#include "tb/support/scoreboard.hpp"

namespace tidemill::test {

/// A request as a host thinks of it.
struct Ask {
  uint32_t agent = 1;
  std::optional<uint32_t> tid = std::nullopt;  ///< Lower half; a new one for each by default.
  uint32_t timeout = 10;
  uint8_t retries = 0;
  uint32_t backoff_cap = 0, deadline = 0;
  uint8_t mgmt_class = 0x03;
  bool qp = true;
};

/// What names a send.
struct SendName {
  uint16_t slot = 0, generation = 0;
  auto operator<=>(const SendName&) const = default;
};

/// A lane as a test opens it.
struct LaneOptions {
  uint16_t window = 0;
  uint8_t weight = 1, service_class = 2;
  bool qp = true;
};

template <class Config, unsigned BankBits = 0, unsigned Lanes = 4>
class WatchedEngine {
  struct Sink {
    WatchedEngine* self;
    void transmit(const abi::Transmit& t) { self->on_transmit(t); }
    void complete(const abi::Completion& c) { self->on_completion(c); }
    void drop(const abi::Action& a) { self->on_drop(a); }
  };

 public:
  using Engine = soft::Engine<Config, BankBits, Lanes, Sink>;
  using Options = typename Engine::Options;
  explicit WatchedEngine(Options options = {}, bool matcher_has_room = true)
      : board_({.report = [](const std::string& what) { ADD_FAILURE() << what; },
                .wire_credit = {options.wire_credit[0], options.wire_credit[1]},
                .matcher_has_room = matcher_has_room}),
        engine_(sink_, options),
        generations_(Engine::kSlots),
        used_(Engine::kSlots) {
    for (uint32_t lane = 0; lane < Lanes; ++lane) engine_.set_ring(lane, rings_[lane]);
  }

  Engine& engine() { return engine_; }
  Scoreboard& board() { return board_; }
  uint32_t now() const { return now_; }

  // ------------------------------------------------------------------------------------------------ host
  bool open(uint16_t lane, const LaneOptions& o) {
    abi::Command c;
    c.kind(abi::CommandKind::open_lane);
    c.lane(lane);
    c.window(o.window);
    c.weight(o.weight);
    c.service_class(o.service_class);
    c.qp(o.qp);
    return give(c);
  }
  bool weigh(uint16_t lane, const LaneOptions& o) {
    abi::Command c;
    c.kind(abi::CommandKind::weigh_lane);
    c.lane(lane);
    c.window(o.window);
    c.weight(o.weight);
    return give(c);
  }
  void grow_wire(bool qp, uint16_t count) {
    board_.wire_grown(qp, count);
    engine_.add_wire_credit(qp, count);
  }
  bool close(uint16_t lane) {
    abi::Command c;
    c.kind(abi::CommandKind::close_lane);
    c.lane(lane);
    return give(c);
  }

  /// True if every descriptor of the lane was fetched: a closed lane may be opened again.
  bool drained(uint16_t lane) const { return posted_[lane] == engine_.consumed(lane); }
  /// True if another send fits: into the ring, and into a slot of the bank of every TID.
  bool has_room(uint16_t lane) const {
    if (posted_[lane] - engine_.consumed(lane) == kRing) return false;
    for (uint32_t bank = 0; bank < Engine::kBanks; ++bank) {
      if (!free_slot(bank)) return false;
    }
    return true;
  }
  SendName post(uint16_t lane, const Ask& ask = {}) {
    const uint64_t tid = (uint64_t{ask.agent} << 32) | ask.tid.value_or(next_tid_);
    next_tid_ += ask.tid ? 0 : 1;
    const std::optional<uint16_t> slot = free_slot(engine_.bank_of(tid));
    if (!slot) {
      ADD_FAILURE() << "no slot is free in the bank of TID " << tid;
      return {};
    }
    used_[*slot] = true;
    abi::Descriptor d;
    d.tid(tid);
    d.slot(*slot);
    d.generation(generations_[*slot]);
    d.agent(ask.agent);
    d.mgmt_class(ask.mgmt_class);
    d.timeout(ask.timeout);
    d.backoff_cap(ask.backoff_cap);
    d.deadline(ask.deadline);
    d.retries(ask.retries);
    d.lane(lane);
    d.port(1);
    d.qp(ask.qp);
    rings_[lane][posted_[lane]++ % kRing] = d;
    const SendName name{*slot, d.generation()};
    descriptors_[name] = d;
    board_.accepted(d, now_);
    EXPECT_TRUE(engine_.doorbell(lane, 1));
    return name;
  }

  void cancel(SendName n) { give(about(abi::CommandKind::cancel, n, 0)); }
  void modify(SendName n, uint32_t ticks) { give(about(abi::CommandKind::modify, n, ticks)); }
  void announce(SendName n, uint32_t ticks) { give(about(abi::CommandKind::deadline, n, ticks)); }
  void flush(uint32_t agent) {
    abi::Command c;
    c.kind(abi::CommandKind::flush);
    c.agent(agent);
    give(c);
  }

  // ------------------------------------------------------------------------------------------------ time
  /// Steps until the engine has no more to do.
  void settle() {
    for (unsigned rounds = 0; engine_.step(now_); ++rounds) {
      if (rounds == kManyRounds) {
        ADD_FAILURE() << "the engine does not come to rest";
        return;
      }
    }
    board_.idle(now_);
  }
  void pass(uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) jump(1);
  }
  void jump(uint32_t ticks) {
    now_ += ticks;
    settle();
  }
  void stall(uint32_t ticks) { now_ += ticks; }

  // ------------------------------------------------------------------------------------------------ wire
  /// Tries on the wire, oldest first.
  const std::deque<abi::Transmit>& wire() const { return wire_; }
  bool on_wire(SendName n) const {
    return std::any_of(wire_.begin(), wire_.end(),
                       [&](const abi::Transmit& t) { return t.slot() == n.slot && t.generation() == n.generation; });
  }
  /// Reports a try that is on the wire, or forges a report.
  void sent(SendName n, abi::Status status = abi::Status::success, uint8_t recovery = 0) {
    const auto t = std::find_if(wire_.begin(), wire_.end(), [&](const abi::Transmit& o) {
      return o.slot() == n.slot && o.generation() == n.generation;
    });
    if (t != wire_.end()) wire_.erase(t);
    abi::Sent s;
    s.slot(n.slot);
    s.generation(n.generation);
    s.status(status);
    s.recovery(recovery);
    board_.sent(s, now_);
    engine_.sent(s, now_);
  }
  void sent_all(abi::Status status = abi::Status::success, uint8_t recovery = 0) {
    for (size_t left = wire_.size(); left > 0; --left)
      sent({wire_.front().slot(), wire_.front().generation()}, status, recovery);
  }
  /// The response to a send arrives; `change` can make it a wrong one.
  template <class Change>
  void respond(SendName n, Change change) {
    const abi::Descriptor& d = descriptors_.at(n);
    abi::Received r;
    r.tid(d.tid());
    r.buffer(next_buffer_++ & 0xfffu);
    r.mgmt_class(d.mgmt_class());
    r.port(d.port());
    r.qp(d.qp());
    r.response(true);
    change(r);
    board_.received(r, now_);
    engine_.received(r, now_);
  }
  void respond(SendName n) {
    respond(n, [](abi::Received&) {});
  }

  // --------------------------------------------------------------------------------------------- results
  /// How a send ended, if it has.
  std::optional<abi::Status> outcome(SendName n) const {
    const auto found = outcomes_.find(n);
    return found == outcomes_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Everything that came up the completion ring.
  const std::vector<abi::Completion>& log() const { return log_; }
  const std::vector<abi::Transmit>& transmitted() const { return transmitted_; }
  /// Entries of this kind that name the send.
  unsigned entries(SendName n, abi::CompletionKind kind) const {
    return static_cast<unsigned>(std::count_if(log_.begin(), log_.end(), [&](const abi::Completion& c) {
      return c.kind() == kind && c.slot() == n.slot && c.generation() == n.generation;
    }));
  }
  unsigned completions(SendName n) const {
    return entries(n, abi::CompletionKind::send) + entries(n, abi::CompletionKind::response_send);
  }
  unsigned responses(SendName n) const {
    return entries(n, abi::CompletionKind::response) + entries(n, abi::CompletionKind::response_send);
  }
  unsigned tries(SendName n) const {
    return static_cast<unsigned>(std::count_if(transmitted_.begin(), transmitted_.end(), [&](const abi::Transmit& t) {
      return t.slot() == n.slot && t.generation() == n.generation;
    }));
  }
  /// Agents whose flush is done, in that order.
  const std::vector<uint32_t>& flushed() const { return flushed_; }
  const std::vector<abi::Cause>& drops() const { return drops_; }
  uint32_t unsolicited() const { return unsolicited_; }

  /// The ring entry of a descriptor that was fetched is the host's again: writes over all of them.
  void scribble_on_rings() {
    for (auto& ring : rings_) ring.fill(abi::Descriptor{});
  }

  /// Brings everything to its end and lets the scoreboard judge it: flushes the agents, drains the lanes.
  void finish(const std::vector<uint32_t>& agents) {
    for (uint16_t lane = 0; lane < Lanes; ++lane) close(lane);
    for (const uint32_t agent : agents) flush(agent);
    settle();
    while (!wire_.empty()) {
      sent_all();
      settle();
    }
    board_.finish(now_);
    EXPECT_EQ(board_.outstanding(), 0u);
  }

  /// The device is reset; the host forgets too.
  void reset() {
    engine_.reset();
    board_.reset();
    std::fill(generations_.begin(), generations_.end(), 0);
    std::fill(used_.begin(), used_.end(), false);
    wire_.clear();
    posted_ = {};
    now_ = 0;
    for (uint32_t lane = 0; lane < Lanes; ++lane) engine_.set_ring(lane, rings_[lane]);
  }

 private:
  static constexpr uint32_t kRing = 256;
  static constexpr unsigned kManyRounds = 100000;

  bool give(const abi::Command& c) {
    board_.command(c, now_);
    return engine_.command(c, now_);
  }
  abi::Command about(abi::CommandKind kind, SendName n, uint32_t ticks) const {
    abi::Command c;
    c.kind(kind);
    c.slot(n.slot);
    c.generation(n.generation);
    const auto posted = descriptors_.find(n);
    c.agent(posted == descriptors_.end() ? 0 : posted->second.agent());
    c.ticks(ticks);
    return c;
  }
  std::optional<uint16_t> free_slot(uint32_t bank) const {
    for (uint32_t slot = bank; slot < Engine::kSlots; slot += Engine::kBanks) {
      if (!used_[slot]) return static_cast<uint16_t>(slot);
    }
    return std::nullopt;
  }

  void on_transmit(const abi::Transmit& t) {
    board_.transmitted(t, now_);
    wire_.push_back(t);
    transmitted_.push_back(t);
  }
  void on_completion(const abi::Completion& c) {
    board_.completion(c);
    log_.push_back(c);
    if (c.kind() == abi::CompletionKind::send || c.kind() == abi::CompletionKind::response_send) {
      outcomes_[{c.slot(), c.generation()}] = c.status();
      used_[c.slot()] = false;
      ++generations_[c.slot()];
    }
    if (c.kind() == abi::CompletionKind::flush_done) flushed_.push_back(c.agent());
    if (c.kind() == abi::CompletionKind::unsolicited) ++unsolicited_;
  }
  void on_drop(const abi::Action& a) {
    board_.dropped(a.buffer(), now_);
    drops_.push_back(a.cause());
  }

  Sink sink_{this};
  Scoreboard board_;
  Engine engine_;
  uint32_t now_ = 0;
  std::vector<uint16_t> generations_;
  std::vector<bool> used_;
  std::array<std::array<abi::Descriptor, kRing>, Lanes> rings_{};
  std::array<uint32_t, Lanes> posted_{};
  uint32_t next_tid_ = 1;
  uint16_t next_buffer_ = 0;
  std::deque<abi::Transmit> wire_;
  std::vector<abi::Completion> log_;
  std::vector<abi::Transmit> transmitted_;
  std::map<SendName, abi::Descriptor> descriptors_;
  std::map<SendName, abi::Status> outcomes_;
  std::vector<uint32_t> flushed_;
  std::vector<abi::Cause> drops_;
  uint32_t unsolicited_ = 0;
};

}  // namespace tidemill::test
