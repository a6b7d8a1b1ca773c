// SPDX-License-Identifier: Apache-2.0
#include "sim/statistics.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/platform.hpp"

namespace tidemill::sim {
namespace {

nlohmann::json histogram(const CycleHistogram& h) {
  return {{"count", h.count()}, {"least", h.count() == 0 ? 0 : h.least()}, {"most", h.most()}, {"mean", h.mean()}, {"bins", h.bins()}};
}

}  // namespace

void write_statistics(const Platform& p, const std::string& file) {
  const Probe& probe = p.probe();
  nlohmann::json j;
  j["cycles"] = p.cycles();
  j["period_ns"] = p.options().period_ns;
  j["banks"] = p.banks();
  j["transmitted"] = probe.transmitted();
  j["completed"] = probe.completed();
  j["lines_read"] = p.link().lines_read();
  j["lines_written"] = p.link().lines_written();
  for (unsigned b = 0; b < p.banks(); ++b) j["bank_cycles"].push_back(p.bank_cycles(b));
  j["arbiter_cycles"] = p.arbiter_cycles();
  j["head_to_wire"] = histogram(probe.head_to_wire());
  j["response_to_completion"] = histogram(probe.response_to_completion());
  auto& samples = j["samples"];
  samples["every"] = probe.sample_cycles();
  for (const Probe::Sample& s : probe.samples()) {
    if (s.cycles != probe.sample_cycles()) continue;  // the one that is not full
    samples["transmitted"].push_back(s.transmitted);
    samples["completed"].push_back(s.completed);
    for (std::size_t i = 0; i < Probe::kWaiting; ++i) samples["waiting"][Probe::kWaitingNames[i]].push_back(s.most[i]);
  }
  std::ofstream(file) << j.dump() << '\n';
}

}  // namespace tidemill::sim
