// SPDX-License-Identifier: Apache-2.0
#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tidemill::tool {
namespace {

std::string bar(uint64_t part, uint64_t whole, unsigned width = 40) {
  const uint64_t full = whole == 0 ? 0 : (part * width + whole / 2) / whole;
  std::string text;
  for (uint64_t i = 0; i < std::max<uint64_t>(full, part != 0); ++i) text += "█";
  return text;
}

template <std::size_t N>
uint64_t largest(const std::array<uint64_t, N>& values) {
  return *std::max_element(values.begin(), values.end());
}

}  // namespace

std::string summary(const FabricRunOptions& o, const FabricRunResult& r) {
  std::string out;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "{} transactions of {} agents over {} nodes on {}, seed {}\n", r.completed, o.agents, o.nodes, o.device, o.seed);
  fmt::format_to(to, "accepted {} = completed {}; {} transmissions, {} retries, {} responses\n\n", r.accepted, r.completed,
                 r.port.transmitted, r.port.retried, r.port.matched);
  fmt::format_to(to, "how they ended\n");
  for (std::size_t i = 0; i < kSendStatuses; ++i)
    if (r.by_status[i] != 0)
      fmt::format_to(to, "  {:<10} {:>9} {}\n", describe(static_cast<SendStatus>(i)), r.by_status[i], bar(r.by_status[i], r.completed));
  fmt::format_to(to, "post to completion, microseconds\n");
  for (std::size_t i = 0; i < r.latency.size(); ++i)
    if (r.latency[i] != 0)
      fmt::format_to(to, "  < {:<8} {:>9} {}\n", uint64_t{1} << i, r.latency[i], bar(r.latency[i], largest(r.latency)));
  fmt::format_to(to, "responses that matched nothing\n");
  for (std::size_t i = 0; i < kDropCauses; ++i)
    if (r.port.dropped[i] != 0)
      fmt::format_to(to, "  {:<14} {:>5} {}\n", describe(static_cast<DropCause>(i)), r.port.dropped[i],
                     bar(r.port.dropped[i], largest(r.port.dropped)));
  const FabricCounters& f = r.fabric;
  fmt::format_to(to, "links: {} lost, {} duplicated, {} reordered, {} corrupted, {} stale, {} forged of {} sent\n", f.lost,
                 f.duplicated, f.reordered, f.corrupted, f.stale, f.forged, f.sent);
  if (o.virtual_time) fmt::format_to(to, "simulated {:.3f} ms in ", static_cast<double>(r.simulated.count()) / 1e6);
  fmt::format_to(to, "{:.2f} s\n", r.seconds);
  return out;
}

std::string counters(const FabricRunResult& r) {
  std::string out;
  auto to = std::back_inserter(out);
  const PortStats& p = r.port;
  fmt::format_to(to, "port\n  {:<22}{:>10}\n  {:<22}{:>10}\n  {:<22}{:>10}\n  {:<22}{:>10}\n  {:<22}{:>10}\n  {:<22}{:>10}\n",
                 "transmitted", p.transmitted, "retried", p.retried, "received", p.received, "matched", p.matched, "unsolicited",
                 p.unsolicited, "automatic responses", p.auto_responses);
  for (std::size_t i = 0; i < kDropCauses; ++i)
    fmt::format_to(to, "  {:<22}{:>10}\n", fmt::format("dropped: {}", describe(static_cast<DropCause>(i))), p.dropped[i]);
  fmt::format_to(to, "class{:>19}{:>14}\n", "sent", "received");
  for (std::size_t c = 0; c < 256; ++c)
    if (p.sent_by_class[c] + p.received_by_class[c] != 0)
      fmt::format_to(to, "  {:#04x}{:>18}{:>14}\n", c, p.sent_by_class[c], p.received_by_class[c]);
  fmt::format_to(to, "agent{:>19}{:>10}{:>10}{:>10}{:>10}{:>12}\n", "accepted", "success", "timeout", "other", "tries", "most at once");
  for (const AgentStats& a : r.agents)
    fmt::format_to(to, "  {:<14}{:>8}{:>10}{:>10}{:>10}{:>10}{:>12}\n", a.name, a.accepted, a.completed[0], a.completed[1],
                   a.completed_total() - a.completed[0] - a.completed[1], a.tries, a.outstanding_high);
  return out;
}

nlohmann::json to_json(const FabricRunOptions& o, const FabricRunResult& r) {
  nlohmann::json j;
  j["device"] = o.device;
  j["seed"] = o.seed;
  j["nodes"] = o.nodes;
  j["accepted"] = r.accepted;
  j["completed"] = r.completed;
  j["transmitted"] = r.port.transmitted;
  j["retried"] = r.port.retried;
  j["matched"] = r.port.matched;
  for (std::size_t i = 0; i < kSendStatuses; ++i) j["by_status"][std::string(describe(static_cast<SendStatus>(i)))] = r.by_status[i];
  for (std::size_t i = 0; i < kDropCauses; ++i) j["dropped"][std::string(describe(static_cast<DropCause>(i)))] = r.port.dropped[i];
  for (const AgentStats& a : r.agents)
    j["agents"].push_back({{"name", a.name}, {"id", a.id}, {"accepted", a.accepted}, {"completed", a.completed_total()},
                           {"tries", a.tries}, {"outstanding_high", a.outstanding_high}});
  j["links"] = {{"sent", r.fabric.sent}, {"lost", r.fabric.lost}, {"duplicated", r.fabric.duplicated}};
  j["simulated_ns"] = r.simulated.count();
  j["seconds"] = r.seconds;
  return j;
}

}  // namespace tidemill::tool
