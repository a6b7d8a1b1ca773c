// SPDX-License-Identifier: Apache-2.0
/// On which cores threads, and the programs they start, run.
#pragma once
#include <sched.h>

#include <vector>

namespace tidemill::bench {

enum class Cores { all, one };

/// The calling thread, with what it starts meanwhile, runs on one core of those it may use; after that on all again.
class OnCore {
 public:
  explicit OnCore(unsigned which) {
    sched_getaffinity(0, sizeof(before_), &before_);
    std::vector<int> usable;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &before_)) usable.push_back(core);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(usable[which % usable.size()], &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~OnCore() { sched_setaffinity(0, sizeof(before_), &before_); }
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace tidemill::bench
