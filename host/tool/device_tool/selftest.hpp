// SPDX-License-Identifier: Apache-2.0
/// The self-test of a device: part after part from its registers to MADs that come back over a wire in loopback, each
/// from a fresh reset, so that what fails names the part and not what was tried before it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/error.hpp"

namespace tidemill::device_tool {

enum class Outcome : uint8_t { passed, failed, skipped };

struct PartResult {
  std::string name;
  Outcome outcome = Outcome::passed;
  std::string detail;  ///< What was found; of a failed part what was wrong, of a skipped one why.
  double seconds = 0;
};

struct SelftestReport {
  std::string device;
  std::vector<PartResult> parts;
  bool passed() const;
};

struct SelftestHooks {
  std::function<void(const std::string& part)> begins;
  std::function<void(const PartResult& result)> ended;
};

/// An error if the device cannot be tested at all; what the test finds is in the report.
Result<SelftestReport> selftest(const std::string& uri, const SelftestHooks& hooks);

/// What a part says: nothing is good. `found` is a line for who reads a good report.
using Verdict = std::optional<std::string>;

}  // namespace tidemill::device_tool
