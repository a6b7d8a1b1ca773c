// SPDX-License-Identifier: Apache-2.0
/// Send arbiter: which lane may transmit next. Service classes in strict order; inside a class the two QPs alternate
/// and the lanes of each are served by deficit round robin (a MAD costs one, so a lane sends up to `weight` in a row).
///
/// O(1) a grant for any number of lanes: a lane stands in the active list of its class and QP exactly while it is open,
/// has descriptors and a free window slot. Every event recomputes that for its lane, so no wake-up can be lost: a
/// doorbell or credit either finds the lane listed or lists it. A closing lane stands in the drain list instead; draining
/// needs no credit and takes at most every other grant.
/// Bound: while no higher class has work and its QP has credit, a listed lane waits for at most 4 W + 3 grants, W the sum
/// of the other weights in its list: before each of its list's turns one of the other QP, before each of these a drain.
/// Source: Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin" (1995).
#pragma once
#include "linked_list.hpp"
#include "lowest_bit.hpp"
#include "tidemill/abi.hpp"

namespace tidemill::hls {

template <class Memory>
class SendArbiter {
 public:
  using Config = typename Memory::Config;
  using Event = abi::ArbiterEvent;
  using Action = abi::ArbiterAction;
  static constexpr unsigned kClasses = 4;
  static constexpr unsigned kQps = 2;

  [[gnu::always_inline]] inline Action step(const Event& e) {
    Action a;
    a.lane(e.lane());
    if (e.kind() == abi::ArbiterKind::grant) {
      grant(a);
    } else if (e.kind() == abi::ArbiterKind::wire_credit) {
      memory_.wire_credit(e.qp(), memory_.wire_credit(e.qp()) + e.count());
    } else {
      a.rejected(!on_lane(e));
    }
    a.more((grantable() != 0) | draining());
    return a;
  }

  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }

 private:
  using List = LinkedList<Memory>;
  using Lane = abi::LaneState;
  static constexpr uint32_t kActiveLists = kClasses * kQps;
  static constexpr uint32_t kDrainList = Config::kLanes + kActiveLists;
  static constexpr uint32_t kNoList = 0xffffffffu;
  static constexpr uint32_t kOfQp0 = 0x55u;  ///< Active lists of QP0, as bits in their order.

  /// doorbell, window credit, open, close, weigh: false if the lane cannot take it.
  [[gnu::always_inline]] inline bool on_lane(const Event& e) {
    if (e.lane() >= Config::kLanes) return false;
    const Lane old = load(e.lane());
    const auto links = List::neighbours(memory_, e.lane());
    Lane lane = old;
    const bool reopens = !old.open() | old.closing();
    switch (e.kind()) {
      case abi::ArbiterKind::doorbell:
        if (!old.open()) return false;
        lane.pending(old.pending() + e.count());
        break;
      case abi::ArbiterKind::window_credit:
        if (old.in_use() == 0) return false;
        lane.in_use(static_cast<uint16_t>(old.in_use() - 1u));
        break;
      case abi::ArbiterKind::open_lane:
        if (!reopens | (old.pending() != 0) | (e.weight() == 0)) return false;
        lane.qp(e.qp());
        lane.service_class(e.service_class());
        lane.weight(e.weight());
        lane.window(e.count());
        lane.open(true);
        lane.closing(false);
        break;
      case abi::ArbiterKind::close_lane:
        if (!old.open()) return false;
        lane.closing(true);
        break;
      case abi::ArbiterKind::weigh_lane:
        if (!old.open() | (e.weight() == 0)) return false;
        lane.weight(e.weight());
        lane.window(e.count());
        break;
      default: return false;
    }
    relist(e.lane(), links, list_of(old), lane);
    return true;
  }

  [[gnu::always_inline]] inline void grant(Action& a) {
    const uint32_t list = ready();
    if (list == kNoList) return;
    const uint32_t number = List::first(memory_, list);
    Lane lane = load(number);
    const auto links = List::neighbours(memory_, number);
    const bool drain = list == kDrainList, counted = !drain & (lane.window() != 0);
    const uint32_t turn = lane.deficit() != 0 ? lane.deficit() : lane.weight();
    lane.deficit(static_cast<uint8_t>(turn - 1u));
    lane.pending(lane.pending() - 1u);
    lane.in_use(static_cast<uint16_t>(lane.in_use() + (counted ? 1u : 0u)));
    if (!drain) {
      memory_.wire_credit(lane.qp(), memory_.wire_credit(lane.qp()) - 1u);
      memory_.turn(lane.service_class(), !lane.qp());
    }
    memory_.drained_last(drain);
    // The end of a turn: to the tail, by way of no list.
    if (lane.deficit() == 0) {
      List::remove_linked_if(memory_, true, links);
      relist(number, links, kNoList, lane);
    } else {
      relist(number, links, list, lane);
    }
    a.lane(static_cast<uint16_t>(number));
    a.granted(true);
    a.drain(drain);
    a.counted(counted);
    a.qp(lane.qp());
  }

  /// Active lists that may be served because their QP has credit: a bit for each.
  [[gnu::always_inline]] inline uint32_t grantable() const {
    const uint32_t of_qp0 = memory_.wire_credit(0) != 0 ? kOfQp0 : 0u, of_qp1 = memory_.wire_credit(1) != 0 ? kOfQp0 << 1 : 0u;
    return memory_.listed() & (of_qp0 | of_qp1);
  }
  [[gnu::always_inline]] inline bool draining() const { return (memory_.listed() >> kActiveLists) != 0; }

  /// The list to serve now, or kNoList.
  [[gnu::always_inline]] inline uint32_t ready() const {
    const uint32_t lists = grantable();
    const uint32_t service_class = lowest_bit(lists) / kQps, pair = (lists >> (service_class * kQps)) & 3u;
    const uint32_t qp = pair == 3u ? memory_.turn(service_class) : pair >> 1;
    const bool any = lists != 0;
    return (draining() & (!any | !memory_.drained_last())) ? kDrainList : any ? active_list(service_class, qp) : kNoList;
  }
  [[gnu::always_inline]] static constexpr uint32_t active_list(unsigned service_class, unsigned qp) {
    return Config::kLanes + service_class * kQps + qp;
  }

  /// Where a lane in this state belongs.
  [[gnu::always_inline]] static uint32_t list_of(const Lane& lane) {
    const bool window = (lane.window() == 0) | (lane.in_use() < lane.window());
    const bool work = lane.open() & (lane.pending() != 0);
    return !work          ? kNoList
         : lane.closing() ? kDrainList
         : window         ? active_list(lane.service_class(), lane.qp())
                          : kNoList;
  }
  [[gnu::always_inline]] inline void relist(uint32_t number, const typename List::Neighbours& links, uint32_t from, Lane lane) {
    const uint32_t to = list_of(lane);
    if (from != to) {
      if (from != kNoList) List::remove_linked_if(memory_, true, links);
      if (to != kNoList) List::append(memory_, to, number);
      lane.deficit(0);
    }
    memory_.lane_low(number, lane.w0);
    memory_.lane_high(number, lane.w1);
  }
  [[gnu::always_inline]] inline Lane load(uint32_t number) const {
    Lane lane;
    lane.w0 = memory_.lane_low(number);
    lane.w1 = memory_.lane_high(number);
    return lane;
  }

  Memory memory_;
};

}  // namespace tidemill::hls
