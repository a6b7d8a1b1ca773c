// SPDX-License-Identifier: Apache-2.0
#include "rmpp/reassembly.hpp"

#include <algorithm>

namespace tidemill::rmpp {

Reason Reassembly::check(MadView mad) const {
  const uint32_t number = mad.rmpp_segment();
  if (number == 0 || (number == 1) != ((mad.rmpp_flags() & Flag::first) != 0)) return Reason::inconsistent_first;
  const bool is_last = (mad.rmpp_flags() & Flag::last) != 0;
  if (is_last) {
    const std::size_t class_headers = data_offset(mad.mgmt_class()) - kHeaderEnd;
    if (mad.rmpp_length() > kSegmentPayload || mad.rmpp_length() < class_headers) return Reason::inconsistent_last;
    if (last_ != 0 && last_ != number) return Reason::inconsistent_last;
    if ((ahead_ >> (number - in_order_)).any()) return Reason::inconsistent_last;  // something came from behind it
  } else if (last_ != 0 && number >= last_) {
    return Reason::inconsistent_last;
  }
  return Reason::none;
}

Reassembly::Outcome Reassembly::on_data(MadView mad, std::size_t limit) {
  const uint32_t number = mad.rmpp_segment();
  if (offset_ == 0) {
    offset_ = data_offset(mad.mgmt_class());
    share_ = kMadBytes - offset_;
  }
  // Once more: of what a sender repeats, the newest is answered, or one lost ACK would bring a window of them.
  if (number != 0 && number <= in_order_) return {.acknowledge = number == in_order_};
  if (number > granted_) return {};  // more than it was told to send
  if (const Reason reason = check(mad); reason != Reason::none) return {.refused = reason};

  const bool is_last = (mad.rmpp_flags() & Flag::last) != 0;
  const std::size_t at = offset_ + (number - 1) * share_;
  if (at + share_ > limit) return {.refused = Reason::resources_exhausted};
  if (message_.size() < at + share_) {
    if (message_.capacity() < at + share_)
      message_.reserve(std::min(limit, std::max(2 * message_.capacity(), at + share_)));
    message_.resize(at + share_);
  }
  const auto bytes = mad.bytes();
  if (number == 1) std::copy_n(bytes.data(), offset_, message_.data());
  std::copy_n(bytes.data() + offset_, share_, message_.data() + at);
  if (is_last) {
    last_ = number;
    last_bytes_ = mad.rmpp_length() - (offset_ - kHeaderEnd);
  }

  ahead_.set(number - in_order_ - 1);
  bool moved = false;
  while (ahead_[0]) {
    ahead_ >>= 1;
    ++in_order_;
    moved = true;
  }
  if (whole()) {
    message_.resize(offset_ + (last_ - 1) * share_ + last_bytes_);
    return {.acknowledge = true, .whole = true};
  }
  if (!moved) {
    const bool tell = !told_gap_;  // once for each gap
    told_gap_ = true;
    return {.acknowledge = tell};
  }
  told_gap_ = false;
  // Granted early enough that a sender need not stop: when half of the window is used up.
  if (in_order_ + kWindow / 2 < granted_) return {};
  granted_ = in_order_ + kWindow;
  return {.acknowledge = true};
}

}  // namespace tidemill::rmpp
