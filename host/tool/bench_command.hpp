// SPDX-License-Identifier: Apache-2.0
/// tidemill bench: a quick figure for this machine; the benchmarks with rivals and curves are in tb/bench.
#pragma once
#include "command.hpp"

namespace tidemill::tool {

void add_bench(CLI::App& app, int& status);

}  // namespace tidemill::tool
