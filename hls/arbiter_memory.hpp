// SPDX-License-Identifier: Apache-2.0
/// State of the send arbiter as an object; kernel_memory.hpp has the same interface over static arrays.
#pragma once
#include <array>
#include <stdint.h>

#include "config.hpp"

namespace tidemill::hls {

template <class Config_>
struct ArbiterMemory {
  using Config = Config_;
  static constexpr bool kBranches = true;  ///< What is not wanted is jumped over.

  uint64_t lane_low(uint32_t lane) const { return lanes_[lane].low; }
  void lane_low(uint32_t lane, uint64_t v) { lanes_[lane].low = v; }
  uint64_t lane_high(uint32_t lane) const { return lanes_[lane].high; }
  void lane_high(uint32_t lane, uint64_t v) { lanes_[lane].high = v; }
  uint32_t next(uint32_t row) const { return links_[row].next; }
  void next(uint32_t row, uint32_t v) {
    links_[row].next = static_cast<uint16_t>(v);
    if (row >= Config::kLanes) {
      const uint32_t bit = 1u << (row - Config::kLanes);
      listed_ = v != 0 ? listed_ | bit : listed_ & ~bit;
    }
  }
  uint32_t prev(uint32_t row) const { return links_[row].prev; }
  void prev(uint32_t row, uint32_t v) { links_[row].prev = static_cast<uint16_t>(v); }
  /// A bit for each list, in the order of their sentinels: set if it is not empty.
  uint32_t listed() const { return listed_; }
  uint32_t wire_credit(uint32_t qp) const { return wire_credit_[qp]; }
  void wire_credit(uint32_t qp, uint32_t v) { wire_credit_[qp] = v; }
  /// QP to serve next in a service class.
  uint32_t turn(uint32_t service_class) const { return turn_[service_class]; }
  void turn(uint32_t service_class, uint32_t qp) { turn_[service_class] = qp; }
  bool drained_last() const { return drained_last_ != 0; }
  void drained_last(bool v) { drained_last_ = v; }

 private:
  struct Lane {
    uint64_t low, high;
  };
  struct LinkRow {
    uint16_t next, prev;
  };
  std::array<Lane, Config::kLanes> lanes_{};
  std::array<LinkRow, Config::kLinkRows> links_{};
  std::array<uint32_t, 2> wire_credit_{};
  std::array<uint32_t, 4> turn_{};
  uint32_t listed_ = 0;
  uint32_t drained_last_ = 0;
};

}  // namespace tidemill::hls
