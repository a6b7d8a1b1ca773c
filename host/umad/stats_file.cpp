// SPDX-License-Identifier: Apache-2.0
#include "stats_file.hpp"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fmt/format.h"

namespace tidemill::umad {
namespace {

template <std::size_t N, class Enum>
nlohmann::json by_name(const std::array<uint64_t, N>& counts, Enum) {
  nlohmann::json j = nlohmann::json::object();
  for (std::size_t i = 0; i < N; ++i)
    if (counts[i] != 0) j[std::string(describe(static_cast<Enum>(i)))] = counts[i];
  return j;
}

nlohmann::json to_json(const AgentStats& a) {
  return {{"name", a.name},
          {"id", a.id},
          {"accepted", a.accepted},
          {"tries", a.tries},
          {"received", a.received},
          {"completed", by_name(a.completed, SendStatus{})},
          {"outstanding", a.outstanding},
          {"outstanding_high", a.outstanding_high}};
}

}  // namespace

Error write_stats(const std::string& path, const Device& device, const Port& port, const IbsimCounters& fabric) {
  const PortStats s = port.stats();
  nlohmann::json j{{"pid", ::getpid()},
                   {"device", device.info().kind},
                   {"port",
                    {{"transmitted", s.transmitted},
                     {"retried", s.retried},
                     {"received", s.received},
                     {"matched", s.matched},
                     {"unsolicited", s.unsolicited},
                     {"auto_responses", s.auto_responses},
                     {"dropped", by_name(s.dropped, DropCause{})}}},
                   {"ibsim",
                    {{"sent", fabric.sent},
                     {"received", fabric.received},
                     {"returned", fabric.returned},
                     {"waited", fabric.waited}}}};
  j["port"]["completed"] = by_name(s.completed, SendStatus{});
  if (const uint64_t cycles = device.counter("cycles"); cycles != 0) j["cycles"] = cycles;
  for (const AgentStats& a : port.agent_stats()) j["agents"].push_back(to_json(a));
  std::ofstream out(path);
  out << j.dump(2) << '\n';
  out.close();
  if (!out) return {Errc::file_failed, fmt::format("TIDEMILL_STATS: '{}' cannot be written", path)};
  return {};
}

}  // namespace tidemill::umad
