// SPDX-License-Identifier: Apache-2.0
/// Directed routes: SMPs that name the port to leave by at every hop. Pure directed routes only: an SMP with a LID-routed
/// part is refused. Source: IBA 14.2.2.
#pragma once
#include <optional>

#include "fabric/topology.hpp"
#include "mad_edit.hpp"

namespace tidemill::fabric {

/// Where a MAD ends up.
struct Stop {
  DeviceNumber device = kNoDevice;
  uint8_t port = 0;  ///< By which it came in.
};

/// Moves an SMP from `start` along its path, forward or back by its direction bit, and edits it as the hops would: hop
/// pointer and, forward, the return path. Nothing if the path breaks off or the SMP is not at the start of it.
std::optional<Stop> follow_directed_route(const Topology& topology, DeviceNumber start, MadBytes smp);

}  // namespace tidemill::fabric
