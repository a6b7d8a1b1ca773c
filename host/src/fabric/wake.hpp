// SPDX-License-Identifier: Apache-2.0
/// An event descriptor that other threads set and the owner clears when it looks after what they brought.
#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace tidemill::fabric {

class Wake {
 public:
  Wake() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Wake() {
    if (fd_ >= 0) ::close(fd_);
  }
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  int fd() const { return fd_; }
  /// Any thread, after what it brought is visible.
  void set() {
    if (set_.exchange(true)) return;
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
  }
  bool is_set() const { return set_.load(std::memory_order_relaxed); }
  /// Owner's thread, before it looks. False: nothing to look for.
  bool take() {
    if (!is_set()) return false;
    uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(fd_, &count, sizeof count);
    return set_.exchange(false);
  }

 private:
  const int fd_;
  std::atomic<bool> set_{false};
};

}  // namespace tidemill::fabric
