// SPDX-License-Identifier: Apache-2.0
/// The soft engine with one fault built in, to see whether a soak run notices.
#pragma once
#include <ostream>
#include <span>
#include <string>

#include "host/tool/soak/any_engine.hpp"

namespace tidemill::test {

struct Fault {
  const char* name;
  const char* rule;  ///< What the first violation must begin with.
};
inline void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

/// All faults that can be planted.
std::span<const Fault> faults();
/// Makes engines with the fault of this name.
soak::EngineMaker faulty(const std::string& name);

}  // namespace tidemill::test
