// SPDX-License-Identifier: Apache-2.0
#include "resolver.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace tidemill::verbs {

Resolver::Resolver(std::function<void*(const Path&)> make)
    : make_(std::move(make)), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Resolver::~Resolver() {
  stop();
  close(event_);
}

void Resolver::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    asked_.clear();
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Resolver::ask(const Path& path) {
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(path);
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  wake_.notify_one();
}

std::vector<Resolver::Answer> Resolver::take() {
  uint64_t count;
  (void)!read(event_, &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

void Resolver::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !asked_.empty(); });
    if (stop_) return;
    const Path path = asked_.front();
    asked_.pop_front();
    lock.unlock();
    void* const handle = make_(path);
    lock.lock();
    answers_.push_back({path, handle});
    const uint64_t one = 1;
    (void)!write(event_, &one, sizeof one);
  }
}

}  // namespace tidemill::verbs
