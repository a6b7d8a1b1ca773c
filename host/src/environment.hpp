// SPDX-License-Identifier: Apache-2.0
/// Settings from the environment.
#pragma once
#include <cstdlib>
#include <string>

namespace tidemill {

/// What the variable says; `otherwise` if it is not there or empty.
inline std::string environment(const char* name, const char* otherwise = "") {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread of ours changes it
  return value != nullptr && *value != '\0' ? value : otherwise;
}

}  // namespace tidemill
