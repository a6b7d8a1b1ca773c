// SPDX-License-Identifier: Apache-2.0
/// A scoreboard for programs that cannot be watched from within: what the trace of a run must show, whatever the
/// program did (invariants I1-I5, I9, I13, I20 as far as a trace tells).
#pragma once
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tidemill::test {

class TraceBoard {
 public:
  explicit TraceBoard(const nlohmann::json& trace) {
    for (const auto& event : trace.at("traceEvents")) {
      const std::string phase = event.at("ph");
      if (phase == "b" || phase == "n" || phase == "e") sends_[event.at("id")].push_back(&event);
    }
    for (const auto& [id, events] : sends_) judge(id, events);
    judge_names();
  }

  std::size_t sends() const { return sends_.size(); }
  /// What was found, each with the send's ID in the trace; empty if all is well.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  using Events = std::vector<const nlohmann::json*>;
  struct Life {
    double begin, end;
    std::string id;
  };

  void violation(const std::string& id, const std::string& what) { violations_.push_back("send " + id + ": " + what); }

  void judge(const std::string& id, const Events& events) {
    unsigned begins = 0, ends = 0, matches = 0, tries = 0;
    double begin = 0, end = 0, matched = 0, last = 0;
    const nlohmann::json* made = nullptr;
    for (const nlohmann::json* event : events) {
      const double at = event->at("ts");
      const std::string phase = event->at("ph"), name = event->at("name");
      last = std::max(last, at);
      if (phase == "b") {
        ++begins;
        begin = at;
        made = event;
      } else if (phase == "e") {
        ++ends;
        end = at;
      } else if (name == "matched") {
        ++matches;
        matched = at;
      } else if (name.starts_with("try ")) {
        if (name != "try " + std::to_string(++tries))
          violation(id, "I13: " + name + " is its try " + std::to_string(tries));
      }
    }
    if (begins != 1) return violation(id, "I2: posted " + std::to_string(begins) + " times");
    if (ends != 1) return violation(id, "I1: completed " + std::to_string(ends) + " times");
    if (last > end) violation(id, "I5: something of it after its completion");
    const auto& args = made->at("args");
    const std::string status = args.at("status");
    if (status == "outstanding") return violation(id, "I1: not completed at the end: " + made->dump());
    if (matches > 1) violation(id, "I4: matched " + std::to_string(matches) + " times");
    if (matches == 1 && status != "success") violation(id, "I3: matched, but completed as " + status);
    if (matches == 1 && (tries == 0 || matched < begin)) violation(id, "I2: matched before it was sent");
    // A send that was flushed may have a try that the wire gave back.
    if (const unsigned told = args.at("tries"); status != "flushed" && told != tries)
      violation(id,
                "I13: completed after " + std::to_string(told) + " tries, " + std::to_string(tries) + " on the wire");
    if (matches == 1)
      lives_[{args.at("tid").get<std::string>(), args.at("class").get<unsigned>()}].push_back({begin, end, id});
  }
  /// A response could belong to either of two sends with one name.
  void judge_names() {
    for (auto& [name, lives] : lives_) {
      std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) { return a.begin < b.begin; });
      for (std::size_t i = 1; i < lives.size(); ++i)
        if (lives[i].begin < lives[i - 1].end)
          violation(lives[i].id, "I9: shares TID " + name.first + " with " + lives[i - 1].id + " while that is live");
    }
  }

  std::map<std::string, Events> sends_;
  std::map<std::pair<std::string, unsigned>, std::vector<Life>> lives_;
  std::vector<std::string> violations_;
};

}  // namespace tidemill::test
