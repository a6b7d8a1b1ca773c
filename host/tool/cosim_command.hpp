// SPDX-License-Identifier: Apache-2.0
/// `tidemill cosim`: the co-simulation regression.
#pragma once
#include "command.hpp"

namespace tidemill::tool {

void add_cosim(CLI::App& app, int& status);

}  // namespace tidemill::tool
