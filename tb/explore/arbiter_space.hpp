// SPDX-License-Identifier: Apache-2.0
/// The state space of a send arbiter for one plan: every event, legal or not, in every state.
#pragma once
#include "arbiter_world.hpp"

namespace tidemill::explore {

class ArbiterSpace {
 public:
  using State = ArbiterWorld::State;
  using Lane = ArbiterWorld::Lane;
  using Kind = ArbiterWorld::Kind;
  using Memory = ArbiterWorld::Memory;
  static constexpr uint32_t kLanes = ArbiterWorld::kLanes, kClasses = ArbiterWorld::kClasses;

  explicit ArbiterSpace(ArbiterPlan plan) : plan_(std::move(plan)) { list_events(); }

  const ArbiterPlan& plan() const { return plan_; }
  size_t events() const { return steps_.size(); }
  std::string label(size_t event) const { return steps_[event].label; }
  State initial() const {
    State state;
    for (uint8_t lane = 0; lane < kLanes && !plan_.reconfigures; ++lane)
      ArbiterWorld(plan_).step(state, configure(Kind::open_lane, lane, plan_.lanes[lane].front()));
    return state;
  }
  Edge apply(State& state, size_t event) const {
    const abi::ArbiterEvent& e = steps_[event].event;
    const bool on_lane = e.lane() < kLanes;
    if (e.kind() == Kind::doorbell && on_lane && state.lanes[e.lane()].pending >= plan_.pending)
      return {.applicable = false};
    if (e.kind() == Kind::wire_credit && state.credit[e.qp()] >= plan_.credit) return {.applicable = false};
    return ArbiterWorld(plan_).step(state, e);
  }
  void normalise(State&) const {}

  const char* check(const State& state) const { return ArbiterWorld(plan_).check(state); }

  template <class Sink>
  void feed(const State& s, Sink& sink) const {
    const Memory& m = s.arbiter.memory();
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      sink(m.lane_low(lane));
      sink(m.lane_high(lane));
      const Lane& l = s.lanes[lane];
      sink(uint64_t{l.open} | uint64_t{l.closing} << 1 | uint64_t{l.qp} << 2 | uint64_t{l.service_class} << 3 |
           uint64_t{l.weight} << 8 | uint64_t{l.window} << 16 | uint64_t{l.pending} << 24 | uint64_t{l.in_use} << 32);
    }
    for (uint32_t row = 0; row < Memory::Config::kLinkRows; ++row) sink((uint64_t{m.next(row)} << 32) | m.prev(row));
    for (const ArbiterWorld::Turn& t : s.turns) sink(uint64_t{t.lane} << 8 | t.left);
    for (uint32_t qp = 0; qp < 2; ++qp) sink((uint64_t{m.wire_credit(qp)} << 32) | s.credit[qp]);
    for (uint32_t c = 0; c < kClasses; ++c) sink((uint64_t{m.turn(c)} << 32) | s.served[c]);
    sink(uint64_t{m.drained_last()} << 32 | uint64_t{s.drained} << 8 | s.waits);
  }
  std::string describe(const State& s) const {
    std::string text = "credits " + std::to_string(s.credit[0]) + " " + std::to_string(s.credit[1]);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const Lane& l = s.lanes[lane];
      text += " | lane " + std::to_string(lane) +
              (!l.open     ? " closed"
               : l.closing ? " closing"
                           : " open") +
              " pending " + std::to_string(l.pending) + " in use " + std::to_string(l.in_use) + "/" +
              std::to_string(l.window);
    }
    return text;
  }

 private:
  struct Step {
    abi::ArbiterEvent event;
    std::string label;
  };

  static abi::ArbiterEvent configure(Kind kind, uint8_t lane, const LanePlan& p) {
    abi::ArbiterEvent e;
    e.kind(kind);
    e.lane(lane);
    e.qp(p.qp);
    e.service_class(p.service_class);
    e.weight(p.weight);
    e.count(p.window);
    return e;
  }
  void list_events() {
    const auto add = [this](const abi::ArbiterEvent& e, std::string label) { steps_.push_back({e, std::move(label)}); };
    add({}, "grant");
    for (const bool qp : {false, true}) {
      abi::ArbiterEvent e;
      e.kind(Kind::wire_credit);
      e.qp(qp);
      e.count(1);
      add(e, std::string("wire credit of QP") + (qp ? "1" : "0"));
    }
    for (uint8_t lane = 0; lane < kLanes; ++lane) {
      const std::string where = " lane " + std::to_string(lane);
      abi::ArbiterEvent e = configure(Kind::doorbell, lane, {.window = 1});
      add(e, "doorbell of" + where);
      if (plan_.pending > 1) {
        e.count(plan_.pending);
        add(e, "doorbell of" + where + " for " + std::to_string(plan_.pending));
      }
      add(configure(Kind::window_credit, lane, {}), "window credit of" + where);
      if (!plan_.reconfigures) continue;
      add(configure(Kind::close_lane, lane, {}), "close" + where);
      add(configure(Kind::open_lane, lane, {.weight = 0}), "open without weight" + where);
      add(configure(Kind::weigh_lane, lane, {.weight = 0}), "weigh to nothing" + where);
      for (const LanePlan& p : plan_.lanes[lane]) {
        const std::string setup = where + " on QP" + (p.qp ? "1" : "0") + " class " + std::to_string(p.service_class) +
                                  " weight " + std::to_string(p.weight) + " window " + std::to_string(p.window);
        add(configure(Kind::open_lane, lane, p), "open" + setup);
        add(configure(Kind::weigh_lane, lane, p), "weigh" + setup);
      }
    }
    for (const Kind kind : {Kind::doorbell, Kind::window_credit, Kind::open_lane, Kind::close_lane, Kind::weigh_lane})
      add(configure(kind, kLanes, {.window = 1}), std::string(abi::name_of(kind)) + " of a lane that does not exist");
  }

  ArbiterPlan plan_;
  std::vector<Step> steps_;
};

}  // namespace tidemill::explore
