// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

/// The planted bug that is switched on; 0 for none. Asked by the RTL.
extern "C" int tidemill_mutant_selected() {
  static const char* const chosen = std::getenv("TIDEMILL_MUTANT");  // NOLINT(concurrency-mt-unsafe): no thread changes it
  static const int number = chosen == nullptr ? 0 : std::atoi(chosen);
  return number;
}
