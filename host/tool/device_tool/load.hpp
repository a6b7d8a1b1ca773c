// SPDX-License-Identifier: Apache-2.0
/// Requests over a wire in loopback, of which one in sixteen is lost once: something to look at on a device that nobody
/// else uses. A device that loses completions stalls it: that is an error, not a wait without end.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "device_tool/loopback.hpp"

namespace tidemill::device_tool {

class Load {
 public:
  static Result<std::unique_ptr<Load>> open(const std::string& uri);
  /// With sends still outstanding it leaves the device behind: closing it would wait for them.
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Sends until so many have completed in all. An error says how many have.
  std::optional<Error> complete(uint64_t requests);
  /// Sends for so long.
  std::optional<Error> send_for(Nanoseconds time);
  /// Sends no more, and waits for what is outstanding.
  std::optional<Error> drain();

  std::string metrics() const;

 private:
  struct Traffic;
  explicit Load(std::unique_ptr<Traffic> traffic);
  std::optional<Error> poll(const std::function<bool()>& done);

  std::unique_ptr<Traffic> traffic_;
  Nanoseconds waited_{0};  ///< Since the last completion.
};

}  // namespace tidemill::device_tool
