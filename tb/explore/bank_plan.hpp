// SPDX-License-Identifier: Apache-2.0
/// What the environment of an explored bank does: sends, slots, times and the kinds of events.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "shadow.hpp"

namespace tidemill::explore {

/// A plan leaves out what others cover, so that the state space of each ends.
struct Plan {
  std::vector<Send> sends{};         ///< What a descriptor may carry.
  std::vector<uint8_t> slots{0, 1};  ///< Slots that are used.
  bool own_sends = false;            ///< A slot carries the send of its number only, modulo their number.
  uint64_t (*hash)(uint64_t tid) = nullptr;
  uint8_t crowd = 0;                  ///< Sends that fill the matcher from the start, in the last slots.
  std::vector<uint8_t> crowd_over{};  ///< Members of the crowd that are over before the plan begins.
  uint32_t lag = 1;                   ///< Ticks that time may run ahead of the wheel; 0: time stands still.
  uint32_t base = 0;                  ///< Time is kept within one period of the wheel from here.
  uint16_t dead_bits = 0;             ///< What normalising writes over fields that no longer count.

  bool errors = true;                 ///< Sent reports with status error.
  std::vector<uint8_t> recoveries{};  ///< Of sent reports with status flushed; 0 is a recovery that failed.
  std::vector<uint32_t> modify{};     ///< Waits in ticks.
  std::vector<uint32_t> deadline{};   ///< Announced deadlines in ticks.
  bool cancel = true;
  bool flush = false;
  bool drain = false;
  bool forged = false;  ///< Responses that are wrong in one field.
  bool stale = true;    ///< Names of other generations and of slots that do not exist.
};

}  // namespace tidemill::explore
