// SPDX-License-Identifier: Apache-2.0
#include "runtime/sleeper.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace tidemill::detail {
namespace {

int checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return fd;
}

}  // namespace

Sleeper::Sleeper()
    : epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      event_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      timer_(checked(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create")) {
  watch(event_);
  watch(timer_);
}

Sleeper::~Sleeper() {
  for (const int fd : {timer_, event_, epoll_}) close(fd);
}

void Sleeper::watch(int fd) {
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.fd = fd;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &e);
}

void Sleeper::unwatch(int fd) { epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

void Sleeper::wake() {
  const uint64_t one = 1;
  (void)!write(event_, &one, sizeof one);
}

bool Sleeper::block(Nanoseconds timeout) {
  std::array<epoll_event, 8> events;
  int ready = 0;
  const auto ms = std::min<int64_t>((timeout.count() + 999'999) / 1'000'000, 1000);
  if (timeout < Nanoseconds(2'000'000)) {
    // epoll counts in milliseconds: short sleeps go by the timer.
    arm(timeout);
    ready = epoll_wait(epoll_, events.data(), events.size(), 10);
  } else {
    ready = epoll_wait(epoll_, events.data(), events.size(), static_cast<int>(ms));
  }
  return std::any_of(events.begin(), events.begin() + std::max(ready, 0),
                     [this](const epoll_event& e) { return e.data.fd == event_ || e.data.fd == timer_; });
}

void Sleeper::arm(Nanoseconds timeout) {
  asleep_.store(true, std::memory_order_seq_cst);
  itimerspec t{};
  const int64_t ns = std::max<int64_t>(timeout.count(), 1);
  t.it_value.tv_sec = ns / 1'000'000'000;
  t.it_value.tv_nsec = ns % 1'000'000'000;
  timerfd_settime(timer_, 0, &t, nullptr);
}

void Sleeper::drain() {
  uint64_t n;
  (void)!read(event_, &n, sizeof n);
  (void)!read(timer_, &n, sizeof n);
}

}  // namespace tidemill::detail
