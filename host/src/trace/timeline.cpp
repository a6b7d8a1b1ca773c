// SPDX-License-Identifier: Apache-2.0
#include "trace/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

namespace tidemill::trace {
namespace {

std::string class_name(uint8_t mgmt_class) {
  switch (mgmt_class) {
    case mad_class::subn_lid: return "SubnLid";
    case mad_class::subn_directed: return "SubnDirected";
    case mad_class::subn_adm: return "SubnAdm";
    case mad_class::perf: return "Perf";
    case mad_class::bm: return "BM";
    case mad_class::dev_mgt: return "DevMgt";
    case mad_class::com_mgt: return "ComMgt";
    case mad_class::snmp: return "SNMP";
    case mad_class::dev_adm: return "DevAdm";
    case mad_class::boot_mgt: return "BootMgt";
    case mad_class::bis: return "BIS";
    default: return fmt::format("class 0x{:02x}", mgmt_class);
  }
}

/// A JSON string of any bytes; what is not ASCII becomes its Latin-1 escape, so the file is valid whatever a name holds.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// A send from post to completion, as far as it is known.
struct Transaction {
  const EventRecord* posted = nullptr;
  const EventRecord* completed = nullptr;
  std::vector<const EventRecord*> between;
};

class Writer {
 public:
  explicit Writer(OutputFile& out) : out_(out) {}

  void open(uint64_t lost) {
    out_.write(fmt::format("{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"lost_events\":{}}},\"traceEvents\":[", lost));
  }
  void name(uint32_t agent, std::string_view text) {
    for (const char* what : {"process_name", "thread_name"}) {
      event(fmt::format(R"("ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}})", what, agent, agent,
                        quoted(text)));
    }
  }
  void transaction(const Transaction& t, Nanoseconds end) {
    const EventRecord& known = t.posted ? *t.posted : *t.completed;
    const std::string name = t.posted ? class_name(t.posted->mgmt_class) : "send";
    const std::string where = fmt::format(R"("cat":"mad","id":"{:#x}","pid":{},"tid":{})", ++slices_, known.agent, known.agent);
    const Nanoseconds start = t.posted ? t.posted->at : t.completed->at - t.completed->elapsed;
    std::string args = fmt::format(R"("slot":{},"generation":{})", known.id.slot, known.id.generation);
    if (t.posted) {
      args += fmt::format(R"(,"tid":"{:#018x}","class":{})", t.posted->tid, t.posted->mgmt_class);
    }
    if (t.completed) {
      args += fmt::format(R"(,"tries":{},"status":{})", t.completed->tries, quoted(describe(t.completed->status)));
      if (t.completed->vendor != 0) args += fmt::format(R"(,"vendor":{})", t.completed->vendor);
    } else {
      args += R"(,"status":"outstanding")";
    }
    event(fmt::format(R"("ph":"b","name":"{}",{},"ts":{},"args":{{{}}})", name, where, time(start), args));
    for (const EventRecord* e : t.between) {
      const std::string what = e->kind == EventKind::matched ? "matched" : fmt::format("try {}", e->tries);
      event(fmt::format(R"("ph":"n","name":"{}",{},"ts":{})", what, where, time(e->at)));
    }
    event(fmt::format(R"("ph":"e","name":"{}",{},"ts":{})", name, where, time(t.completed ? t.completed->at : end)));
  }
  std::size_t close() {
    out_.write("\n]}\n");
    return slices_;
  }

 private:
  void event(const std::string& members) {
    out_.write(first_ ? "\n{" : ",\n{");
    out_.write(members);
    out_.write("}");
    first_ = false;
  }
  /// The format's unit is the microsecond.
  static std::string time(Nanoseconds t) { return fmt::format("{}.{:03}", t.count() / 1000, t.count() % 1000); }

  OutputFile& out_;
  bool first_ = true;
  std::size_t slices_ = 0;
};

uint64_t key(const EventRecord& e) { return uint64_t{e.agent} << 32 | uint64_t{e.id.slot} << 16 | e.id.generation; }

/// Threads record apart, so at one time events of one send may stand in any order.
std::vector<const EventRecord*> in_order(const std::vector<const EventRecord*>& events) {
  std::vector<const EventRecord*> sorted = events;
  std::ranges::stable_sort(sorted, {}, [](const EventRecord* e) { return std::pair(e->at, e->kind); });
  return sorted;
}

}  // namespace

std::size_t write_timeline(OutputFile& out, const AgentNames& names, const std::vector<const EventRecord*>& events,
                           uint64_t lost) {
  Writer writer(out);
  writer.open(lost);
  std::set<uint32_t> agents;
  for (const auto& [agent, name] : names) agents.insert(agent);
  for (const EventRecord* e : events) agents.insert(e->agent);
  for (const uint32_t agent : agents) {
    const auto name = names.find(agent);
    writer.name(agent, name == names.end() || name->second.empty() ? fmt::format("agent {}", agent) : name->second);
  }

  std::unordered_map<uint64_t, Transaction> live;
  for (const EventRecord* e : in_order(events)) {
    Transaction& t = live[key(*e)];
    switch (e->kind) {
      case EventKind::posted: t.posted = e; break;
      case EventKind::transmitted:
      case EventKind::matched: t.between.push_back(e); break;
      case EventKind::completed:
        t.completed = e;
        writer.transaction(t, e->at);
        live.erase(key(*e));
        break;
    }
  }
  // What was outstanding when the trace was written; a send whose post is lost is not known well enough.
  std::vector<const Transaction*> rest;
  for (const auto& [name, t] : live) {
    if (t.posted) rest.push_back(&t);
  }
  std::ranges::sort(rest, {}, [](const Transaction* t) { return std::pair(t->posted->at, key(*t->posted)); });
  for (const Transaction* t : rest) writer.transaction(*t, events.back()->at);
  return writer.close();
}

}  // namespace tidemill::trace
