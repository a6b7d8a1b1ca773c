// SPDX-License-Identifier: Apache-2.0
/// Puts one message together from its segments, at constant cost for each, in whatever order they come within the
/// window. Only decides; the caller sends the answers. Source: IBA 13.6.6.3.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rmpp/segment.hpp"

namespace tidemill::rmpp {

class Reassembly {
 public:
  static constexpr uint32_t kWindow = 64;  ///< Segments that may be on their way.

  struct Outcome {
    bool acknowledge = false;       ///< With acknowledged() and window_last().
    bool whole = false;             ///< message() is complete; first told with the segment that made it so.
    Reason refused = Reason::none;  ///< The transfer is over: STOP for lack of memory, else ABORT.
  };
  /// A DATA segment of this message, which may grow to `limit` bytes.
  Outcome on_data(MadView mad, std::size_t limit);

  uint32_t acknowledged() const { return in_order_; }
  uint32_t window_last() const { return granted_; }
  bool whole() const { return last_ != 0 && in_order_ == last_; }
  std::size_t bytes() const { return message_.size(); }
  /// Headers of the first segment and the data of all.
  std::vector<std::byte> take() { return std::move(message_); }

 private:
  /// Of a segment within the window and ahead of what is in order.
  Reason check(MadView mad) const;

  std::vector<std::byte> message_;
  std::size_t offset_ = 0, share_ = 0;
  uint32_t in_order_ = 0;
  uint32_t granted_ = 1;  ///< Last segment the sender may send; at most kWindow ahead.
  uint32_t last_ = 0;     ///< Number of the last segment, once known.
  std::size_t last_bytes_ = 0;
  std::bitset<kWindow> ahead_;  ///< Bit i: segment in_order_ + 1 + i is here.
  bool told_gap_ = false;
};

}  // namespace tidemill::rmpp
