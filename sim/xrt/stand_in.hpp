// SPDX-License-Identifier: Apache-2.0
/// Answers the host in place of a simulation that has died: registers read as all ones, as a card that has gone from
/// PCIe answers; everything else is taken and does nothing. Until the host closes.
#pragma once
#include "sim/xrt/channel.hpp"

namespace tidemill::sim {

/// `state`: the call that the simulation was in, which is answered first. `memory` is closed at the end.
void stand_in(Channel& host, Channel& memory, CallState& state);

}  // namespace tidemill::sim
