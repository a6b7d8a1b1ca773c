// SPDX-License-Identifier: Apache-2.0
/// The send arbiter alone: against a model with a deque for each lane and list, and against what must hold of any fair
/// arbiter, looked up by going through all lanes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <ostream>
#include <vector>

#include "arbiter_driver.hpp"

namespace tidemill::test {
namespace {

constexpr unsigned kLanes = 6;

struct Op {
  enum Kind { kGrant, kDoorbell, kWindowCredit, kWireCredit, kOpen, kClose, kWeigh } kind;
  uint32_t lane;
  bool qp;
  uint8_t service_class, weight;
  uint16_t count;

  LaneSetup setup() const { return {.qp = qp, .service_class = service_class, .weight = weight, .window = count}; }
};
std::ostream& operator<<(std::ostream& out, const Op& op) {
  static constexpr const char* kNames[] = {"grant", "doorbell", "window credit", "wire credit",
                                           "open",  "close",    "weigh"};
  return out << kNames[op.kind] << " lane " << op.lane << " qp " << op.qp << " class " << int{op.service_class}
             << " weight " << int{op.weight} << " count " << op.count;
}
rc::Gen<std::vector<Op>> ops() {
  const auto kind = rc::gen::weightedElement<Op::Kind>({{12, Op::kGrant},
                                                        {5, Op::kDoorbell},
                                                        {3, Op::kWindowCredit},
                                                        {3, Op::kWireCredit},
                                                        {3, Op::kOpen},
                                                        {1, Op::kClose},
                                                        {1, Op::kWeigh}});
  const auto op =
      rc::gen::build<Op>(rc::gen::set(&Op::kind, kind), rc::gen::set(&Op::lane, rc::gen::inRange(0u, kLanes + 1u)),
                         rc::gen::set(&Op::qp), rc::gen::set(&Op::service_class, rc::gen::inRange<uint8_t>(0, 4)),
                         rc::gen::set(&Op::weight, rc::gen::inRange<uint8_t>(0, 5)),
                         rc::gen::set(&Op::count, rc::gen::inRange<uint16_t>(0, 6)));
  return rc::gen::scale(5.0, rc::gen::container<std::vector<Op>>(op));
}

/// What is known of a lane: the descriptors in its ring, by number, and its limits.
struct Lane {
  std::deque<uint32_t> ring;
  uint32_t posted = 0, in_use = 0, window = 0, weight = 0, max_weight = 0, service_class = 0;
  bool qp = false, open = false, closing = false;

  bool has_work() const { return open && !ring.empty(); }
  bool has_window() const { return window == 0 || in_use < window; }
};

/// All lanes and credits; false from a member means that the arbiter has to reject the event.
struct World {
  std::array<Lane, kLanes> lanes;
  std::array<uint32_t, 2> wire{};

  bool doorbell(const Op& op) {
    if (op.lane >= kLanes || !lanes[op.lane].open) return false;
    for (unsigned i = 0; i < op.count; ++i) lanes[op.lane].ring.push_back(lanes[op.lane].posted++);
    return true;
  }
  bool window_credit(const Op& op) {
    if (op.lane >= kLanes || lanes[op.lane].in_use == 0) return false;
    --lanes[op.lane].in_use;
    return true;
  }
  bool open(const Op& op) {
    if (op.lane >= kLanes || op.weight == 0) return false;
    Lane& lane = lanes[op.lane];
    if ((lane.open && !lane.closing) || !lane.ring.empty()) return false;
    lane.qp = op.qp;
    lane.service_class = op.service_class;
    lane.open = true;
    lane.closing = false;
    limit(lane, op);
    return true;
  }
  bool close(const Op& op) {
    if (op.lane >= kLanes || !lanes[op.lane].open) return false;
    lanes[op.lane].closing = true;
    return true;
  }
  bool weigh(const Op& op) {
    if (op.lane >= kLanes || !lanes[op.lane].open || op.weight == 0) return false;
    limit(lanes[op.lane], op);
    return true;
  }
  /// A lane that may transmit now, and one that may drain.
  bool may_go(const Lane& lane) const {
    return lane.has_work() && !lane.closing && lane.has_window() && wire[lane.qp] > 0;
  }
  static bool may_drain(const Lane& lane) { return lane.has_work() && lane.closing; }
  bool any() const {
    return std::any_of(lanes.begin(), lanes.end(), [&](const Lane& l) { return may_go(l) || may_drain(l); });
  }

 private:
  static void limit(Lane& lane, const Op& op) {
    lane.weight = op.weight;
    lane.max_weight = std::max(lane.max_weight, lane.weight);
    lane.window = op.count;
  }
};

/// Gives an event other than a grant to the arbiter and to the world; they must agree whether it is taken.
void give(const Op& op, ArbiterDriver<kLanes>& arbiter, World& world) {
  switch (op.kind) {
    case Op::kGrant:
      break;
    case Op::kDoorbell:
      RC_ASSERT(arbiter.doorbell(op.lane, op.count) == world.doorbell(op));
      break;
    case Op::kWindowCredit:
      RC_ASSERT(arbiter.window_credit(op.lane) == world.window_credit(op));
      break;
    case Op::kWireCredit:
      arbiter.wire_credit(op.qp, op.count);
      world.wire[op.qp] += op.count;
      break;
    case Op::kOpen:
      RC_ASSERT(arbiter.open(op.lane, op.setup()) == world.open(op));
      break;
    case Op::kClose:
      RC_ASSERT(arbiter.close(op.lane) == world.close(op));
      break;
    case Op::kWeigh:
      RC_ASSERT(arbiter.weigh(op.lane, op.setup()) == world.weigh(op));
      break;
  }
}

/// Deficit round robin as in the paper, with deques. Lists 0..7 are class x QP, 8 drains; a lane is in the one it
/// belongs to.
class Model {
 public:
  World world;

  void relist(uint32_t number) {
    const int to = list_of(world.lanes[number]);
    if (to == at_[number]) return;
    leave(number);
    if (to >= 0) lists_[static_cast<unsigned>(to)].push_back(number);
    at_[number] = to;
    left_[number] = 0;
  }
  /// Lane of the next grant, or -1.
  int grant(bool& drain) {
    const int list = next_list();
    if (list < 0) return -1;
    const uint32_t number = lists_[static_cast<unsigned>(list)].front();
    Lane& lane = world.lanes[number];
    drain = list == kDrain;
    if (left_[number] == 0) left_[number] = lane.weight;
    --left_[number];
    lane.ring.pop_front();
    if (!drain) {
      --world.wire[lane.qp];
      turn_[lane.service_class] = !lane.qp;
      lane.in_use += lane.window != 0;
    }
    drained_last_ = drain;
    if (left_[number] == 0) {
      leave(number);
      at_[number] = -1;
    }
    relist(number);
    return static_cast<int>(number);
  }

 private:
  static constexpr int kDrain = 8;

  static int list_of(const Lane& lane) {
    if (!lane.has_work()) return -1;
    if (lane.closing) return kDrain;
    return lane.has_window() ? static_cast<int>(lane.service_class * 2 + lane.qp) : -1;
  }
  void leave(uint32_t number) {
    if (at_[number] >= 0) std::erase(lists_[static_cast<unsigned>(at_[number])], number);
  }
  int next_list() const {
    int found = -1;
    for (unsigned service_class = 0; service_class < 4 && found < 0; ++service_class)
      for (const bool qp : {turn_[service_class], !turn_[service_class]})
        if (found < 0 && world.wire[qp] > 0 && !lists_[service_class * 2 + qp].empty())
          found = static_cast<int>(service_class * 2 + qp);
    if (!lists_[kDrain].empty() && (found < 0 || !drained_last_)) found = kDrain;
    return found;
  }

  std::array<std::deque<uint32_t>, 9> lists_;
  std::array<int, kLanes> at_ = filled(-1);
  std::array<uint32_t, kLanes> left_{};
  std::array<bool, 4> turn_{};
  bool drained_last_ = false;

  static std::array<int, kLanes> filled(int value) {
    std::array<int, kLanes> a;
    a.fill(value);
    return a;
  }
};

RC_GTEST_PROP(SendArbiterProperty, GrantsInTheOrderOfTheModel, ()) {
  ArbiterDriver<kLanes> arbiter;
  Model model;
  for (const Op& op : *ops()) {
    if (op.kind == Op::kGrant) {
      bool drain = false;
      const int expected = model.grant(drain);
      const abi::ArbiterAction a = arbiter.grant();
      RC_ASSERT(a.granted() == (expected >= 0));
      if (!a.granted()) continue;
      RC_ASSERT(a.lane() == expected);
      RC_ASSERT(a.drain() == drain);
      const Lane& lane = model.world.lanes[a.lane()];
      RC_ASSERT(a.qp() == lane.qp);
      RC_ASSERT(a.counted() == (!drain && lane.window != 0));
    } else {
      give(op, arbiter, model.world);
      if (op.lane < kLanes) model.relist(op.lane);
    }
    RC_ASSERT(arbiter.more() == model.world.any());
  }
}

/// What has gone before a lane since it could go: grants of its list, and of the other QP of its class.
struct Wait {
  uint32_t own = 0, other = 0;
};

RC_GTEST_PROP(SendArbiterProperty, IsFairAndStrictAndLosesNoDoorbell, ()) {
  ArbiterDriver<kLanes> arbiter;
  World world;
  std::array<Wait, kLanes> waits{};
  bool drained_last = false;
  for (const Op& op : *ops()) {
    if (op.kind != Op::kGrant) {
      give(op, arbiter, world);
    } else {
      const abi::ArbiterAction a = arbiter.grant();
      // I26: with work, window and wire credit somewhere there is a grant; without there is none.
      RC_ASSERT(a.granted() == world.any());
      if (!a.granted()) continue;
      Lane& lane = world.lanes[a.lane()];
      const auto could_go = [&](const Lane& l) { return world.may_go(l); };
      if (a.drain()) {
        RC_ASSERT(World::may_drain(lane));
        RC_ASSERT(!drained_last || std::none_of(world.lanes.begin(), world.lanes.end(), could_go));
      } else {
        RC_ASSERT(world.may_go(lane));  // I23, I25: never without wire credit or window
        for (uint32_t i = 0; i < kLanes; ++i) {
          const Lane& l = world.lanes[i];
          if (!world.may_go(l)) continue;
          RC_ASSERT(l.service_class >= lane.service_class);  // strict classes
          if (i == a.lane() || l.service_class != lane.service_class) continue;
          ++(l.qp == lane.qp ? waits[i].own : waits[i].other);
        }
        // I27: what went before it is bounded by the others' weights alone.
        uint32_t others = 0;
        for (const Lane& l : world.lanes)
          others += &l != &lane && l.qp == lane.qp && l.service_class == lane.service_class ? l.max_weight : 0;
        RC_ASSERT(waits[a.lane()].own <= others);
        RC_ASSERT(waits[a.lane()].other <= waits[a.lane()].own + 1);
        waits[a.lane()] = {};
        --world.wire[lane.qp];
        lane.in_use += lane.window != 0;
        RC_ASSERT(lane.window == 0 || lane.in_use <= lane.window);
        RC_ASSERT(a.counted() == (lane.window != 0));
      }
      drained_last = a.drain();
      lane.ring.pop_front();
    }
    for (uint32_t i = 0; i < kLanes; ++i)
      if (!world.lanes[i].has_work() || !world.lanes[i].has_window()) waits[i] = {};
    RC_ASSERT(arbiter.more() == world.any());
  }
}

RC_GTEST_PROP(SendArbiterProperty, SaturatedLanesShareExactlyByWeightInEveryRound, ()) {
  ArbiterDriver<kLanes> arbiter;
  const auto weights = *rc::gen::container<std::array<uint8_t, kLanes>>(rc::gen::inRange<uint8_t>(1, 255));
  unsigned round = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    arbiter.open(lane, {.weight = weights[lane]});
    arbiter.doorbell(lane, 0xffff);
    round += weights[lane];
  }
  arbiter.wire_credit(true, 0xffff);
  for (int i = 0; i < 3; ++i) {
    std::array<unsigned, kLanes> got{};
    for (const uint32_t lane : arbiter.grants(round)) ++got[lane];
    for (uint32_t lane = 0; lane < kLanes; ++lane) RC_ASSERT(got[lane] == weights[lane]);
  }
}

}  // namespace
}  // namespace tidemill::test
