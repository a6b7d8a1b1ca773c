// SPDX-License-Identifier: Apache-2.0
/// A card's interrupt as a descriptor that a runtime can sleep on. XRT has only a call that waits: a thread makes it.
#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <system_error>
#include <thread>

namespace tidemill::xrt_card {

class InterruptEvent {
 public:
  /// Waits at most so long; true if there was an interrupt. Its thread ends with the first exception.
  using Wait = std::function<bool(std::chrono::milliseconds)>;

  explicit InterruptEvent(Wait wait) : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (event_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    thread_ = std::thread([this, wait = std::move(wait)] { run(wait); });
  }
  ~InterruptEvent() {
    stop_ = true;
    thread_.join();
    close(event_);
  }
  InterruptEvent(const InterruptEvent&) = delete;
  InterruptEvent& operator=(const InterruptEvent&) = delete;

  /// Readable until take().
  int fd() const { return event_; }
  /// There was an interrupt since the last call.
  bool take() {
    uint64_t count = 0;
    return read(event_, &count, sizeof count) == sizeof count;
  }
  /// False: no more interrupts come, the card must be looked at.
  bool works() const { return works_; }

 private:
  static constexpr std::chrono::milliseconds kTurn{100};  ///< So long the end may have to wait.

  void run(const Wait& wait) {
    try {
      while (!stop_)
        if (wait(kTurn)) signal();
    } catch (const std::exception&) {
      works_ = false;
      signal();  // whoever sleeps on it must look from now on
    }
  }
  void signal() {
    const uint64_t one = 1;
    [[maybe_unused]] const auto told = write(event_, &one, sizeof one);
  }

  int event_;
  std::atomic<bool> stop_{false}, works_{true};
  std::thread thread_;
};

}  // namespace tidemill::xrt_card
