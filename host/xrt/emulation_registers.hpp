// SPDX-License-Identifier: Apache-2.0
/// The second kernel of an emulation xclbin: what a host may ask the device process about itself, and how it lets
/// simulated time pass. No card has it. Registers of 32 bits; 64-bit values have their low half first.
#pragma once
#include <cstdint>

namespace tidemill::xrt_emulation {

inline constexpr char kKernel[] = "tidemill_emulation";
inline constexpr uint32_t kBytes = 0x1000;

inline constexpr uint32_t kMagicValue = 0x54454d55;  ///< "TEMU"

inline constexpr uint32_t magic = 0x00;
inline constexpr uint32_t process = 0x04;  ///< Process ID of the device process.
inline constexpr uint32_t follow_clock =
    0x08;                                 ///< 1: the card's tick follows the wall clock; 0: time passes by `work`.
inline constexpr uint32_t work = 0x10;    ///< Written with a tick: simulates until about then (sim/cosim_card.hpp).
inline constexpr uint32_t status = 0x14;  ///< Bit 0: more to do at once; bit 1: the card has failed.
inline constexpr uint32_t wake = 0x18;    ///< First tick with timer work.
inline constexpr uint32_t pages =
    0x1c;  ///< Written after `memory`: this many pages there are the card's to use now; 0: no longer.
inline constexpr uint32_t time = 0x20;  ///< Nanoseconds since the tick began to run.
inline constexpr uint32_t cycles = 0x28;
inline constexpr uint32_t memory = 0x30;  ///< Address of memory of the host, 64 bits; see `pages`.
/// Accesses of the shell's registers since the process began, 64 bits each, by Counter.
inline constexpr uint32_t counters = 0x40;

inline constexpr uint32_t kPagesOfTheCard = 1u << 31;  ///< In `pages`: of its own memory, not of the host's.

enum class Counter : uint32_t {
  register_reads,     ///< All reads.
  lane_doorbells,     ///< Writes of lane_doorbell.
  command_producers,  ///< Writes of ring_producer, by ring.
  sent_producers,
  received_producers,
  other_writes,
  lines_read,     ///< Lines of host memory that the card has read,
  lines_written,  ///< and written.
};
inline constexpr uint32_t kCounters = 8;
inline constexpr const char* kCounterNames[kCounters] = {"register_reads", "lane_doorbells",     "command_producers",
                                                         "sent_producers", "received_producers", "other_writes",
                                                         "lines_read",     "lines_written"};

}  // namespace tidemill::xrt_emulation
