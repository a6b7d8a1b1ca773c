// SPDX-License-Identifier: Apache-2.0
/// The state space of a bank with its environment, for one plan.
///
/// States are normalised: generations start over, times are kept within one period of the timeout wheel, deadlines that
/// have passed are one tick old, and fields that no longer count hold `dead_bits`. None of it may change what the bank
/// does; other bases and dead bits must give the same number of states, and raw walks must stay inside them.
#pragma once
#include <stdexcept>

#include "bank_events.hpp"
#include "bank_structure.hpp"

namespace tidemill::explore {

/// What the bank has answered so far: a plan that never meets an answer shows nothing about it.
struct Answers {
  std::array<uint64_t, abi::kActionKindCount> kinds{};
  std::array<uint64_t, abi::kStatusCount> statuses{};  ///< Of completions.
  std::array<uint64_t, abi::kCauseCount> causes{};
  uint64_t requeued = 0;
  uint64_t refunded = 0;  ///< Grants and descriptors whose wire credit came back.

  void count(const abi::Action& a) {
    ++kinds[static_cast<unsigned>(a.kind())];
    ++causes[static_cast<unsigned>(a.cause())];
    if (a.kind() == abi::ActionKind::complete || a.kind() == abi::ActionKind::respond_complete)
      ++statuses[static_cast<unsigned>(a.status())];
    requeued += a.retry_queued();
    refunded += a.wire_credit();
  }
};

template <class Memory_>
class BankSpace {
 public:
  using Memory = Memory_;
  using Config = typename Memory::Config;
  using Bank = hls::Bank<Memory>;
  using Judge = BankJudge<Memory>;
  using Queue = hls::RetryQueue<Memory>;
  struct State {
    Bank bank;
    Shadow<Config::kSlots> shadow;
  };

  explicit BankSpace(Plan plan) : plan_(std::move(plan)), sends_(plan_.sends), steps_(EventList(plan_).take()) {
    for (uint32_t i = 0; i < plan_.crowd; ++i) sends_.push_back({.agent = 9, .tid_low = i});
  }

  const Plan& plan() const { return plan_; }
  const Answers& answers() const { return answers_; }
  size_t events() const { return steps_.size(); }

  State initial() const {
    State state;
    const uint32_t first = Config::kSlots - plan_.crowd;
    for (uint32_t i = 0; i < plan_.crowd; ++i) {
      const auto send = static_cast<uint8_t>(plan_.sends.size() + i);
      abi::Event e;
      e.kind(abi::EventKind::descriptor);
      put_send(e, sends_[send]);
      e.slot(static_cast<uint16_t>(first + i));
      require(issue(state, e, send));
    }
    for (const uint8_t member : plan_.crowd_over) {
      abi::Event e;
      e.kind(abi::EventKind::sent);
      e.slot(static_cast<uint16_t>(first + member));
      e.status(abi::Status::error);
      require(issue(state, e, 0));
    }
    normalise(state);
    return state;
  }

  Edge apply(State& state, size_t event) const {
    const Step& step = steps_[event];
    if (step.passes_time) {
      if (state.shadow.now - state.bank.memory().wheel_now() >= plan_.lag) return {.applicable = false};
      ++state.shadow.now;
      return {};
    }
    abi::Event e = step.event;
    if (step.names_send)
      e.generation(
          static_cast<uint16_t>(state.shadow.sends[e.slot() % Config::kSlots].generation + step.event.generation()));
    return issue(state, e, step.send);
  }
  const char* check(const State& state) const {
    return BankStructure<Memory>(plan_.hash, state.bank.memory(), state.shadow).check();
  }
  std::string label(size_t event) const { return steps_[event].label; }

  std::string describe(const State& state) const {
    std::string text =
        "now " + std::to_string(state.shadow.now) + " wheel " + std::to_string(state.bank.memory().wheel_now());
    for (const uint8_t slot : plan_.slots) {
      const abi::SlotFlags f = Judge::flags(state.bank.memory(), slot);
      text +=
          " | slot " + std::to_string(slot) + " gen " + std::to_string(f.generation()) + " " + abi::name_of(f.state());
      if (f.placed()) text += " placed";
      if (f.armed()) text += " armed for " + std::to_string(state.bank.memory().due(slot));
      for (unsigned qp = 0; qp < 2; ++qp)
        if (Queue::holds(f, qp)) text += " in queue " + std::to_string(qp);
    }
    return text;
  }

  void normalise(State& state) const {
    auto& m = state.bank.memory();
    auto& shadow = state.shadow;
    const uint32_t shift = (m.wheel_now() - plan_.base) & ~(kPeriod - 1u);
    m.wheel_now(m.wheel_now() - shift);
    m.wake(m.wake() - shift);
    shadow.now -= shift;
    for (unsigned level = 1; level < Config::kLevels; ++level) {
      const unsigned unit = Config::kSpreadBits * level;
      m.spread_count(level, (m.spread_count(level) - (shift >> unit)) & (0xffffffffu >> unit));
    }
    const uint32_t passed = m.wheel_now() - 1u;
    for (uint32_t s = 0; s < Config::kSlots; ++s) {
      normalise_slot(m, s, shift, passed, shadow.sends[s].generation);
      ShadowSend& g = shadow.sends[s];
      g.generation = 0;
      const bool pending = g.stage != ShadowSend::Stage::idle && !g.dead();
      if (g.stage > ShadowSend::Stage::queued && sends_[g.send].timeout == 0) g.modified = false;
      g.deadline = pending & g.timed ? later(g.deadline - shift, passed) : 0;
      g.due = g.stage == ShadowSend::Stage::waiting ? later(g.due - shift, passed) : 0;
      g.override_wait = pending & g.modified ? g.override_wait : 0;
      if (pending) continue;
      g.timed = g.modified = false;
      g.wait = g.retries = g.recovery = 0;
    }
  }

  template <class Sink>
  void feed(const State& state, Sink& sink) const {
    const auto& m = state.bank.memory();
    for (const uint8_t s : plan_.slots) {
      sink(m.flags(s));
      sink(m.owner(s));
      sink(m.tid(s));
      sink(m.pace(s));
      sink(m.limits(s));
      sink(m.place(s));
      sink((uint64_t{m.due(s)} << 32) | m.retry_next(1, s) << 16 | m.retry_next(0, s));
      const ShadowSend& g = state.shadow.sends[s];
      sink(static_cast<uint64_t>(g.stage) | g.send << 3 | g.answered << 8 | g.cancelled << 9 | g.held << 10 |
           g.left << 11 | g.timed << 12 | g.modified << 13 | uint64_t{g.tries} << 16 | uint64_t{g.retries} << 24 |
           uint64_t{g.recovery} << 32 | uint64_t{g.agent} << 40);
      sink((uint64_t{g.wait} << 32) | g.override_wait);
      sink((uint64_t{g.due} << 32) | g.deadline);
    }
    for (uint32_t table = 0; table < 3; ++table)
      for (uint32_t row = 0; row < (table == 2 ? 1 : Config::kBuckets); ++row) {
        sink(m.bucket(table, row).low);
        sink(m.bucket(table, row).high);
      }
    static_assert(Config::kLinkRows % 2 == 0 && Config::kLinkRows <= 0x10000u);
    const auto links = [&m](uint32_t row) { return (uint64_t{m.next(row)} << 16) | m.prev(row); };
    for (uint32_t row = 0; row < Config::kLinkRows; row += 2) sink((links(row) << 32) | links(row + 1));
    for (uint32_t word = 0; word < Config::kLists >> Config::kSpreadBits; ++word) sink(m.busy(word));
    for (unsigned level = 1; level < Config::kLevels; ++level) sink(m.spread_count(level));
    sink((uint64_t{m.wheel_now()} << 32) | m.wake());
    sink(state.shadow.now);
    for (uint32_t qp = 0; qp < 2; ++qp) {
      const uint32_t count = m.retry_count(qp);
      sink(count == 0 ? 0 : (uint64_t{count} << 32) | m.retry_head(qp) << 16 | m.retry_tail(qp));
      for (uint32_t i = 0; i < state.shadow.retries[qp].count; ++i) sink(state.shadow.retries[qp].slot[i]);
      sink(state.shadow.retries[qp].count);
    }
  }

 private:
  /// Lists are reused after this many ticks: what the wheel does depends on the time modulo it.
  static constexpr uint32_t kPeriod = 1u << (Config::kListBits + Config::kSpreadBits * (Config::kLevels - 1));

  static constexpr uint32_t later(uint32_t a, uint32_t b) { return before(a, b) ? b : a; }

  /// The event as the shell issues it, again while the bank asks for it.
  Edge issue(State& state, abi::Event e, uint8_t send) const {
    e.now(state.shadow.now);
    e.hash(plan_.hash(e.tid()));
    const Memory before_event = state.bank.memory();
    abi::Event turn = e;
    abi::Action a = step_of(state.bank, turn);
    for (unsigned turns = 1; a.again() && e.kind() != abi::EventKind::flush; ++turns) {
      if (turns > 2 * hls::TidMatcher<Memory>::kEntries) return {.broken = kAgainEnds};
      if (a.wire_credit() || a.window_credit()) return {.broken = kWireCredit};
      turn.cursor(a.cursor());
      turn.cause(a.cause());
      turn.tid(a.tid());
      turn.hash(plan_.hash(a.tid()));
      a = step_of(state.bank, turn);
    }
    answers_.count(a);
    return Judge(sends_, plan_.hash, before_event, state.bank.memory(), state.shadow).judge(e, a, send);
  }

  void normalise_slot(Memory& m, uint32_t s, uint32_t shift, uint32_t passed,
                      uint16_t generation) const {
    abi::SlotFlags f = Judge::flags(m, s);
    const uint32_t dead = plan_.dead_bits;
    const bool free = f.state() == abi::SlotState::free, queued = f.state() == abi::SlotState::queued;
    const bool over = (f.state() == abi::SlotState::early) | (f.state() == abi::SlotState::cancelled);
    f.generation(static_cast<uint16_t>(f.generation() - generation));
    if (over) {
      f.timed(dead & 1u);
      f.modified(dead & 1u);
      f.retries(static_cast<uint8_t>(dead));
      f.recovery(static_cast<uint8_t>(dead));
    }
    const bool unanswered = !free & !queued & !f.expects();
    if (unanswered) f.modified(dead & 1u);
    m.flags(s, f.w0);

    abi::SlotLimits limits;
    limits.w0 = m.limits(s);
    const bool timed = f.timed() & !free & !over;
    limits.deadline(timed ? later(limits.deadline() - shift, passed) : dead);
    if (free | queued) limits.peer(dead);
    m.limits(s, limits.w0);

    abi::SlotPlace place;
    place.w0 = m.place(s);
    if (!f.placed()) place.location(dead);
    if (free | over | unanswered | !f.modified()) place.override_wait(dead);
    m.place(s, place.w0);

    abi::SlotOwner owner;
    owner.w0 = m.owner(s);
    if (free) owner.agent(dead);
    if (free | queued) {
      owner.lane(static_cast<uint16_t>(dead));
      owner.own_address(static_cast<uint16_t>(dead));
      owner.port(static_cast<uint8_t>(dead));
      m.tid(s, dead);
    }
    m.owner(s, owner.w0);
    if (free | queued | over | unanswered) m.pace(s, dead);

    m.due(s, f.armed() ? m.due(s) - shift : dead);
    if (!f.armed()) {
      m.next(s, dead);
      m.prev(s, dead);
    }
    for (unsigned qp = 0; qp < 2; ++qp) {
      const bool followed = Queue::holds(f, qp) & (m.retry_tail(qp) != s);
      if (!followed) m.retry_next(qp, s, dead);
    }
  }

  static void require(const Edge& edge) {
    if (edge.broken != nullptr) throw std::logic_error(edge.broken);
  }

  Plan plan_;
  std::vector<Send> sends_;  ///< The plan's and the crowd's.
  std::vector<Step> steps_;
  mutable Answers answers_;
};

}  // namespace tidemill::explore
