// SPDX-License-Identifier: Apache-2.0
/// `tidemill exec`: runs a libibumad program on Tidemill.
#pragma once
#include "command.hpp"

namespace tidemill::tool {

void add_exec(CLI::App& app, int& status);

}  // namespace tidemill::tool
