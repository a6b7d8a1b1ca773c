// SPDX-License-Identifier: Apache-2.0
/// What is counted, by name and labels, and its text for Prometheus (text exposition format 0.0.4).
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device/card_counters.hpp"
#include "tidemill/stats.hpp"

namespace tidemill::metrics {

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Sample {
  Labels labels;
  uint64_t value = 0;
};

/// Samples of one name stand together.
struct Metric {
  std::string name;
  std::string type;  ///< "counter" (its name ends in _total) or "gauge".
  std::string help;
  std::vector<Sample> samples;
};

class Metrics {
 public:
  void counter(const std::string& name, const std::string& help, Labels labels, uint64_t value) {
    add(name, "counter", help, std::move(labels), value);
  }
  void gauge(const std::string& name, const std::string& help, Labels labels, uint64_t value) {
    add(name, "gauge", help, std::move(labels), value);
  }
  void add(const std::string& name, const std::string& type, const std::string& help, Labels labels, uint64_t value);

  const std::vector<Metric>& all() const { return all_; }
  const Metric* find(const std::string& name) const;
  /// Sum over the samples that have this label; over all of them if it is empty.
  uint64_t sum(const std::string& name, const std::pair<std::string, std::string>& label = {}) const;

  std::string exposition() const;

 private:
  std::vector<Metric> all_;
};

/// Registers of a card.
void add_card(Metrics& m, const device::CardCounters& c);
/// Of the runtime.
void add_port(Metrics& m, unsigned port, const PortStats& s);
void add_agent(Metrics& m, unsigned port, const AgentStats& s);

}  // namespace tidemill::metrics
