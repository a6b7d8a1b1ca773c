// SPDX-License-Identifier: Apache-2.0
/// Records and verdicts of the tracker in the words of a table.
#pragma once
#include <cstdint>
#include <string>

#include "hls/tracker.hpp"

namespace tidemill::test {

inline constexpr uint32_t kNow = 100;
inline constexpr uint32_t kTryWait = 10;

/// A counted GSI request at generation 5 with two retries left, its first try started, in this state.
inline hls::SlotRecord record(abi::SlotState state) {
  hls::SlotRecord r;
  r.flags.state(state);
  r.flags.generation(5);
  if (state == abi::SlotState::free || state == abi::SlotState::queued) return r;
  r.flags.mgmt_class(0x03);
  r.flags.expects(true);
  r.flags.counted(state != abi::SlotState::early && state != abi::SlotState::cancelled);
  r.flags.qp(true);
  r.flags.retries(2);
  r.flags.tries(1);
  r.flags.left(state == abi::SlotState::waiting || state == abi::SlotState::retry);
  r.owner.agent(7);
  r.owner.port(1);
  r.owner.own_address(3);
  r.tid = (uint64_t{7} << 32) | 1u;
  r.pace.try_wait(kTryWait);
  r.limits.peer(42);
  r.due = kNow + kTryWait + 1;
  return r;
}
inline hls::SlotRecord timed(hls::SlotRecord r, uint32_t deadline) {
  r.flags.timed(true);
  r.limits.deadline(deadline);
  return r;
}

inline abi::Event event(abi::EventKind kind) {
  abi::Event e;
  e.kind(kind);
  e.generation(5);
  e.now(kNow);
  return e;
}
inline abi::Event sent_report(abi::Status status, uint8_t recovery = 0) {
  abi::Event e = event(abi::EventKind::sent);
  e.status(status);
  e.recovery(recovery);
  return e;
}
/// The response to record().
inline abi::Event response() {
  abi::Event e = event(abi::EventKind::received);
  e.tid((uint64_t{7} << 32) | 1u);
  e.mgmt_class(0x03);
  e.port(1);
  e.qp(true);
  e.own_address(3);
  e.peer(42);
  return e;
}

/// "action status -> state, what else is to be done".
inline std::string text(const hls::Verdict& v) {
  std::string out = name_of(v.action);
  if (v.action == abi::ActionKind::complete || v.action == abi::ActionKind::respond_complete)
    out += std::string(" ") + name_of(v.status);
  if (v.cause != abi::Cause::none) out += std::string(" ") + name_of(v.cause);
  out += std::string(" -> ") + (v.release ? "free" : name_of(v.flags.state()));
  if (!v.release && v.flags.modified()) out += ", modified";
  if (!v.release && v.flags.timed()) out += ", timed";
  if (v.disarm) out += ", disarm";
  if (v.arm) out += ", arm " + std::to_string(v.due);
  if (v.enqueue) out += ", enqueue";
  if (v.window_credit) out += ", credit";
  return out;
}

}  // namespace tidemill::test
