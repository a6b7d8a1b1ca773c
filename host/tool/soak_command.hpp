// SPDX-License-Identifier: Apache-2.0
/// tidemill soak: a long randomized run of the engine under faults.
#pragma once
#include "command.hpp"
#include "soak/any_engine.hpp"

namespace tidemill::tool {

/// `make_engine` is for tests that put a faulty engine in its place.
void add_soak(CLI::App& app, int& status, const soak::EngineMaker& make_engine = soak::make_soft_engine);

}  // namespace tidemill::tool
