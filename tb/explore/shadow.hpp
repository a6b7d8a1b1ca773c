// SPDX-License-Identifier: Apache-2.0
/// What the environment of a bank knows: host, wire and arbiter. Written from the policies, not from the tracker.
#pragma once
#include <array>
#include <cstdint>

#include "hls/config.hpp"
#include "tb/engine/bank_driver.hpp"

namespace tidemill::explore {

using test::Send;

/// What has become of the send of one slot.
struct ShadowSend {
  enum class Stage : uint8_t { idle, queued, on_wire, waiting, retry };

  Stage stage = Stage::idle;
  uint8_t send = 0;  ///< Which of the space's sends; valid after queued.
  bool answered = false;
  bool cancelled = false;
  bool held = false;      ///< A window slot.
  bool left = false;      ///< A try has left.
  bool timed = false;     ///< Has a deadline.
  bool modified = false;  ///< The pending wait is `override_wait`.
  uint8_t tries = 0;
  uint8_t retries = 0;
  uint8_t recovery = 0;
  uint16_t generation = 0;
  uint32_t agent = 0;
  uint32_t wait = 0;
  uint32_t override_wait = 0;
  uint32_t due = 0;  ///< While waiting.
  uint32_t deadline = 0;

  bool dead() const { return answered | cancelled; }
  bool live() const { return stage > Stage::queued && !dead(); }
};

template <uint32_t Slots>
struct Shadow {
  /// Slots that stand in a retry queue, oldest first.
  struct Queue {
    std::array<uint8_t, Slots> slot{};
    uint8_t count = 0;

    void push(uint32_t s) { slot[count++] = static_cast<uint8_t>(s); }
    void pop() {
      for (unsigned i = 1; i < count; ++i) slot[i - 1] = slot[i];
      slot[--count] = 0;
    }
    bool contains(uint32_t s) const {
      for (unsigned i = 0; i < count; ++i)
        if (slot[i] == s) return true;
      return false;
    }
  };

  std::array<ShadowSend, Slots> sends{};
  std::array<Queue, 2> retries{};
  uint32_t now = 0;

  /// A timer runs for the slot; `tick` is when it may fire.
  bool watched(uint32_t s, uint32_t& tick) const {
    const ShadowSend& g = sends[s];
    const bool waiting = g.stage == ShadowSend::Stage::waiting;
    const bool parked = (g.stage == ShadowSend::Stage::queued) | (g.stage == ShadowSend::Stage::retry);
    tick = waiting ? g.due : g.deadline;
    return waiting | (parked & g.timed);
  }
};

/// Ticks are compared modulo 2^32.
constexpr bool before(uint32_t a, uint32_t b) {
  return static_cast<int32_t>(a - b) < 0;
}
constexpr uint32_t sooner(uint32_t a, uint32_t b) {
  return before(a, b) ? a : b;
}
/// A wait of `ticks` that begins within tick `now` is over when this tick begins, not before.
constexpr uint32_t end_of_wait(uint32_t now, uint32_t ticks) {
  return now + 1 + ticks;
}

}  // namespace tidemill::explore
