// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "command.hpp"

namespace tidemill::tool {

/// Adds `device` with its verbs: what an operator does with a card.
void add_device(CLI::App& app, int& status);

}  // namespace tidemill::tool
