// SPDX-License-Identifier: Apache-2.0
/// A file in the temporary folder that is removed at the end.
#pragma once
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

namespace tidemill::test {

class TraceFile {
 public:
  explicit TraceFile(const std::string& extension) {
    static std::atomic<unsigned> count{0};
    const std::string name = "tidemill-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + "." + extension;
    path_ = (std::filesystem::temp_directory_path() / name).string();
  }
  ~TraceFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tidemill::test
