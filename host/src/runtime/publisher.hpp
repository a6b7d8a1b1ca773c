// SPDX-License-Identifier: Apache-2.0
/// Writes what a device counts to a file, for others to watch: XRT gives the registers of a card to one process alone,
/// so it is the one that has them who tells. The file is Prometheus's text format, always whole, and goes with the
/// device. A file that is not ours, or that a living process writes, is left alone.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "tidemill/clock.hpp"
#include "tidemill/error.hpp"

namespace tidemill::detail {

class Publisher {
 public:
  /// What TIDEMILL_METRICS asks for; null if it is not set. Further devices of a process get a number in their file's
  /// name.
  static Result<std::unique_ptr<Publisher>> from_environment();
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// Until the next text is due; zero if it is.
  Nanoseconds due_in() const;
  void publish(const std::string& text);

 private:
  explicit Publisher(std::string path);
  bool write(const std::string& text) const;

  const pid_t process_;  ///< A child that was forked leaves the file alone.
  const std::string path_;
  const std::string draft_;  ///< Renamed to `path_` when it is whole.
  bool owns_ = false;        ///< The file there is ours, to be removed.
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace tidemill::detail
