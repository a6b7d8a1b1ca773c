// SPDX-License-Identifier: Apache-2.0
#include "lane_watch.hpp"

#include <algorithm>

namespace tidemill::test {

LaneWatch::Lane& LaneWatch::at(uint16_t lane) {
  if (lane >= lanes_.size()) lanes_.resize(lane + 1u);
  return lanes_[lane];
}

void LaneWatch::weigh(Lane& lane, uint8_t weight) {
  uint32_t& sum = open_weights_[group(lane)];
  sum = sum - lane.weight + weight;
  lane.weight = weight;
  weights_[group(lane)] = std::max(weights_[group(lane)], sum);
}

void LaneWatch::open(uint16_t number, const Setup& setup) {
  change(number, [&](Lane& lane) {
    weigh(lane, 0);
    lane.open = true;
    lane.closing = false;
    lane.skipped = 0;
    lane.qp = setup.qp;
    lane.service_class = setup.service_class;
    lane.window = setup.window;
    weigh(lane, setup.weight);
  });
}

void LaneWatch::weigh(uint16_t number, uint8_t weight, uint16_t window) {
  change(number, [&](Lane& lane) {
    weigh(lane, weight);
    lane.window = window;
  });
}

void LaneWatch::accepted(uint16_t number, Name name) {
  change(number, [&](Lane& lane) {
    lane.queue.push_back({name, false});
    ++lane.live;
  });
}

Finding LaneWatch::handed_down(uint16_t number, Name name) {
  Lane& lane = at(number);
  auto entry = std::find_if(lane.queue.begin(), lane.queue.end(), [&](const Entry& e) { return e.name == name; });
  if (entry == lane.queue.end()) return "I23 queue conservation: a first try of what stands in no lane";
  Finding finding;
  const auto ahead = std::count_if(lane.queue.begin(), entry, [](const Entry& e) { return !e.over; });
  if (strict_ && ahead != 0) {
    finding = "I24 order: handed down before " + std::to_string(ahead) + " accepted earlier in lane " +
              std::to_string(number);
  } else if (strict_ && lane.closing) {
    finding = "I16 closing: transmitted from lane " + std::to_string(number) + ", which drains";
  } else if (strict_ && lane.window != 0 && lane.in_use >= lane.window) {
    finding = "I25 window: more than " + std::to_string(lane.window) + " in use in lane " + std::to_string(number);
  }
  const uint64_t grants_lost = lane.skipped + static_cast<uint64_t>(entry - lane.queue.begin() - ahead);
  uint64_t& count = handed_down_[group(lane)];
  const uint64_t waited = count - lane.since;
  const uint64_t bound =
      uint64_t{weights_[group(lane)] - std::min<uint32_t>(lane.weight, weights_[group(lane)])} * (1 + grants_lost);
  if (strict_ && finding.empty() && waited > bound) {
    finding = "I27 fairness: lane " + std::to_string(number) + " waited for " + std::to_string(waited) +
              " hand-downs of its class, its share is one after at most " + std::to_string(bound);
  }
  // Out of order only where the matcher may put a send off: what stands ahead stays.
  if (ahead == 0) {
    lane.queue.erase(lane.queue.begin(), entry + 1);
    lane.skipped = 0;
  } else {
    lane.queue.erase(entry);
  }
  --lane.live;
  lane.since = ++count;
  return finding;
}

void LaneWatch::never_handed_down(uint16_t number, Name name) {
  Lane& lane = at(number);
  auto entry = std::find_if(lane.queue.begin(), lane.queue.end(), [&](const Entry& e) { return e.name == name; });
  if (entry == lane.queue.end()) return;
  entry->over = true;
  --lane.live;
  while (!lane.queue.empty() && lane.queue.front().over) {
    lane.queue.pop_front();
    ++lane.skipped;
  }
}

void LaneWatch::window_freed(uint16_t number) {
  change(number, [](Lane& lane) { --lane.in_use; });
}
void LaneWatch::window_sure(uint16_t number) {
  change(number, [](Lane& lane) { --lane.unsure; });
}
void LaneWatch::window_unsure(uint16_t number, bool taken_before) {
  if (taken_before) window_freed(number);
  ++at(number).unsure;
}

Finding LaneWatch::wire_taken(bool qp) {
  ++on_wire_[qp];
  if (credit_[qp] == 0 || on_wire_[qp] <= credit_[qp]) return {};
  return "I23 queue conservation: " + std::to_string(on_wire_[qp]) + " tries on the wire of QP" + (qp ? "1" : "0") +
         ", " + std::to_string(credit_[qp]) + " credits";
}

std::vector<Finding> LaneWatch::idle() const {
  std::vector<Finding> findings;
  for (size_t number = 0; number < lanes_.size(); ++number) {
    const Lane& lane = lanes_[number];
    const bool drains = lane.closing && lane.live != 0;
    if (!drains && !(able(lane) && wire_free(lane.qp))) continue;
    findings.push_back((drains             ? "I16 closing: stalled, "
                        : lane.window == 0 ? "I28 replies behind requests: stalled, "
                                           : "I26 stall: ") +
                       std::to_string(lane.live) + " sends stand in lane " + std::to_string(number) +
                       " and nothing holds them");
  }
  return findings;
}

std::vector<Finding> LaneWatch::finish() const {
  std::vector<Finding> findings;
  for (unsigned qp = 0; qp < 2; ++qp) {
    if (on_wire_[qp] != 0)
      findings.push_back("I23 queue conservation: " + std::to_string(on_wire_[qp]) + " tries never came back from QP" +
                         std::to_string(qp));
  }
  for (size_t number = 0; number < lanes_.size(); ++number) {
    const Lane& lane = lanes_[number];
    if (lane.live + lane.in_use + lane.unsure != 0)
      findings.push_back("I25 window: lane " + std::to_string(number) + " ends with " + std::to_string(lane.live) +
                         " sends and " + std::to_string(lane.in_use + lane.unsure) + " window slots in use");
  }
  return findings;
}

}  // namespace tidemill::test
