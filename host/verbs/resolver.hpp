// SPDX-License-Identifier: Apache-2.0
/// Makes address handles on a thread of its own, where the kernel may take a second to find that nobody answers: the
/// wire and every other peer go on meanwhile.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "address_handles.hpp"

namespace tidemill::verbs {

class Resolver {
 public:
  struct Answer {
    Path path;
    void* handle = nullptr;
  };
  /// `make` runs on the thread.
  explicit Resolver(std::function<void*(const Path&)> make);
  /// Waits for the one being made. The caller destroys the handles take() gives after stop().
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  void ask(const Path& path);
  std::vector<Answer> take();
  void stop();
  /// Readable when take() has something.
  int event_fd() const { return event_; }

 private:
  void run();

  const std::function<void*(const Path&)> make_;
  int event_;
  std::mutex mutex_;  ///< Of the next three.
  std::deque<Path> asked_;
  std::vector<Answer> answers_;
  bool stop_ = false;
  std::condition_variable wake_;
  std::thread thread_;  ///< Started by the first ask().
};

}  // namespace tidemill::verbs
