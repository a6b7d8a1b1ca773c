// SPDX-License-Identifier: Apache-2.0
/// Parts of the self-test that need no registers: the blocks of the engine, in every bank, through the device contract.
#pragma once
#include "device_tool/engine_rig.hpp"
#include "device_tool/selftest.hpp"

namespace tidemill::device_tool {

/// Sends that expect nothing: four uses of a slot, an error of the wire, a descriptor that comes again.
Verdict test_tracker(EngineRig& rig, std::string& found);
/// Responses find their sends, and only theirs; early, late and unknown ones.
Verdict test_matcher(EngineRig& rig, std::string& found);
/// Timers of each level: never early, hardly late.
Verdict test_wheel(EngineRig& rig, std::string& found);
/// All tries of a send, linear and with back-off, and its deadline.
Verdict test_retries(EngineRig& rig, std::string& found);
/// Cancel and modify; a response after a cancel.
Verdict test_commands(EngineRig& rig, std::string& found);
/// The flush of one agent ends its sends in every bank and nobody else's.
Verdict test_flush(EngineRig& rig, std::string& found);
/// Weights, service classes, windows, and a lane that is closed. For a rig without wire credit.
Verdict test_arbiter(EngineRig& rig, std::string& found);
/// No more tries on the wire than its credit, and no credit lost. For a rig with kCredit of it.
Verdict test_wire_credit(EngineRig& rig, std::string& found);
inline constexpr uint16_t kCredit = 4;

}  // namespace tidemill::device_tool
