// SPDX-License-Identifier: Apache-2.0
/// What every driver tells a card that has come out of reset.
#pragma once
#include <cstddef>
#include <cstdint>

#include "device/card.hpp"
#include "tidemill/abi.hpp"

namespace tidemill::device {

inline constexpr uint32_t kTickNs = 1024;

/// Bytes of the index array: an entry for each lane and each ring that the card takes from.
inline std::size_t index_bytes(uint32_t lanes) {
  return (lanes + 16) * sizeof(uint32_t);
}

inline void start_hash_and_indices(Card& card, uint64_t seed, uint64_t index_address) {
  card.write(abi::reg::hash_seed_low, static_cast<uint32_t>(seed));
  card.write(abi::reg::hash_seed_high, static_cast<uint32_t>(seed >> 32));
  card.write(abi::reg::index_base_low, static_cast<uint32_t>(index_address));
  card.write(abi::reg::index_base_high, static_cast<uint32_t>(index_address >> 32));
}

/// Last: its time begins. Each clock adds to an accumulator whose carry is a tick, so it is 2^32 for kTickNs.
inline void start_tick(Card& card) {
  const uint64_t clock_khz = card.read(abi::reg::clock_khz);
  card.write(abi::reg::tick_increment, static_cast<uint32_t>((uint64_t{1} << 32) * 1'000'000 / (clock_khz * kTickNs)));
}

}  // namespace tidemill::device
