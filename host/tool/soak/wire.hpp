// SPDX-License-Identifier: Apache-2.0
/// The other side of a run: two queue pairs that take tries and report them, and peers that answer, with all the
/// faults that the options ask for.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "calendar.hpp"
#include "dice.hpp"
#include "options.hpp"
#include "tally.hpp"
#include "traffic.hpp"
#include "watched_engine.hpp"

namespace tidemill::soak {

class Wire {
 public:
  Wire(const Options& options, Dice& dice, WatchedEngine& engine, const Traffic& traffic, Tally& tally);

  /// The engine puts a try on the wire. Called from inside the engine: only takes note.
  void transmit(const abi::Transmit& t, uint32_t now);
  /// One tick: reports tries that have left, and lets MADs arrive.
  void act(uint32_t now);
  /// A receive buffer comes back, with a MAD for the host or dropped.
  void buffer_back(uint16_t buffer) { buffers_[buffer < kHalf ? 0 : 1].push_back(buffer); }

  /// Nothing is under way.
  bool at_rest() const { return tries_[0].empty() && tries_[1].empty() && arrivals_.empty(); }
  /// Ticks until act() has something to do; kNever if it has not.
  uint32_t quiet(uint32_t now) const;

 private:
  static constexpr uint16_t kHalf = 2048;  ///< Receive buffers of a QP.
  struct Try {
    abi::Sent report;
    uint32_t leaves = 0;    ///< Tick of the report.
    uint32_t response = 0;  ///< Number of its arrival, to call it off.
  };
  struct Arrival {
    abi::Received mad;
    uint32_t number = 0;  ///< 0 cannot be called off.
  };

  void report(bool qp, uint32_t now);
  void flush_behind(bool qp, uint32_t now);
  void answer(const abi::Descriptor& d, Try& t);
  void forge(const abi::Descriptor& d);
  void arrive(const Arrival& a, uint32_t now);
  abi::Received response_to(const abi::Descriptor& d);

  const Options& options_;
  Dice& dice_;
  WatchedEngine& engine_;
  const Traffic& traffic_;
  Tally& tally_;
  std::array<std::deque<Try>, 2> tries_;
  std::array<uint8_t, 2> recovery_{};
  std::array<std::vector<uint16_t>, 2> buffers_;
  Calendar<Arrival> arrivals_;
  std::vector<bool> called_off_;  ///< By the number of the arrival, cyclic.
  uint32_t last_number_ = 0;
  std::vector<abi::Received> past_;  ///< Responses of before, cyclic.
  uint64_t responses_ = 0;
};

}  // namespace tidemill::soak
