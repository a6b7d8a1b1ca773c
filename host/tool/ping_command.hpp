// SPDX-License-Identifier: Apache-2.0
/// tidemill ping: round trips between two hosts over their RDMA devices.
#pragma once
#include "command.hpp"

namespace tidemill::tool {

void add_ping(CLI::App& app, int& status);

}  // namespace tidemill::tool
