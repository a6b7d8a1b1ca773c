// SPDX-License-Identifier: Apache-2.0
/// What a platform has measured, as a JSON file.
#pragma once
#include <string>

namespace tidemill::sim {

class Platform;
void write_statistics(const Platform& platform, const std::string& file);

}  // namespace tidemill::sim
