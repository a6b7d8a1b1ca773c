// SPDX-License-Identifier: Apache-2.0
#include "watched_engine.hpp"

#include <algorithm>

namespace tidemill::soak {
namespace {

constexpr size_t kMostViolations = 8;
constexpr uint32_t kBudget = 256;
/// Budgets an engine may use up at one tick: a matcher that stays full makes work without end.
constexpr unsigned kRounds = 4;
/// Sends the scoreboard may look at for each tick, on average.
constexpr uint32_t kLookAtSlots = 1024;

}  // namespace

WatchedEngine::WatchedEngine(const Options& options, const EngineMaker& make, Sink& sink)
    : sink_(sink),
      board_({.report = [this](const std::string& text) { violation(text); },
              .wire_credit = {kWireCredit, kWireCredit},
              .matcher_has_room = options.size == Size::card}),
      engine_(make(options, *this)) {}

void WatchedEngine::violation(std::string text) {
  if (violations_.size() < kMostViolations) violations_.push_back(std::move(text));
}

void WatchedEngine::accepted(const abi::Descriptor& d, uint32_t now) {
  now_ = now;
  board_.accepted(d, now);
}
void WatchedEngine::doorbell(uint32_t lane, uint16_t count) {
  if (!engine_->doorbell(lane, count))
    violation("I1: a doorbell of lane " + std::to_string(lane) + " was refused, though the lane is open");
}
bool WatchedEngine::command(const abi::Command& c, uint32_t now) {
  now_ = now;
  if (c.kind() != abi::CommandKind::open_lane) board_.command(c, now);
  const bool taken = engine_->command(c, now);
  if (taken && c.kind() == abi::CommandKind::open_lane) board_.command(c, now);
  return taken;
}
void WatchedEngine::sent(const abi::Sent& s, uint32_t now) {
  now_ = now;
  board_.sent(s, now);
  engine_->sent(s, now);
}
void WatchedEngine::received(const abi::Received& r, uint32_t now) {
  now_ = now;
  board_.received(r, now);
  engine_->received(r, now);
}

bool WatchedEngine::settle(uint32_t now) {
  now_ = now;
  const auto timers_due = [&] { return hls::Tracker::reached(now, engine_->wake(now)); };
  const uint32_t budget = std::min(kBudget, engine_->slots() / 4);
  bool more = true;
  for (unsigned round = 0; more && (round < kRounds || timers_due()); ++round) more = engine_->step(now, budget);
  // The scoreboard looks at every send then, so not at every tick.
  const bool look = ++settled_ % std::max(1u, engine_->slots() / kLookAtSlots) == 0;
  if (!more && look) board_.idle(now);
  return !more;
}

void WatchedEngine::finish(uint32_t now) {
  board_.finish(now);
  for (const std::string& text : engine_->left_over()) violation("conservation: at the end " + text);
}

void WatchedEngine::transmit(const abi::Transmit& t) {
  board_.transmitted(t, now_);
  sink_.transmit(t);
}
void WatchedEngine::complete(const abi::Completion& c) {
  board_.completion(c);
  sink_.complete(c);
}
void WatchedEngine::drop(const abi::Action& a) {
  board_.dropped(a.buffer(), now_);
  sink_.drop(a);
}

}  // namespace tidemill::soak
