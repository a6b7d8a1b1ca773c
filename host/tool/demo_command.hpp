// SPDX-License-Identifier: Apache-2.0
/// tidemill demo, tidemill stats: agents over a lossy simulated fabric through the public API.
#pragma once
#include "command.hpp"

namespace tidemill::tool {

void add_demo(CLI::App& app, int& status);
void add_stats(CLI::App& app, int& status);

}  // namespace tidemill::tool
