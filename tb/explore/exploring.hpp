// SPDX-License-Identifier: Apache-2.0
/// Runs an exploration as a test. TIDEMILL_REPLAY="0 4 11" in the environment replays a path instead, step by step.
#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "explorer.hpp"

namespace tidemill::explore {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TIDEMILL_SLOW_BUILD
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define TIDEMILL_SLOW_BUILD
#endif

/// Sanitizers and debug builds look at the nearest states only: they are there for the code, not for the states.
#ifdef TIDEMILL_SLOW_BUILD
inline constexpr uint64_t kStateLimit = 20'000;
#else
inline constexpr uint64_t kStateLimit = ~uint64_t{0};
#endif

template <class Space>
Report explore_all(const Space& space) {
  Explorer explorer(space);
  if (const char* text = std::getenv("TIDEMILL_REPLAY")) {
    std::istringstream in(text);
    std::vector<uint16_t> path;
    for (uint16_t event = 0; in >> event;) path.push_back(event);
    std::string story;
    const char* broken = explorer.replay(path, &story);
    ADD_FAILURE() << "replayed:\n" << story << (broken != nullptr ? broken : "nothing is broken");
    return {};
  }
  Report report = explorer.run(kStateLimit);
  std::printf("%zu events, %s%llu states, %llu edges, deepest path %u\n", space.events(),
              report.complete ? "" : "the nearest ", static_cast<unsigned long long>(report.states),
              static_cast<unsigned long long>(report.edges), report.depth);
  EXPECT_EQ(report.broken, nullptr) << report.story;
  EXPECT_TRUE(report.complete || kStateLimit != ~uint64_t{0});
  return report;
}

}  // namespace tidemill::explore
