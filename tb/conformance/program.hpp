// SPDX-License-Identifier: Apache-2.0
/// Random programs for the runtime: what an application, its callbacks and its wire may do, as data that shrinks and
/// prints. Every number is taken modulo what there is to choose from, so any program can be run.
#pragma once
#include <cstdint>
#include <ostream>
#include <vector>

namespace tidemill::test {

struct Step {
  enum Kind : uint8_t {
    register_agent,
    send,
    batch,
    cancel,
    modify,
    deregister,
    deregister_async,
    drop_handle,
    poll,
    pass_time,
    answer,       ///< A try is answered: rightly, twice, or with a field that differs.
    report,       ///< A try is reported: sent, failed, or flushed.
    unsolicited,  ///< A request arrives.
    wire_event,
    set_window,
    set_weight,
    faults,  ///< Of the fabric: other rates, its link breaks or mends.
    remove_device,
    kinds
  };
  Kind kind = poll;
  uint8_t who = 0;   ///< Which agent.
  uint8_t what = 0;  ///< Which send, try or value.
  uint16_t how = 0;  ///< Bits that choose among the ways to do it.
  bool operator==(const Step&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Step& s) {
  static constexpr const char* kNames[Step::kinds] = {
      "register_agent",   "send",        "batch",      "cancel",     "modify", "deregister",
      "deregister_async", "drop_handle", "poll",       "pass_time",  "answer", "report",
      "unsolicited",      "wire_event",  "set_window", "set_weight", "faults", "remove_device"};
  return out << "{Step::" << kNames[s.kind] << ", " << unsigned{s.who} << ", " << unsigned{s.what} << ", " << s.how
             << '}';
}

struct Program {
  bool fabric = false;  ///< The wire is a simulated fabric with faults; else a script, told by the program.
  uint32_t seed = 1;    ///< Of the fabric.
  std::vector<Step> steps;
};

inline std::ostream& operator<<(std::ostream& out, const Program& p) {
  out << "{" << (p.fabric ? "true" : "false") << ", " << p.seed << ", {";
  for (const Step& s : p.steps) out << s << ", ";
  return out << "}}";
}

}  // namespace tidemill::test
