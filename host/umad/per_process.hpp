// SPDX-License-Identifier: Apache-2.0
/// State of the process, one for each: a forked child gets a fresh one and never touches its parent's, whose locks
/// threads may hold that the child does not have. Never destroyed. Any thread.
#pragma once
#include <unistd.h>

#include <atomic>

namespace tidemill::umad {

template <class T>
class PerProcess {
 public:
  T& get() {
    Owned* now = current_.load();
    if (now->owner == ::getpid()) return now->value;
    auto* const own = new Owned;
    if (current_.compare_exchange_strong(now, own)) return own->value;
    delete own;
    return now->value;
  }

 private:
  struct Owned {
    const pid_t owner = ::getpid();
    T value;
  };
  std::atomic<Owned*> current_{new Owned};
};

}  // namespace tidemill::umad
