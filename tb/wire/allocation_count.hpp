// SPDX-License-Identifier: Apache-2.0
/// How often this thread has allocated.
#pragma once
#include <cstdint>

namespace tidemill::test {
uint64_t allocations();
}
