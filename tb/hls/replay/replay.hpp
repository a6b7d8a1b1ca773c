// SPDX-License-Identifier: Apache-2.0
/// The same random events for a kernel's RTL and for the C++; cycles by event kind and answer, against the declared.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "hls/cycle_table.hpp"

namespace tidemill::test {

struct Cycles {
  uint64_t events = 0, sum = 0;
  unsigned least = ~0u, most = 0, declared = 0;

  void add(unsigned cycles, unsigned may_take) {
    ++events;
    sum += cycles;
    least = std::min(least, cycles);
    most = std::max(most, cycles);
    declared = may_take;
  }
  double mean() const { return events == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(events); }
};

/// Events go out of `source`, into `model` and `rtl`. `rtl(event, cycles)` returns the action; `answer(action)` names it
/// and the way it took, `declared(kind, action)` says how many cycles that way may take. Returns the exit code of the bench.
template <class Kind, class Source, class Model, class Rtl, class Answer, class Declared>
int replay(uint64_t count, Source& source, Model& model, Rtl& rtl, Answer answer, Declared declared) {
  std::map<std::pair<Kind, std::string>, Cycles> ways;
  for (uint64_t i = 0; i < count; ++i) {
    const auto event = source.next();
    const auto want = model.step(event);
    unsigned cycles = 0;
    const auto got = rtl.step(event, cycles);
    if (!(got == want)) {
      std::printf("event %llu, %s: the RTL answers otherwise than the C++ (%s, not %s)\n",
                  static_cast<unsigned long long>(i), name_of(event.kind()), answer(got).c_str(), answer(want).c_str());
      return 1;
    }
    source.learn(event, want);
    ways[{event.kind(), answer(want)}].add(cycles, declared(event.kind(), want));
  }
  std::printf("%llu events, RTL and C++ answer the same\n", static_cast<unsigned long long>(count));
  std::printf("  %-34s %9s %6s %6s %6s %9s\n", "event", "number", "least", "mean", "most", "declared");
  bool slow = false;
  for (const auto& [key, cycles] : ways) {
    const bool exceeded = cycles.most > cycles.declared;
    slow |= exceeded;
    std::printf("  %-34s %9llu %6u %6.1f %6u %9u%s\n", (name_of(key.first) + (" -> " + key.second)).c_str(),
                static_cast<unsigned long long>(cycles.events), cycles.least, cycles.mean(), cycles.most, cycles.declared,
                exceeded ? "  EXCEEDED" : "");
  }
  return slow ? 1 : 0;
}

/// Arguments of a bench: number of events and seed, which it prints.
struct Arguments {
  uint64_t events = 100'000, seed = 1;

  Arguments(int argc, char** argv) {
    if (argc > 1) events = std::strtoull(argv[1], nullptr, 0);
    if (argc > 2) seed = std::strtoull(argv[2], nullptr, 0);
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  }
};

}  // namespace tidemill::test
