// SPDX-License-Identifier: Apache-2.0
/// What a run on a fabric gave, as tables for a terminal and as JSON.
#pragma once
#include <nlohmann/json.hpp>

#include <string>

#include "fabric_run.hpp"

namespace tidemill::tool {

/// How sends ended, how long they took, what the links did.
std::string summary(const FabricRunOptions& options, const FabricRunResult& r);
/// Every counter of port, classes and agents.
std::string counters(const FabricRunResult& r);
nlohmann::json to_json(const FabricRunOptions& options, const FabricRunResult& r);

}  // namespace tidemill::tool
