// SPDX-License-Identifier: Apache-2.0
/// What a card has counted since its reset, and how it does. Its counters have 32 bits and wrap.
#pragma once
#include <array>
#include <cstdint>

#include "device/card.hpp"
#include "tidemill/abi.hpp"

namespace tidemill::device {

struct CardCounters {
  std::array<uint32_t, abi::kCauseCount> dropped{}, rejected{};
  std::array<uint32_t, abi::kStatusCount> completed{};
  std::array<uint32_t, abi::kCounterCount> counts{};
  uint32_t tick = 0;
  uint32_t state = 0;
  uint32_t failure = 0;

  uint32_t count(abi::Counter c) const { return counts[static_cast<unsigned>(c)]; }
};

inline CardCounters read_counters(Card& card) {
  CardCounters c;
  const auto read = [&card](uint32_t first, auto& into) {
    for (uint32_t i = 0; i < into.size(); ++i) into[i] = card.read(first + 4 * i);
  };
  read(abi::reg::count_dropped, c.dropped);
  read(abi::reg::count_rejected, c.rejected);
  read(abi::reg::count_completed, c.completed);
  read(abi::reg::count, c.counts);
  c.tick = card.read(abi::reg::time);
  c.state = card.read(abi::reg::state);
  c.failure = card.read(abi::reg::failure);
  return c;
}

}  // namespace tidemill::device
