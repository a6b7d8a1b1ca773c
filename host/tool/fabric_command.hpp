// SPDX-License-Identifier: Apache-2.0
/// `tidemill fabric` and `tidemill net`: a simulated fabric with a subnet manager, and net files for it.
#pragma once
#include "command.hpp"

namespace tidemill::tool {

void add_fabric(CLI::App& app, int& status);
void add_net(CLI::App& app, int& status);

}  // namespace tidemill::tool
