// SPDX-License-Identifier: Apache-2.0
/// Entry of libFuzzer; TIDEMILL_FUZZ_TARGET is the harness function.
#include <cstdio>
#include <cstdlib>

#include "harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string broken = tidemill::fuzz::TIDEMILL_FUZZ_TARGET({data, size});
  if (broken.empty()) return 0;
  std::fprintf(stderr, "broken: %s\n", broken.c_str());
  std::abort();
}
