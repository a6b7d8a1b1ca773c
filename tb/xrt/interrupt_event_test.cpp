// SPDX-License-Identifier: Apache-2.0
/// A card's interrupt as a descriptor, with a stand-in for XRT's wait: its emulation has no interrupts.
#include "host/xrt/interrupt_event.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace tidemill::xrt_card {
namespace {

using namespace std::chrono_literals;

class Line {
 public:
  bool wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, most, [this] { return raised_ != 0 || broken_; });
    if (broken_) throw std::runtime_error("the card has gone");
    return std::exchange(raised_, 0) != 0;
  }
  void raise() {
    const std::lock_guard lock(mutex_);
    ++raised_;
    changed_.notify_all();
  }
  void break_off() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int raised_ = 0;
  bool broken_ = false;
};

bool readable(const InterruptEvent& event, std::chrono::milliseconds within) {
  pollfd p{event.fd(), POLLIN, 0};
  return poll(&p, 1, static_cast<int>(within.count())) == 1;
}

TEST(InterruptEvent, IsReadableFromAnInterruptUntilItIsTaken) {
  Line line;
  InterruptEvent event([&](auto most) { return line.wait(most); });
  EXPECT_FALSE(readable(event, 0ms));
  EXPECT_FALSE(event.take());
  for (int i = 0; i < 3; ++i) {
    line.raise();
    ASSERT_TRUE(readable(event, 10s));
    EXPECT_TRUE(event.take());
    EXPECT_FALSE(readable(event, 0ms));
  }
  EXPECT_TRUE(event.works());
}

TEST(InterruptEvent, WakesTheSleeperWhenNoMoreCanCome) {
  Line line;
  InterruptEvent event([&](auto most) { return line.wait(most); });
  line.break_off();
  ASSERT_TRUE(readable(event, 10s));
  EXPECT_FALSE(event.works());
}

TEST(InterruptEvent, EndsWithoutAnInterrupt) {
  Line line;
  const auto begin = std::chrono::steady_clock::now();
  {
    InterruptEvent event([&](auto most) { return line.wait(most); });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

}  // namespace
}  // namespace tidemill::xrt_card
