// SPDX-License-Identifier: Apache-2.0
/// Explores a block with a planted fault: succeeds if the explorer names the invariant that the fault breaks.
#include "planted_fault.hpp"

#include <cstdio>

int main() {
  using namespace tidemill::explore;
  const auto space = planted_space();
  Explorer explorer(space);
  const Report report = explorer.run();
  std::printf("%s\n%llu states, %llu edges\n%s", kFault, static_cast<unsigned long long>(report.states),
              static_cast<unsigned long long>(report.edges), report.story.c_str());
  if (report.broken == kBreaks) return 0;
  std::printf("not found; it should break: %s\n", kBreaks);
  return 1;
}
