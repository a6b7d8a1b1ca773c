// SPDX-License-Identifier: Apache-2.0
/// A file being written. The first failure sticks and is told at the end.
#pragma once
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "tidemill/error.hpp"

namespace tidemill::trace {

class OutputFile {
 public:
  explicit OutputFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) error_ = errno;
  }

  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void write(std::span<const std::byte> bytes) {
    if (error_ == 0 && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) error_ = errno;
  }
  /// Nothing if all of it is written.
  std::optional<Error> close() {
    if (file_ != nullptr && std::fclose(file_.release()) != 0 && error_ == 0) error_ = errno;
    if (error_ == 0) return std::nullopt;
    return Error{Errc::file_failed, path_ + ": " + std::generic_category().message(error_)};
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  int error_ = 0;
};

}  // namespace tidemill::trace
