// SPDX-License-Identifier: Apache-2.0
/// Requests over a wire in loopback, of which one in sixteen is lost once: something to look at on a device that nobody
/// else uses.
#pragma once
#include <memory>

#include "device_tool/loopback.hpp"

namespace tidemill::device_tool {

class Load {
 public:
  static Result<std::unique_ptr<Load>> open(const std::string& uri);

  /// Sends until so many have completed in all; or for so long, whichever comes first.
  void run(uint64_t completions, Nanoseconds time);
  std::string metrics() const { return device_.metrics(); }
  uint64_t completed() const { return completed_; }

 private:
  explicit Load(Device device) : device_(std::move(device)) {}
  void post();

  static constexpr uint64_t kOutstanding = 64;
  Device device_;
  Port port_;
  uint64_t posted_ = 0, completed_ = 0, goal_ = 0;
  const Mad mad_ = Mad::make(mad_class::perf, 1, mad_method::get, 0x0012);
  Agent agent_;
};

}  // namespace tidemill::device_tool
