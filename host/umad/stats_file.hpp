// SPDX-License-Identifier: Apache-2.0
/// The counts of a process, as JSON.
#pragma once
#include <string>

#include "tidemill.hpp"

namespace tidemill::umad {

Error write_stats(const std::string& path, const Device& device, const Port& port, const IbsimCounters& fabric);

}  // namespace tidemill::umad
