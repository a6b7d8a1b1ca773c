// SPDX-License-Identifier: Apache-2.0
/// A bank's memory as an object that is used the way hardware is: nothing is jumped over, what is not wanted is written
/// to a spare row. The kernels' own memory is static and cannot be copied from state to state.
#pragma once
#include "hls/bank_memory.hpp"

namespace tidemill::explore {

template <class Config_>
struct StraightMemory : hls::BankMemory<Config_> {
  using Base = hls::BankMemory<Config_>;
  static constexpr bool kBranches = false;
  static constexpr uint32_t kSpareRow = Config_::kLinkRows;

  using Row = hls::Bucket;
  Row row(uint32_t table, uint32_t number) const { return Base::bucket(table, number); }
  using Base::bucket;
  using Base::next;
  using Base::prev;
  void next(uint32_t row, uint32_t v) {
    if (row != kSpareRow) Base::next(row, v);
  }
  void prev(uint32_t row, uint32_t v) {
    if (row != kSpareRow) Base::prev(row, v);
  }
  void bucket(uint32_t table, uint32_t row, const hls::Bucket& b) {
    for (uint32_t way = 0; way < 4 && table < 3; ++way) Base::entry(table, row, way, b.entry(way));
  }
};

}  // namespace tidemill::explore
