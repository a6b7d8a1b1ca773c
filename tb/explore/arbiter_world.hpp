// SPDX-License-Identifier: Apache-2.0
/// A send arbiter of three lanes with what host, banks and wire around it know, and the rules that it keeps.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "explorer.hpp"
#include "hls/arbiter_memory.hpp"
#include "hls/send_arbiter.hpp"

namespace tidemill::explore {

inline constexpr const char* kGrantOwed = "a grant goes out while a lane may go";
inline constexpr const char* kGrantLegal =
    "only a lane with work, window and wire credit is granted, or one that drains";
inline constexpr const char* kStrictClass = "no lane goes before one of a higher service class";
inline constexpr const char* kQpTurns = "the queue pairs of a service class take turns";
inline constexpr const char* kDrainTurns = "draining takes every other grant while other lanes may go";
inline constexpr const char* kShare = "a lane's turn lasts as many grants as its weight";
inline constexpr const char* kWaitBound = "a listed lane waits no longer than the stated bound";
inline constexpr const char* kMore = "more says whether a grant is possible";
inline constexpr const char* kLaneRefuses = "a lane in the wrong state refuses, and only then";
inline constexpr const char* kLaneState = "a lane's work, window and weight are what its events add up to";
inline constexpr const char* kWireConserved = "a grant takes one wire credit, draining takes none";
inline constexpr const char* kListed = "a lane stands in the list of its state, once, and in no other";

struct LanePlan {
  bool qp = true;
  uint8_t service_class = 0;
  uint8_t weight = 1;
  uint16_t window = 0;
};

struct ArbiterPlan {
  std::array<std::vector<LanePlan>, 3> lanes{};  ///< What each lane may be opened or weighed with.
  bool reconfigures = true;   ///< Lanes open, close and change weight; else they are open with the first.
  uint8_t pending = 2;        ///< Most descriptors waiting in a lane.
  uint8_t credit = 2;         ///< Most wire credits of a QP.
  bool counts_waits = false;  ///< Of lane 0, against the stated bound.
};

class ArbiterWorld {
 public:
  static constexpr uint32_t kLanes = 3, kClasses = 4;
  using Memory = hls::ArbiterMemory<hls::ArbiterConfig<kLanes>>;
  using Kind = abi::ArbiterKind;

  /// What the environment knows of a lane.
  struct Lane {
    bool open = false, closing = false, qp = false;
    uint8_t service_class = 0, weight = 0, window = 0, pending = 0, in_use = 0;

    bool drains() const { return open && closing && pending != 0; }
    bool listed() const { return open && !closing && pending != 0 && (window == 0 || in_use < window); }
  };
  struct Turn {
    uint8_t lane = 0, left = 0;  ///< Grants left to the lane.
  };
  struct State {
    hls::SendArbiter<Memory> arbiter;
    std::array<Lane, kLanes> lanes{};
    std::array<Turn, kClasses * 2> turns{};
    std::array<uint8_t, 2> credit{};
    std::array<uint8_t, kClasses> served{};  ///< QP served last, plus 1.
    uint8_t drained = 0;
    uint8_t waits = 0;
  };

  explicit ArbiterWorld(const ArbiterPlan& plan) : plan_(plan) {}

  Edge step(State& state, const abi::ArbiterEvent& e) const {
    const abi::ArbiterAction a = state.arbiter.step(e);
    Edge edge;
    if (e.kind() == Kind::grant) {
      edge.broken = granted(state, a);
    } else if (e.kind() == Kind::wire_credit) {
      state.credit[e.qp()] = static_cast<uint8_t>(state.credit[e.qp()] + e.count());
    } else {
      bool taken = false;
      if (e.lane() < kLanes) {
        Lane& l = state.lanes[e.lane()];
        const Lane old = l;
        taken = takes(l, e);
        // Who leaves a list gives up the rest of its turn.
        Turn& turn = state.turns[list_of(old)];
        if (old.listed() && (!l.listed() || list_of(l) != list_of(old)) && turn.lane == e.lane()) turn = {};
        if (e.lane() == 0 && !l.listed()) state.waits = 0;
      }
      edge.changes_nothing = !taken;
      if (a.rejected() == taken) edge.broken = kLaneRefuses;
    }
    bool more = false;
    for (const Lane& l : state.lanes) more |= may_go(state, l) || l.drains();
    if (edge.broken == nullptr && a.more() != more) edge.broken = kMore;
    return edge;
  }

  const char* check(const State& s) const {
    const Memory& m = s.arbiter.memory();
    for (uint32_t qp = 0; qp < 2; ++qp)
      if (m.wire_credit(qp) != s.credit[qp]) return kWireConserved;
    std::array<uint32_t, kLanes> found{};
    const uint32_t drain_list = kClasses * 2;
    for (uint32_t list = 0; list <= drain_list; ++list) {
      const uint32_t sentinel = kLanes + list;
      uint32_t row = sentinel, steps = 0;
      while ((m.next(row) ^ row) != sentinel && steps++ <= kLanes) {
        const uint32_t lane = m.next(row) ^ row;
        if (lane >= kLanes || (m.prev(lane) ^ lane) != row) return kListed;
        const Lane& l = s.lanes[lane];
        if (list == drain_list ? !l.drains() : !(l.listed() && list_of(l) == list)) return kListed;
        ++found[lane];
        row = lane;
      }
      if ((m.prev(sentinel) ^ sentinel) != row) return kListed;
    }
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const Lane& l = s.lanes[lane];
      if (found[lane] != (l.listed() || l.drains() ? 1u : 0u)) return kListed;
      abi::LaneState state;
      state.w0 = m.lane_low(lane);
      state.w1 = m.lane_high(lane);
      const Turn& turn = s.turns[list_of(l)];
      const uint8_t left = l.listed() && turn.lane == lane ? turn.left : uint8_t{0};
      if (state.pending() != l.pending || state.in_use() != l.in_use || state.open() != l.open ||
          state.closing() != l.closing || state.weight() != l.weight || state.window() != l.window ||
          (l.listed() && state.deficit() != left))
        return kLaneState;
    }
    return nullptr;
  }

 private:
  static uint32_t list_of(const Lane& l) { return l.service_class * 2u + l.qp; }
  static bool may_go(const State& s, const Lane& l) { return l.listed() && s.credit[l.qp] != 0; }
  static bool class_may_go(const State& s, uint8_t service_class, int qp = -1) {
    for (const Lane& l : s.lanes)
      if (may_go(s, l) && l.service_class == service_class && (qp < 0 || l.qp == (qp != 0))) return true;
    return false;
  }
  static bool higher_may_go(const State& s, uint8_t service_class) {
    for (uint8_t c = 0; c < service_class; ++c)
      if (class_may_go(s, c)) return true;
    return false;
  }

  /// What a lane makes of an event, by the rules; false if it refuses.
  bool takes(Lane& l, const abi::ArbiterEvent& e) const {
    switch (e.kind()) {
      case Kind::doorbell:
        if (l.open) l.pending = static_cast<uint8_t>(l.pending + e.count());
        return l.open;
      case Kind::window_credit:
        if (l.in_use == 0) return false;
        --l.in_use;
        return true;
      case Kind::open_lane:
        if ((l.open && !l.closing) || l.pending != 0 || e.weight() == 0) return false;
        l = {.open = true,
             .qp = e.qp(),
             .service_class = e.service_class(),
             .weight = e.weight(),
             .window = static_cast<uint8_t>(e.count()),
             .in_use = l.in_use};
        return true;
      case Kind::close_lane:
        if (l.open) l.closing = true;
        return l.open;
      case Kind::weigh_lane:
        if (!l.open || e.weight() == 0) return false;
        l.weight = e.weight();
        l.window = static_cast<uint8_t>(e.count());
        return true;
      default:
        return false;
    }
  }

  /// Others of lane 0's list by their weights before it; as many of the other QP and one more; a drain before each of
  /// these and before its own.
  uint32_t wait_bound(const State& s) const {
    uint32_t others = 0;
    for (uint32_t lane = 1; lane < kLanes; ++lane) {
      uint8_t heaviest = 0;
      for (const LanePlan& p : plan_.lanes[lane])
        if (p.qp == s.lanes[0].qp && p.service_class == s.lanes[0].service_class)
          heaviest = std::max(heaviest, p.weight);
      others += heaviest;
    }
    return 4 * others + 3;
  }

  const char* granted(State& s, const abi::ArbiterAction& a) const {
    bool drain_waits = false, any_may_go = false;
    for (const Lane& l : s.lanes) {
      drain_waits |= l.drains();
      any_may_go |= may_go(s, l);
    }
    if (!a.granted()) return drain_waits || any_may_go ? kGrantOwed : nullptr;
    if (a.lane() >= kLanes) return kGrantLegal;
    Lane& l = s.lanes[a.lane()];
    if (a.drain() ? !l.drains() : !may_go(s, l)) return kGrantLegal;
    if (a.qp() != l.qp || a.counted() != (!a.drain() && l.window != 0)) return kGrantLegal;
    if (drain_waits && any_may_go && a.drain() == (s.drained != 0)) return kDrainTurns;

    const bool first_waits = a.lane() != 0 && may_go(s, s.lanes[0]) && !higher_may_go(s, s.lanes[0].service_class);
    if (plan_.counts_waits && first_waits && ++s.waits > wait_bound(s)) return kWaitBound;
    if (a.lane() == 0) s.waits = 0;

    s.drained = a.drain();
    --l.pending;
    if (a.drain()) return nullptr;
    if (higher_may_go(s, l.service_class)) return kStrictClass;
    uint8_t& served = s.served[l.service_class];
    if (served == l.qp + 1 && class_may_go(s, l.service_class, !l.qp)) return kQpTurns;
    served = static_cast<uint8_t>(l.qp + 1);

    Turn& turn = s.turns[list_of(l)];
    if (turn.left != 0 && turn.lane != a.lane()) return kShare;
    turn.left = static_cast<uint8_t>((turn.left != 0 ? turn.left : l.weight) - 1);
    turn.lane = static_cast<uint8_t>(a.lane());
    --s.credit[l.qp];
    l.in_use = static_cast<uint8_t>(l.in_use + (a.counted() ? 1 : 0));
    if (turn.left == 0 || !l.listed()) turn = {};
    return nullptr;
  }

  const ArbiterPlan& plan_;
};

}  // namespace tidemill::explore
