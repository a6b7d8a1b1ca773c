// SPDX-License-Identifier: Apache-2.0
/// Things to happen at later ticks. What is farther away than the calendar reaches waits in its last day and moves on.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace tidemill::soak {

/// A distance in time: not before something else happens.
inline constexpr uint32_t kNever = 0xffffffffu;

template <class Event>
class Calendar {
 public:
  /// `after` is at least 1: nothing can be added to a day that is being worked off.
  void add(uint32_t after, Event event) {
    const uint32_t days = after < kDays ? after : kDays - 1;
    day(today_ + days).push_back({today_ + after, std::move(event)});
    ++size_;
  }

  /// Moves on to tick `now` and gives everything due to `handle`, day by day, in the order in which it was added.
  template <class Handle>
  void advance(uint32_t now, Handle handle) {
    while (today_ != now) {
      ++today_;
      std::vector<Entry>& due = day(today_);
      if (due.empty()) continue;
      working_.swap(due);
      for (Entry& entry : working_) {
        --size_;
        if (entry.due == today_) {
          handle(entry.event);
        } else {
          add(entry.due - today_, std::move(entry.event));
        }
      }
      working_.clear();
    }
  }

  bool empty() const { return size_ == 0; }
  /// Ticks to the first day with an entry.
  uint32_t distance() const {
    if (empty()) return kNever;
    uint32_t days = 1;
    while (days_[(today_ + days) % kDays].empty()) ++days;
    return days;
  }

 private:
  struct Entry {
    uint32_t due;
    Event event;
  };
  static constexpr uint32_t kDays = 4096;
  std::vector<Entry>& day(uint32_t tick) { return days_[tick % kDays]; }

  std::vector<std::vector<Entry>> days_{kDays};
  std::vector<Entry> working_;
  uint32_t today_ = 0;
  uint64_t size_ = 0;
};

}  // namespace tidemill::soak
