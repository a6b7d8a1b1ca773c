// SPDX-License-Identifier: Apache-2.0
/// MADs that other wires' threads bring to a port: many bring, one takes them all. Bounded; O(1) each, no lock.
#pragma once
#include <atomic>
#include <cstddef>

#include "fabric/packet.hpp"

namespace tidemill::fabric {

class Inbox {
 public:
  enum class Pushed { full, first, more };

  explicit Inbox(std::size_t limit) : limit_(limit) {}

  Pushed push(Packet* packet) {
    if (count_.fetch_add(1, std::memory_order_relaxed) >= limit_) {
      count_.fetch_sub(1, std::memory_order_relaxed);
      return Pushed::full;
    }
    Packet* before = newest_.load(std::memory_order_relaxed);
    do {
      packet->next = before;
    } while (!newest_.compare_exchange_weak(before, packet, std::memory_order_release, std::memory_order_relaxed));
    return before == nullptr ? Pushed::first : Pushed::more;
  }

  bool empty() const { return newest_.load(std::memory_order_relaxed) == nullptr; }

  /// All of them, oldest first, linked by `next`.
  Packet* take_all() {
    Packet* packet = newest_.exchange(nullptr, std::memory_order_acquire);
    Packet* oldest = nullptr;
    std::size_t taken = 0;
    for (; packet != nullptr; ++taken) {
      Packet* const older = packet->next;
      packet->next = oldest;
      oldest = packet;
      packet = older;
    }
    count_.fetch_sub(taken, std::memory_order_relaxed);
    return oldest;
  }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> count_{0};
  std::atomic<Packet*> newest_{nullptr};
};

}  // namespace tidemill::fabric
