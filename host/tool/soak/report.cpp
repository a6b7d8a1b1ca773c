// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tidemill::soak {

std::string grouped(uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

double share_of(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}
std::string percent(double share) {
  if (share > 0 && share < 0.00001) return "<0.001 %";
  return fmt::format("{:.{}f} %", share * 100, share > 0 && share < 0.001 ? 3 : 1);
}

std::string class_name(unsigned i) {
  const uint32_t first = Histogram::first(i), last = Histogram::first(i + 1) - 1u;
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

namespace {

nlohmann::json json_of(const Histogram& h) {
  nlohmann::json classes = nlohmann::json::array();
  for (unsigned i = 0; i < Histogram::kClasses; ++i) {
    if (h.count(i) != 0) classes.push_back({{"from", Histogram::first(i)}, {"count", h.count(i)}});
  }
  return {{"total", h.total()},          {"longest", h.longest()},        {"p50", h.percentile(0.5)},
          {"p99", h.percentile(0.99)},   {"p999", h.percentile(0.999)},   {"classes", classes}};
}

}  // namespace

std::string json_report(const Report& report) {
  const Result& result = report.result;
  const Tally& tally = result.tally;
  nlohmann::json out;
  out["passed"] = result.passed();
  out["violations"] = result.violations;
  out["replay"] = replay_command(result.options, tally.posted);
  out["fingerprint"] = fmt::format("{:016x}", tally.fingerprint);
  auto& options = out["options"];
  options = {{"seed", result.options.seed},           {"banks", result.options.banks},
             {"agents", result.options.agents},       {"outstanding", result.options.outstanding},
             {"size", name_of(result.options.size)}};
  for (const RateInfo& rate : kRates) options["rates"][rate.name] = result.options.rates.*rate.value;
  out["seconds"] = report.seconds;
  out["mads_per_second"] = report.mads_per_second();
  out["ticks"] = result.ticks;
  out["accepted"] = tally.posted;
  out["completed"] = tally.completed;
  for (unsigned i = 0; i < abi::kStatusCount; ++i)
    out["by_status"][abi::name_of(static_cast<abi::Status>(i))] = tally.by_status[i];
  for (unsigned i = 1; i < abi::kCauseCount; ++i) {
    const char* name = abi::name_of(static_cast<abi::Cause>(i));
    out["dropped"][name] = tally.dropped[i];
    out["rejected"][name] = result.counters.rejected[i];
  }
  for (const FaultInfo& fault : kFaults) out["faults"][fault.name] = tally.faults.*fault.count;
  out["mads_out"] = tally.mads_out;
  out["mads_in"] = tally.mads_in;
  out["retried"] = result.counters.retried;
  out["matcher_full"] = result.counters.no_room;
  out["bank_events"] = result.counters.events;
  out["bank_cycles"] = result.counters.bank_cycles;
  out["latency_answered"] = json_of(tally.answered);
  out["latency_given_up"] = json_of(tally.given_up);
  out["outstanding"] = {{"interval", tally.outstanding.interval()}, {"peaks", tally.outstanding.points()}};
  return out.dump(2) + "\n";
}

}  // namespace tidemill::soak
