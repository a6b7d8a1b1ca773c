// SPDX-License-Identifier: Apache-2.0
/// The file that stands for /dev/infiniband/issmN. Programs open and close it with libc; watched, it sets and clears
/// IsSM.
#pragma once
#include <functional>
#include <string>
#include <thread>

#include "session.hpp"

namespace tidemill::umad {

class Session::IssmFile {
 public:
  /// `set` is called on a thread of the file's own.
  explicit IssmFile(std::function<void(bool)> set);
  ~IssmFile();
  IssmFile(const IssmFile&) = delete;
  IssmFile& operator=(const IssmFile&) = delete;

  /// Empty if it could not be made.
  const std::string& path() const { return path_; }

 private:
  void watch(const std::function<void(bool)>& set) const;

  std::string path_;
  int inotify_ = -1, stop_ = -1;
  std::thread thread_;
};

}  // namespace tidemill::umad
