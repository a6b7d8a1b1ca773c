// SPDX-License-Identifier: Apache-2.0
#include "metrics/metrics.hpp"

#include <algorithm>

#include "fmt/format.h"

namespace tidemill::metrics {
namespace {

std::string escaped(const std::string& text, bool label) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && label) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
  return out;
}

template <class Counts, class Name>
void by(Metrics& m, const std::string& name, const std::string& help, const Labels& labels, const char* key,
        const Counts& counts, Name&& name_of) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Labels all = labels;
    all.emplace_back(key, name_of(i));
    m.counter(name, help, std::move(all), counts[i]);
  }
}

/// Of 256 management classes few are used: those that are.
void by_class(Metrics& m, const std::string& name, const std::string& help, const Labels& labels,
              const std::array<uint64_t, 256>& counts) {
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) continue;
    Labels all = labels;
    all.emplace_back("mgmt_class", fmt::format("{:#04x}", c));
    m.counter(name, help, std::move(all), counts[c]);
  }
}

/// Describing words as a label: "wrong class" is wrong_class.
std::string word(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

struct Count {
  abi::Counter counter;
  const char* name;
  const char* help;
};
constexpr Count kCounts[] = {
    {abi::Counter::transmitted, "tidemill_card_transmitted_total", "Tries put into the transmit ring."},
    {abi::Counter::retried, "tidemill_card_retried_total", "Entries of the retry queues."},
    {abi::Counter::matched, "tidemill_card_matched_total", "Responses that matched."},
    {abi::Counter::unsolicited, "tidemill_card_unsolicited_total", "Received MADs handed up without a match."},
    {abi::Counter::no_room, "tidemill_card_no_room_total", "Tries put off because the TID matcher was full."},
    {abi::Counter::events, "tidemill_card_bank_events_total", "Bank events, re-issued ones included."},
    {abi::Counter::interrupts, "tidemill_card_interrupts_total", "Times the interrupt line rose."},
};
struct Refusal {
  abi::Counter counter;
  const char* what;
};
constexpr Refusal kErrors[] = {
    {abi::Counter::doorbells_refused, "doorbell"}, {abi::Counter::commands_refused, "command"},
    {abi::Counter::register_errors, "register"},   {abi::Counter::read_errors, "memory_read"},
    {abi::Counter::write_errors, "memory_write"},
};

}  // namespace

void Metrics::add(const std::string& name, const std::string& type, const std::string& help, Labels labels,
                  uint64_t value) {
  auto found = std::find_if(all_.begin(), all_.end(), [&](const Metric& m) { return m.name == name; });
  if (found == all_.end()) found = all_.insert(all_.end(), Metric{name, type, help, {}});
  found->samples.push_back({std::move(labels), value});
}

const Metric* Metrics::find(const std::string& name) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Metric& m) { return m.name == name; });
  return found == all_.end() ? nullptr : &*found;
}

uint64_t Metrics::sum(const std::string& name, const std::pair<std::string, std::string>& label) const {
  const Metric* const m = find(name);
  uint64_t sum = 0;
  if (m == nullptr) return sum;
  for (const Sample& s : m->samples)
    if (label.first.empty() || std::find(s.labels.begin(), s.labels.end(), label) != s.labels.end()) sum += s.value;
  return sum;
}

std::string Metrics::exposition() const {
  std::string out;
  for (const Metric& m : all_) {
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", m.name, escaped(m.help, false), m.name, m.type);
    for (const Sample& s : m.samples) {
      out += m.name;
      for (std::size_t i = 0; i < s.labels.size(); ++i)
        out += fmt::format("{}{}=\"{}\"", i == 0 ? "{" : ",", s.labels[i].first, escaped(s.labels[i].second, true));
      out += fmt::format("{} {}\n", s.labels.empty() ? "" : "}", s.value);
    }
  }
  return out;
}

void add_card(Metrics& m, const device::CardCounters& c) {
  for (const Count& count : kCounts) m.counter(count.name, count.help, {}, c.count(count.counter));
  for (const Refusal& e : kErrors)
    m.counter("tidemill_card_errors_total", "Accesses the card refused, or that its host memory refused.",
              {{"access", e.what}}, c.count(e.counter));
  const auto cause = [](std::size_t i) { return abi::name_of(static_cast<abi::Cause>(i)); };
  by(m, "tidemill_card_completed_total", "Sends completed, by status.", {}, "status", c.completed,
     [](std::size_t i) { return abi::name_of(static_cast<abi::Status>(i)); });
  by(m, "tidemill_card_dropped_total", "Responses dropped, by cause.", {}, "cause", c.dropped, cause);
  by(m, "tidemill_card_rejected_total", "Events of banks rejected, by cause.", {}, "cause", c.rejected, cause);
  m.gauge("tidemill_card_tick", "Current tick of the card.", {}, c.tick);
  m.gauge("tidemill_card_idle", "1: nothing stands in any queue of the card, and no timer has to be looked at.", {},
          c.state & 1u);
  m.gauge("tidemill_card_failure", "Why the card has stopped (enum failure of the ABI); 0: it works.", {}, c.failure);
}

void add_port(Metrics& m, unsigned port, const PortStats& s) {
  const Labels labels{{"port", std::to_string(port)}};
  m.counter("tidemill_port_transmitted_total", "Tries given to the wire.", labels, s.transmitted);
  m.counter("tidemill_port_retried_total", "Tries after the first.", labels, s.retried);
  m.counter("tidemill_port_received_total", "MADs from the wire, dropped ones included.", labels, s.received);
  m.counter("tidemill_port_matched_total", "Responses that matched.", labels, s.matched);
  m.counter("tidemill_port_unsolicited_total", "MADs delivered without a match.", labels, s.unsolicited);
  m.counter("tidemill_port_auto_responses_total", "Automatic answers to requests nobody handles.", labels,
            s.auto_responses);
  by(m, "tidemill_port_completed_total", "Sends completed, by status.", labels, "status", s.completed,
     [](std::size_t i) { return word(describe(static_cast<SendStatus>(i))); });
  by(m, "tidemill_port_dropped_total", "Received MADs dropped, by cause.", labels, "cause", s.dropped,
     [](std::size_t i) { return word(describe(static_cast<DropCause>(i))); });
  by_class(m, "tidemill_port_sent_by_class_total", "Tries by management class.", labels, s.sent_by_class);
  by_class(m, "tidemill_port_received_by_class_total", "MADs received by management class.", labels,
           s.received_by_class);
}

void add_agent(Metrics& m, unsigned port, const AgentStats& s) {
  const Labels labels{{"port", std::to_string(port)}, {"agent", std::to_string(s.id)}, {"name", s.name}};
  m.counter("tidemill_agent_accepted_total", "Sends accepted.", labels, s.accepted);
  m.counter("tidemill_agent_refused_total", "Sends refused.", labels, s.refused);
  m.counter("tidemill_agent_received_total", "MADs handed to the agent.", labels, s.received);
  by(m, "tidemill_agent_completed_total", "Sends completed, by status.", labels, "status", s.completed,
     [](std::size_t i) { return word(describe(static_cast<SendStatus>(i))); });
  m.gauge("tidemill_agent_outstanding", "Sends outstanding.", labels, s.outstanding);
  m.gauge("tidemill_agent_outstanding_high", "Most sends outstanding at a time.", labels, s.outstanding_high);
}

}  // namespace tidemill::metrics
