// SPDX-License-Identifier: Apache-2.0
/// tidemill bench: a quick figure for this machine.
#pragma once
#include "command.hpp"

namespace tidemill::tool {

void add_bench(CLI::App& app, int& status);

}  // namespace tidemill::tool
