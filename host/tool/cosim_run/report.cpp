// SPDX-License-Identifier: Apache-2.0
/// A run in words and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "run.hpp"

namespace tidemill::cosim_run {
namespace {

std::string bar(double share, unsigned width = 40) {
  std::string text;
  const auto full = static_cast<unsigned>(std::lround(share * width));
  for (unsigned i = 0; i < full; ++i) text += "█";
  return text;
}

std::string cycles(const nlohmann::json& device, const char* name) {
  if (!device.contains(name) || device[name]["count"] == 0) return "not measured";
  const auto& h = device[name];
  return fmt::format("{} to {} cycles, {:.1f} on average", h["least"].get<uint64_t>(), h["most"].get<uint64_t>(), h["mean"].get<double>());
}

}  // namespace

std::string terminal_summary(const Options& o, const Result& r) {
  std::string out;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "{}: {} transactions of {} agents over {} nodes through the co-simulated card, seed {}\n",
                 r.passed() ? "passed" : "FAILED", r.completed, o.agents, o.nodes, o.seed);
  fmt::format_to(to, "accepted {} = completed {}; {} MADs on the wire, {} retries, {} responses matched\n\n", r.accepted, r.completed, r.mads(),
                 r.port.retried, r.port.matched);
  for (std::size_t i = 0; i < kSendStatuses; ++i)
    if (r.by_status[i] != 0)
      fmt::format_to(to, "  {:<10} {:>9} {}\n", describe(static_cast<SendStatus>(i)), r.by_status[i],
                     bar(static_cast<double>(r.by_status[i]) / static_cast<double>(r.completed)));
  if (r.device.is_object()) {
    const auto count = r.device.value("cycles", uint64_t{0});
    fmt::format_to(to, "\nqueue head to wire      {}\nresponse to completion  {}\n", cycles(r.device, "head_to_wire"), cycles(r.device, "response_to_completion"));
    fmt::format_to(to, "{} cycles simulated in {:.1f} s, {:.0f} k cycles/s", count, r.seconds, static_cast<double>(count) / r.seconds / 1e3);
    fmt::format_to(to, "; {:.3f} ms on the card\n", static_cast<double>(r.simulated.count()) / 1e6);
  }
  std::vector<double> shares;
  for (const AgentStats& a : r.agents) shares.push_back(static_cast<double>(a.tries));
  fmt::format_to(to, "Jain's index of the agents' shares {:.4f}\n", jain_index(shares));
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < std::min(r.violations.size(), kShown); ++i) fmt::format_to(to, "BROKEN: {}\n", r.violations[i]);
  if (r.violations.size() > kShown) fmt::format_to(to, "and {} more (--json tells all)\n", r.violations.size() - kShown);
  if (r.device_failed) fmt::format_to(to, "the device has failed: its agents were told, every accepted send has completed\n");
  if (!r.stopped.empty()) fmt::format_to(to, "STOPPED: {}\n", r.stopped);
  if (!r.passed()) fmt::format_to(to, "this run again: {}\nwith a waveform of its end: {} --trace failure.fst --trace-from {}\n", replay_command(o), replay_command(o),
                                  r.cycles - std::min<uint64_t>(r.cycles, 20'000));
  return out;
}

nlohmann::json json_report(const Options& o, const Result& r) {
  nlohmann::json j;
  j["passed"] = r.passed();
  j["replay"] = replay_command(o);
  j["violations"] = r.violations;
  j["stopped"] = r.stopped;
  j["cycles"] = r.cycles;
  j["device_failed"] = r.device_failed;
  j["accepted"] = r.accepted;
  j["completed"] = r.completed;
  j["mads"] = r.mads();
  j["transmitted"] = r.port.transmitted;
  j["retried"] = r.port.retried;
  j["matched"] = r.port.matched;
  for (std::size_t i = 0; i < kSendStatuses; ++i) j["by_status"][std::string(describe(static_cast<SendStatus>(i)))] = r.by_status[i];
  for (std::size_t i = 0; i < kDropCauses; ++i) j["dropped"][std::string(describe(static_cast<DropCause>(i)))] = r.port.dropped[i];
  for (const AgentStats& a : r.agents)
    j["agents"].push_back({{"name", a.name}, {"accepted", a.accepted}, {"completed", a.completed_total()}, {"tries", a.tries}});
  j["links"] = {{"sent", r.fabric.sent}, {"lost", r.fabric.lost}, {"duplicated", r.fabric.duplicated}, {"reordered", r.fabric.reordered}};
  j["simulated_ns"] = r.simulated.count();
  j["seconds"] = r.seconds;
  j["device"] = r.device;
  return j;
}

}  // namespace tidemill::cosim_run
