// SPDX-License-Identifier: Apache-2.0
/// The events of a plan, legal and illegal ones: all of them are tried in every state.
#pragma once
#include <set>

#include "bank_plan.hpp"

namespace tidemill::explore {

inline void put_send(abi::Event& e, const Send& s) {
  e.tid(s.tid());
  e.agent(s.agent);
  e.mgmt_class(s.mgmt_class);
  e.timeout(s.timeout);
  e.backoff_cap(s.backoff_cap);
  e.deadline(s.deadline);
  e.peer(s.peer);
  e.own_address(s.own_address);
  e.lane(s.lane);
  e.retries(s.retries);
  e.port(s.port);
  e.qp(s.qp);
  e.grh(s.grh);
  e.match_source(s.match_source);
  e.counted(s.counted);
}

/// One entry of the list.
struct Step {
  abi::Event event{};  ///< With `names_send` the generation is relative to the right one.
  std::string label{};
  uint8_t send = 0;
  bool names_send = false;
  bool passes_time = false;
};

class EventList {
 public:
  explicit EventList(const Plan& plan) : plan_(plan) {
    for (const uint8_t slot : plan_.slots) {
      const std::string where = " of slot " + std::to_string(slot);
      descriptors(slot, where);
      reports(slot, where);
      commands(slot, where);
      if (plan_.stale) strangers(slot, where);
    }
    responses();
    grants();
    flushes();
    if (plan_.lag == 0) return;
    abi::Event tick;
    tick.kind(abi::EventKind::tick);
    add(tick, "tick step");
    steps_.push_back({.label = "time passes", .passes_time = true});
  }
  std::vector<Step> take() { return std::move(steps_); }

 private:
  void add(const abi::Event& e, std::string label, uint8_t send = 0, bool names_send = false) {
    steps_.push_back({e, std::move(label), send, names_send, false});
  }
  void grants() {
    for (const bool qp : {false, true}) {
      bool used = !plan_.recoveries.empty();
      for (const Send& s : plan_.sends) used |= s.qp == qp;
      if (!used) continue;
      abi::Event e;
      e.kind(abi::EventKind::grant);
      e.qp(qp);
      add(e, std::string("grant the retry lane of QP") + (qp ? "1" : "0"));
    }
  }
  void flushes() {
    std::set<uint32_t> agents;
    for (const Send& s : plan_.sends) agents.insert(s.agent);
    if (!plan_.flush) agents.clear();
    for (const uint32_t agent : agents) {
      for (const uint8_t cursor : plan_.slots) {
        abi::Event e;
        e.kind(abi::EventKind::flush);
        e.agent(agent);
        e.cursor(cursor);
        add(e, "flush agent " + std::to_string(agent) + " from slot " + std::to_string(cursor));
      }
    }
  }
  /// An event that names a slot; `generation` counts from the right one.
  static abi::Event naming(abi::EventKind kind, unsigned slot, int generation = 0) {
    abi::Event e;
    e.kind(kind);
    e.slot(static_cast<uint16_t>(slot));
    e.generation(static_cast<uint16_t>(generation));
    return e;
  }
  void descriptors(uint8_t slot, const std::string& where) {
    for (uint8_t i = 0; i < plan_.sends.size(); ++i) {
      if (plan_.own_sends && i != slot % plan_.sends.size()) continue;
      abi::Event e = naming(abi::EventKind::descriptor, slot);
      put_send(e, plan_.sends[i]);
      add(e, "descriptor " + std::to_string(i) + where, i, true);
      e.drain(true);
      e.counted(false);
      if (plan_.drain) add(e, "drained descriptor " + std::to_string(i) + where, i, true);
    }
  }
  void reports(uint8_t slot, const std::string& where) {
    abi::Event e = naming(abi::EventKind::sent, slot);
    add(e, "sent" + where, 0, true);
    e.status(abi::Status::error);
    e.vendor(7);
    if (plan_.errors) add(e, "sent with error" + where, 0, true);
    e.status(abi::Status::flushed);
    for (const uint8_t recovery : plan_.recoveries) {
      e.recovery(recovery);
      add(e, "flushed in recovery " + std::to_string(recovery) + where, 0, true);
    }
  }
  void commands(uint8_t slot, const std::string& where) {
    abi::Event e = naming(abi::EventKind::cancel, slot);
    e.agent(plan_.sends.front().agent);
    if (plan_.cancel) add(e, "cancel" + where, 0, true);
    e.kind(abi::EventKind::modify);
    for (const uint32_t ticks : plan_.modify) {
      e.timeout(ticks);
      add(e, "modify to " + std::to_string(ticks) + where, 0, true);
    }
    e.kind(abi::EventKind::deadline);
    for (const uint32_t ticks : plan_.deadline) {
      e.deadline(ticks);
      add(e, "deadline in " + std::to_string(ticks) + where, 0, true);
    }
  }
  /// What names the last generation, the next one, or a slot number past the last whose low bits are this slot's.
  void strangers(uint8_t slot, const std::string& where) {
    constexpr unsigned kBeyond = 0x4000;
    for (const auto kind : {abi::EventKind::descriptor, abi::EventKind::sent, abi::EventKind::cancel,
                            abi::EventKind::modify, abi::EventKind::deadline}) {
      const auto name = [&](abi::Event e, const char* what) {
        put_send(e, plan_.sends.front());
        add(e, abi::name_of(kind) + where + what, 0, true);
      };
      name(naming(kind, slot, -1), ", last generation");
      name(naming(kind, slot, 1), ", next generation");
      name(naming(kind, slot | kBeyond), " plus more slots than there are");
    }
  }
  void responses() {
    for (size_t i = 0; i < plan_.sends.size(); ++i) {
      const Send& s = plan_.sends[i];
      abi::Event e;
      put_send(e, s);
      e.kind(abi::EventKind::received);
      e.counted(false);
      e.buffer(static_cast<uint16_t>(100 + i));
      const std::string name = "response " + std::to_string(i);
      add(e, name);
      if (!plan_.forged) continue;
      const auto forge = [&](const char* what, auto change) {
        abi::Event wrong = e;
        change(wrong);
        add(wrong, name + " with " + what);
      };
      forge("another class", [](abi::Event& w) { w.mgmt_class(w.mgmt_class() ^ 0x40); });
      forge("another port", [](abi::Event& w) { w.port(w.port() + 1); });
      forge("the other QP", [](abi::Event& w) { w.qp(!w.qp()); });
      forge("another address of ours", [](abi::Event& w) { w.own_address(w.own_address() + 1); });
      forge("a GRH more or less", [](abi::Event& w) { w.grh(!w.grh()); });
      forge("another responder", [](abi::Event& w) { w.peer(w.peer() + 1); });
      forge("an unknown TID", [](abi::Event& w) { w.tid(w.tid() + 0x100); });
      forge("active RMPP", [](abi::Event& w) { w.rmpp(true); });
    }
  }

  const Plan& plan_;
  std::vector<Step> steps_;
};

}  // namespace tidemill::explore
