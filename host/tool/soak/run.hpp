// SPDX-License-Identifier: Apache-2.0
/// A soak run: traffic, wire and engine, tick by tick, until every send has completed or a rule is broken.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "any_engine.hpp"
#include "options.hpp"
#include "tally.hpp"

namespace tidemill::soak {

struct Hooks {
  /// Asked now and then: shall posting end before `transactions` are reached?
  std::function<bool()> stop = [] { return false; };
  /// Told now and then.
  std::function<void(const Tally&, uint32_t tick)> progress = [](const Tally&, uint32_t) {};
  EngineMaker make_engine = make_soft_engine;
};

struct Result {
  Options options;
  Tally tally;
  soft::EngineCounters counters;
  uint32_t ticks = 0;
  std::vector<std::string> violations;  ///< Empty if every rule held.
  bool passed() const { return violations.empty(); }
};

Result run(const Options& options, const Hooks& hooks);

}  // namespace tidemill::soak
