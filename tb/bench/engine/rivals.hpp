// SPDX-License-Identifier: Apache-2.0
/// What else could match responses and run timers: the structures of the standard library and of the kernel's MAD
/// layer, behind the interface that the benchmarks drive. They match and time only; states, tries, credits are left
/// out.
#pragma once
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <queue>
#include <unordered_map>
#include <vector>

namespace tidemill::bench {

/// A TID table: insert(tid, slot), take(tid) -> slot. Slots are below 65,536.
class HashMap {
 public:
  void insert(uint64_t tid, uint32_t slot) { map_.emplace(tid, slot); }
  uint32_t take(uint64_t tid) {
    const auto at = map_.find(tid);
    const uint32_t slot = at->second;
    map_.erase(at);
    return slot;
  }

 private:
  std::unordered_map<uint64_t, uint32_t> map_;
};

/// The kernel's way: sends stand in one list and a response is looked for from its head on.
class LinearList {
 public:
  void insert(uint64_t tid, uint32_t slot) {
    nodes_[slot] = {tid, kEnd, tail_};
    (tail_ == kEnd ? head_ : nodes_[tail_].next) = slot;
    tail_ = slot;
  }
  uint32_t take(uint64_t tid) {
    uint32_t slot = head_;
    while (nodes_[slot].tid != tid) slot = nodes_[slot].next;
    const Node& n = nodes_[slot];
    (n.prev == kEnd ? head_ : nodes_[n.prev].next) = n.next;
    (n.next == kEnd ? tail_ : nodes_[n.next].prev) = n.prev;
    return slot;
  }

 private:
  static constexpr uint32_t kEnd = 0xffffffff;
  struct Node {
    uint64_t tid;
    uint32_t next, prev;
  };
  std::vector<Node> nodes_ = std::vector<Node>(65536);
  uint32_t head_ = kEnd, tail_ = kEnd;
};

/// Timers: arm(slot, due), disarm(slot), and expire(): the slot that is due first is disarmed; `now` becomes its time.
class MultimapTimers {
 public:
  void arm(uint32_t slot, uint32_t due) { at_[slot] = map_.emplace(due, slot); }
  void disarm(uint32_t slot) { map_.erase(at_[slot]); }
  uint32_t expire(uint32_t& now) {
    const auto first = map_.begin();
    now = first->first;
    const uint32_t slot = first->second;
    map_.erase(first);
    return slot;
  }

 private:
  using Map = std::multimap<uint32_t, uint32_t>;
  Map map_;
  std::vector<Map::iterator> at_ = std::vector<Map::iterator>(65536);
};

/// A heap cannot give up an entry in its middle: a disarmed timer stays until it is on top, or until half of the heap
/// is dead.
class HeapTimers {
 public:
  void arm(uint32_t slot, uint32_t due) {
    heap_.push({due, slot, ++version_[slot]});
    ++live_;
  }
  void disarm(uint32_t slot) {
    ++version_[slot];
    if (--live_ * 2 < heap_.size()) rebuild();
  }
  uint32_t expire(uint32_t& now) {
    while (version_[heap_.top().slot] != heap_.top().version) heap_.pop();
    const Entry first = heap_.top();
    heap_.pop();
    --live_;
    ++version_[first.slot];
    now = first.due;
    return first.slot;
  }

 private:
  struct Entry {
    uint32_t due, slot, version;
    bool operator<(const Entry& o) const { return due > o.due; }
  };
  struct Heap : std::priority_queue<Entry> {
    std::vector<Entry>& entries() { return c; }
  };
  void rebuild() {
    std::vector<Entry> kept = std::move(heap_.entries());
    std::erase_if(kept, [this](const Entry& e) { return version_[e.slot] != e.version; });
    static_cast<std::priority_queue<Entry>&>(heap_) = std::priority_queue<Entry>({}, std::move(kept));
  }
  Heap heap_;
  std::vector<uint32_t> version_ = std::vector<uint32_t>(65536);
  size_t live_ = 0;
};

/// The kernel's way: one list sorted by deadline; a new entry looks for its place from the tail on.
class SortedListTimers {
 public:
  void arm(uint32_t slot, uint32_t due) {
    auto at = list_.end();
    while (at != list_.begin() && std::prev(at)->due > due) --at;
    at_[slot] = list_.insert(at, {due, slot});
  }
  void disarm(uint32_t slot) { list_.erase(at_[slot]); }
  uint32_t expire(uint32_t& now) {
    const Entry first = list_.front();
    list_.pop_front();
    now = first.due;
    return first.slot;
  }

 private:
  struct Entry {
    uint32_t due, slot;
  };
  std::list<Entry> list_;
  std::vector<std::list<Entry>::iterator> at_ = std::vector<std::list<Entry>::iterator>(65536);
};

}  // namespace tidemill::bench
