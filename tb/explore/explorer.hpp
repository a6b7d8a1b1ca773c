// SPDX-License-Identifier: Apache-2.0
/// Breadth-first exploration of a state space: from the initial state, every event in every state that is reached.
///
/// A Space gives states and events; it judges every edge and every state. Equal states are found by a 128-bit
/// fingerprint of the normalised state; of every state only its predecessor and event are kept, so that a broken
/// invariant comes with a shortest path from reset. The path is run once more without normalising anything: what is
/// reported really happens to the block.
///
/// Space has: State, Edge apply(State&, event), const char* check(const State&), normalise(State&), initial(),
/// events(), label(event), describe(State), feed(State, sink). An invariant is named by its text; null means that it
/// holds.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace tidemill::explore {

struct Edge {
  const char* broken = nullptr;  ///< The invariant that the step broke.
  bool applicable = true;        ///< False: the environment cannot do this now.
  bool changes_nothing = false;  ///< The state after must equal the state before.
};

inline constexpr const char* kChangesNothing = "what is refused changes nothing";

struct Fingerprint {
  uint64_t a = 0x243f6a8885a308d3u, b = 0x13198a2e03707344u;

  void operator()(uint64_t word) {
    a = (a ^ word) * 0x9fb21c651e98df25u;
    a ^= a >> 32;
    b = (b + word) * 0xd6e8feb86659fd93u;
    b ^= b >> 29;
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

/// Open addressing; grows at half load.
class FingerprintSet {
 public:
  bool insert(const Fingerprint& f) {
    if (2 * (size_ + 1) > rows_.size()) grow();
    Fingerprint* row = find(f);
    if (*row == f) return false;
    *row = f;
    ++size_;
    return true;
  }
  bool contains(const Fingerprint& f) const { return *const_cast<FingerprintSet*>(this)->find(f) == f; }
  uint64_t size() const { return size_; }

 private:
  Fingerprint* find(const Fingerprint& f) {
    uint64_t i = f.a & (rows_.size() - 1);
    while (!(rows_[i] == Fingerprint{}) && !(rows_[i] == f)) i = (i + 1) & (rows_.size() - 1);
    return &rows_[i];
  }
  void grow() {
    std::vector<Fingerprint> old(rows_.size() * 2);
    old.swap(rows_);
    for (const Fingerprint& f : old)
      if (!(f == Fingerprint{})) *find(f) = f;
  }
  std::vector<Fingerprint> rows_ = std::vector<Fingerprint>(1u << 12);
  uint64_t size_ = 0;
};

struct Report {
  uint64_t states = 0;
  uint64_t edges = 0;
  uint32_t depth = 0;     ///< Events from the initial state to the farthest one.
  bool complete = false;  ///< Every reachable state was visited.
  const char* broken = nullptr;
  std::vector<uint16_t> path;  ///< Events that break it, from the initial state.
  std::string story;           ///< The path in words.
};

template <class Space>
class Explorer {
 public:
  using State = typename Space::State;
  static_assert(std::is_trivially_copyable_v<State>);

  explicit Explorer(const Space& space) : space_(space) {}

  /// Visits every reachable state, or the nearest `limit` of them, or as many as needed to break an invariant.
  Report run(uint64_t limit = ~uint64_t{0}) {
    Report report;
    std::vector<State> frontier, next;
    State first = space_.initial();
    const char* broken = visit(first, 0, 0, frontier);
    const auto events = static_cast<uint16_t>(space_.events());
    uint32_t node = 0;
    while (broken == nullptr && !frontier.empty() && nodes_.size() < limit) {
      next.clear();
      for (size_t i = 0; i < frontier.size() && broken == nullptr; ++i, ++node) {
        const Fingerprint here = fingerprint(frontier[i]);
        for (uint16_t event = 0; event < events && broken == nullptr; ++event) {
          State state = frontier[i];
          const Edge edge = space_.apply(state, event);
          if (!edge.applicable) continue;
          ++report.edges;
          broken = edge.broken;
          // Most events are refused: equal bytes need no fingerprint, others may still be equal.
          if (broken == nullptr && std::memcmp(&state, &frontier[i], sizeof(State)) == 0) continue;
          if (broken == nullptr) broken = visit(state, node, event, next, edge.changes_nothing ? &here : nullptr);
          if (broken != nullptr) report.path = path_to(node, event);
        }
      }
      if (!next.empty()) ++report.depth;
      frontier.swap(next);
    }
    report.states = nodes_.size();
    report.broken = broken;
    report.complete = broken == nullptr && frontier.empty();
    if (broken != nullptr) report.story = tell(report);
    return report;
  }

  /// True if the state is one of those visited.
  bool visited(const State& raw) const {
    State state = raw;
    space_.normalise(state);
    return seen_.contains(fingerprint(state));
  }

  /// Runs a path on the block as it is, nothing normalised; the invariant it breaks, if any.
  const char* replay(const std::vector<uint16_t>& path, std::string* story = nullptr) const {
    State state = space_.initial();
    const char* broken = space_.check(state);
    for (const uint16_t event : path) {
      State before = state;
      const Edge edge = space_.apply(state, event);
      space_.normalise(before);
      State after = state;
      space_.normalise(after);
      broken = edge.broken != nullptr ? edge.broken : space_.check(state);
      if (broken == nullptr && edge.changes_nothing && !(fingerprint(before) == fingerprint(after)))
        broken = kChangesNothing;
      if (story != nullptr) *story += "  " + space_.label(event) + "\n      " + space_.describe(state) + "\n";
      if (broken != nullptr) return broken;
    }
    return broken;
  }

 private:
  struct Node {
    uint32_t parent;
    uint16_t event;
  };

  Fingerprint fingerprint(const State& state) const {
    Fingerprint f;
    space_.feed(state, f);
    return f;
  }
  const char* visit(State& state, uint32_t parent, uint16_t event, std::vector<State>& into,
                    const Fingerprint* same_as = nullptr) {
    space_.normalise(state);
    const Fingerprint f = fingerprint(state);
    if (same_as != nullptr && !(f == *same_as)) return kChangesNothing;
    if (!seen_.insert(f)) return nullptr;
    nodes_.push_back({parent, event});
    into.push_back(state);
    return space_.check(state);
  }
  std::vector<uint16_t> path_to(uint32_t node, uint16_t last) const {
    std::vector<uint16_t> path{last};
    for (; node != 0; node = nodes_[node].parent) path.insert(path.begin(), nodes_[node].event);
    return path;
  }
  std::string tell(const Report& report) const {
    std::string story = std::string("broken: ") + report.broken + "\npath from reset:\n";
    const char* again = replay(report.path, &story);
    if (again != report.broken)
      story.append("the path alone breaks: ").append(again != nullptr ? again : "nothing").append("\n");
    story += "replay:";
    for (const uint16_t event : report.path) story.append(" ").append(std::to_string(event));
    return story.append("\n");
  }

  const Space& space_;
  FingerprintSet seen_;
  std::vector<Node> nodes_;
};

}  // namespace tidemill::explore
