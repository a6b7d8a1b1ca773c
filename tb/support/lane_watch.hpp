// SPDX-License-Identifier: Apache-2.0
/// The scoreboard's view of lanes and wire credit: what was handed down, in which order, and whether it could have
/// been. Checks I23 to I28. A lane's queue holds what was accepted and has had no try yet.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace tidemill::test {

/// A violated invariant in one word and a sentence about it; empty if all is well.
using Finding = std::string;

class LaneWatch {
 public:
  struct Name {
    uint16_t slot, generation;
    bool operator==(const Name& o) const { return slot == o.slot && generation == o.generation; }
  };
  struct Setup {
    bool qp;
    uint8_t service_class;
    uint8_t weight;
    uint16_t window;
  };

  /// `strict`: first tries are seen in the order of their grants.
  LaneWatch(std::array<uint32_t, 2> wire_credit, bool strict) : credit_(wire_credit), strict_(strict) {}

  void open(uint16_t lane, const Setup& setup);
  void weigh(uint16_t lane, uint8_t weight, uint16_t window);
  void close(uint16_t lane) { at(lane).closing = true; }
  bool closing(uint16_t lane) { return at(lane).closing; }

  void accepted(uint16_t lane, Name name);
  /// The first try of a send. Returns what is wrong with it.
  Finding handed_down(uint16_t lane, Name name);
  /// A send ended without any try: by a command, a deadline, as a duplicate, or drained.
  void never_handed_down(uint16_t lane, Name name);

  /// Does a send handed down now hold a window slot?
  bool windowed(uint16_t lane) { return at(lane).window != 0; }
  void window_taken(uint16_t lane) { ++at(lane).in_use; }
  void window_freed(uint16_t lane);
  /// The slot may have come back or not: a flush is under way.
  void window_unsure(uint16_t lane, bool taken_before);
  /// Now it has come back for certain.
  void window_sure(uint16_t lane);

  void wire_grown(bool qp, uint32_t count) { credit_[qp] += credit_[qp] == 0 ? 0 : count; }
  Finding wire_taken(bool qp);
  void wire_returned(bool qp) { --on_wire_[qp]; }
  bool wire_free(bool qp) const { return credit_[qp] == 0 || on_wire_[qp] < credit_[qp]; }
  uint32_t on_wire(bool qp) const { return on_wire_[qp]; }

  /// The engine has no more to do: could a lane have been served?
  std::vector<Finding> idle() const;
  /// Everything has completed: is all credit home?
  std::vector<Finding> finish() const;

 private:
  struct Entry {
    Name name;
    bool over;  ///< Ended without a try; its descriptor may still stand in the lane.
  };
  struct Lane {
    bool open = false, closing = false, qp = false;
    uint8_t service_class = 0, weight = 0;
    uint16_t window = 0;
    uint32_t in_use = 0, unsure = 0;
    std::deque<Entry> queue;
    uint32_t live = 0;     ///< Entries of the queue that are not over.
    uint32_t skipped = 0;  ///< Entries at the head that were over and taken out; a grant may still go to each.
    uint64_t since = 0;    ///< First tries of the class and QP when the lane became able to go.
  };
  static constexpr unsigned kClasses = 4;

  Lane& at(uint16_t lane);
  static bool able(const Lane& l) {
    return l.open && !l.closing && l.live != 0 && (l.window == 0 || l.in_use + l.unsure < l.window);
  }
  /// Does something to a lane; if that makes it able to go, its wait begins.
  template <class Change>
  void change(uint16_t number, Change apply) {
    Lane& lane = at(number);
    const bool before = able(lane);
    apply(lane);
    if (!before) lane.since = handed_down_[group(lane)];
  }
  void weigh(Lane& lane, uint8_t weight);
  unsigned group(const Lane& l) const { return l.service_class * 2u + (l.qp ? 1u : 0u); }

  std::array<uint32_t, 2> credit_;
  bool strict_;
  std::array<uint32_t, 2> on_wire_{};
  std::vector<Lane> lanes_;
  std::array<uint64_t, kClasses * 2> handed_down_{};
  std::array<uint32_t, kClasses * 2> weights_{};  ///< Most weight that was ever open together.
  std::array<uint32_t, kClasses * 2> open_weights_{};
};

}  // namespace tidemill::test
