// SPDX-License-Identifier: Apache-2.0
/// Watches the pins of the shell and measures in cycles: how long the head of a queue takes to the wire and a response to
/// its completion (the time host memory takes not counted), rates, and what waits where. Written as JSON.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/host_memory.hpp"
#include "tidemill/abi.hpp"

namespace tidemill::sim {

/// Counts by cycles, one by one up to kMost.
class CycleHistogram {
 public:
  static constexpr uint64_t kMost = 4096;
  void add(uint64_t cycles);
  uint64_t count() const { return count_; }
  uint64_t least() const { return least_; }
  uint64_t most() const { return most_; }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  const std::vector<uint64_t>& bins() const { return bins_; }

 private:
  std::vector<uint64_t> bins_;
  uint64_t count_ = 0, sum_ = 0, least_ = ~uint64_t{0}, most_ = 0;
};

class Probe {
 public:
  static constexpr std::size_t kWaiting = 7;
  static constexpr std::array<const char*, kWaiting> kWaitingNames{"descriptors at banks", "responses at banks", "descriptors in fetch",
                                                                   "window credits", "retries", "answers in turn", "reads in flight"};
  struct Sample {
    uint64_t cycles = 0, transmitted = 0, completed = 0;
    std::array<uint64_t, kWaiting> most{};
  };

  // What happens at the pins, in the cycle in which it happens.
  void register_written(uint32_t offset, uint32_t value);
  void arbiter_took(const abi::ArbiterEvent& e, uint64_t cycle);
  void arbiter_answered(const abi::ArbiterAction& a);
  void read_asked(unsigned id, uint64_t address, uint64_t cycle);
  void read_answered(unsigned id, const Line& line, uint64_t cycle);
  void written(uint64_t address, const Line& line, uint64_t strobe, uint64_t cycle);
  void waiting(const std::array<uint64_t, kWaiting>& now);
  void reset();

  const CycleHistogram& head_to_wire() const { return head_to_wire_; }
  const CycleHistogram& response_to_completion() const { return response_to_completion_; }
  uint64_t transmitted() const { return transmitted_; }
  uint64_t completed() const { return completed_; }
  const std::vector<Sample>& samples() const { return samples_; }
  uint64_t sample_cycles() const { return sample_cycles_; }

 private:
  static constexpr unsigned kDescriptors = 4;  ///< AXI ID of the descriptor fetch; below it the rings host to card.
  struct Ring {
    uint64_t base = 0;
    unsigned bits = 0;
    uint32_t producer = 0, asked = 0;
    uint64_t bytes(std::size_t entry) const { return entry << bits; }
  };
  struct Asked {
    uint64_t cycle;
    unsigned first, last;  ///< Entries of the line that are new.
  };
  struct Head {
    uint64_t granted, memory;
  };
  Ring& ring(abi::Ring r) { return rings_[static_cast<std::size_t>(r)]; }

  std::array<Ring, 8> rings_{};
  std::array<std::deque<Asked>, 8> reads_;
  std::optional<uint64_t> grant_taken_;
  std::deque<uint64_t> grants_;
  std::unordered_map<uint32_t, Head> heads_;       ///< By slot.
  std::unordered_map<uint32_t, uint64_t> headers_; ///< By QP and receive buffer.
  CycleHistogram head_to_wire_, response_to_completion_;
  uint64_t transmitted_ = 0, completed_ = 0;
  std::vector<Sample> samples_{1};
  uint64_t sample_cycles_ = 256;
};

}  // namespace tidemill::sim
