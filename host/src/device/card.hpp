// SPDX-License-Identifier: Apache-2.0
/// What a card is to its driver: registers, memory that both sides see, and a way to let it work. A card on PCIe, or
/// one that is simulated.
///
/// Threads: memory() from any thread, the rest from the one that makes progress.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidemill/clock.hpp"

namespace tidemill::device {

/// Memory that host and card read and write; zeroed, on a line of 64 bytes. Gone with this.
///
/// It is the host's own where the card reaches that. Else it is the card's, and host() is a copy: to_card() and
/// from_card() bring a range of bytes to the other side. A range belongs to one writer at a time.
class CardMemory {
 public:
  virtual ~CardMemory() = default;
  virtual std::byte* host() = 0;
  virtual uint64_t address() const = 0;  ///< Where the card sees it.
  virtual void to_card(std::size_t /*offset*/, std::size_t /*bytes*/) {}
  /// Words of 32 bits come whole: others may read them meanwhile.
  virtual void from_card(std::size_t /*offset*/, std::size_t /*bytes*/) {}
};

/// to_card() of the entries [first, end) of a ring, counted without wrapping.
inline void ring_to_card(CardMemory& ring, uint32_t first, uint32_t end, uint32_t entries, std::size_t entry_bytes) {
  if (end - first >= entries) return ring.to_card(0, entries * entry_bytes);
  for (uint32_t count; first != end; first += count) {
    const uint32_t at = first & (entries - 1);
    count = std::min(end - first, entries - at);
    ring.to_card(at * entry_bytes, count * entry_bytes);
  }
}

class Card {
 public:
  virtual ~Card() = default;
  /// "cosim", "xrt".
  virtual std::string kind() const = 0;
  /// What is known of it besides its registers, in pairs of a name and a value.
  virtual std::vector<std::pair<std::string, std::string>> description() const { return {}; }
  virtual uint32_t read(uint32_t offset) = 0;
  /// Posted: in order with other writes, and before the next read.
  virtual void write(uint32_t offset, uint32_t value) = 0;
  virtual std::unique_ptr<CardMemory> memory(std::size_t bytes) = 0;
  /// memory() is the host's own: to_card() and from_card() have nothing to do.
  virtual bool shares_memory() const { return true; }

  /// Lets a card that has no life of its own work for a while, until about tick `now`. True if it has more to do at
  /// once.
  virtual bool work(uint32_t now) = 0;
  /// First tick at which a timer of the card may need work() again; nothing if the card works by itself.
  virtual std::optional<uint32_t> wake(uint32_t now) const = 0;
  /// A card that works by itself and has no interrupt must be looked at again within this time, whatever is
  /// outstanding.
  virtual std::optional<Nanoseconds> look_within() const { return std::nullopt; }
  /// Readable when the card may have written something since the last work(); -1 if it has no interrupt.
  virtual int event_fd() const { return -1; }
  /// The card has stopped: register `failure` says why, or it has gone.
  virtual bool failed() = 0;
  /// Why the card has gone; empty while it answers.
  virtual std::string removed() const { return {}; }
  /// Device::counter().
  virtual uint64_t counter(std::string_view) const { return 0; }
  /// Time that has passed on the card since the tick began to run, for a card that makes its own time.
  virtual std::optional<Nanoseconds> time() const = 0;
};

}  // namespace tidemill::device
