// SPDX-License-Identifier: Apache-2.0
/// Sleeping until a post, a wire's descriptor or a time. A kick is never lost: the sleeper says that it sleeps before it
/// looks once more, the kicker posts before it asks whether anyone sleeps, both sequentially consistent.
#pragma once
#include <atomic>
#include <cstdint>

#include "tidemill/clock.hpp"

namespace tidemill::detail {

class Sleeper {
 public:
  Sleeper();
  ~Sleeper();
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  /// For an outside event loop: a descriptor that is readable when there is something to do, if arm() ends every pass.
  int expose() {
    exposed_.store(true);
    return epoll_;
  }
  bool exposed() const { return exposed_.load(std::memory_order_relaxed); }
  void watch(int fd);
  void unwatch(int fd);

  void kick() {
    if (asleep_.load(std::memory_order_seq_cst)) wake();
  }
  /// Returns at once if `pending()`.
  template <class Pending>
  void sleep(Pending&& pending, Nanoseconds timeout) {
    asleep_.store(true, std::memory_order_seq_cst);
    const bool ours = timeout.count() > 0 && !pending() && block(timeout);
    asleep_.store(false, std::memory_order_seq_cst);
    if (ours) drain();  // a kick that came too late for it ends the next sleep instead
  }
  /// Kicks make the descriptor readable from now on, and so does the time.
  void arm(Nanoseconds timeout);
  /// The pass that follows an arm().
  void awake() {
    if (!exposed()) return;
    asleep_.store(false, std::memory_order_seq_cst);
    drain();
  }

 private:
  void wake();
  /// True if a kick or the timer ended it, not a wire.
  bool block(Nanoseconds timeout);
  void drain();

  int epoll_, event_, timer_;
  std::atomic<bool> asleep_{false}, exposed_{false};
};

}  // namespace tidemill::detail
