// SPDX-License-Identifier: Apache-2.0
/// MADs on their way to one queue pair of a port, earliest first, equal times in order of insertion.
/// What comes in order of time stands in a ring, O(1) each; only what overtakes goes to a heap, O(log n).
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "fabric/packet.hpp"
#include "fabric/ring.hpp"

namespace tidemill::fabric {

class Arrivals {
 public:
  std::size_t size() const { return in_order_.size() + overtaking_.size(); }
  bool empty() const { return in_order_.empty() && overtaking_.empty(); }

  void push(Packet* packet) {
    if (packet->due >= last_due_ || in_order_.empty()) [[likely]] {
      last_due_ = packet->due;
      in_order_.extend() = packet;
    } else {
      push_overtaking(packet);
    }
  }
  /// Not when empty.
  Packet* first() { return heap_first() ? overtaking_.front() : in_order_.front(); }
  void pop() {
    if (heap_first()) {
      std::ranges::pop_heap(overtaking_, later);
      overtaking_.pop_back();
    } else {
      in_order_.pop();
    }
  }

 private:
  static bool later(const Packet* a, const Packet* b) { return a->due != b->due ? a->due > b->due : a->order > b->order; }
  [[gnu::noinline]] void push_overtaking(Packet* packet) {
    overtaking_.push_back(packet);
    std::ranges::push_heap(overtaking_, later);
  }
  bool heap_first() {
    return !overtaking_.empty() && (in_order_.empty() || later(in_order_.front(), overtaking_.front()));
  }

  Ring<Packet*> in_order_;
  int64_t last_due_ = 0;  ///< Of the newest in the ring.
  std::vector<Packet*> overtaking_;
};

}  // namespace tidemill::fabric
