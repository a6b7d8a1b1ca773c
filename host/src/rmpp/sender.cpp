// SPDX-License-Identifier: Apache-2.0
#include "rmpp/sender.hpp"

#include <algorithm>

namespace tidemill::rmpp {

Sender::Sender(std::vector<std::byte> message, Nanoseconds wait, unsigned retries)
    : message_(std::move(message)),
      length_(message_.size()),
      offset_(data_offset(static_cast<uint8_t>(message_[1]))),
      wait_(std::min(wait, kLongestWait)),
      due_(Nanoseconds::max()),
      retries_(retries) {
  const std::size_t share = kMadBytes - offset_, data = length_ - offset_;
  segments_ = static_cast<uint32_t>(std::max<std::size_t>((data + share - 1) / share, 1));
  if (message_.size() < kMadBytes) message_.resize(kMadBytes);
}

Mad Sender::segment(uint32_t number) const {
  const std::size_t share = kMadBytes - offset_, from = offset_ + (number - 1) * share,
                    to = std::min(from + share, length_);
  Mad mad;
  const auto bytes = mad.bytes();
  std::copy_n(message_.data(), offset_, bytes.data());
  if (from < to) std::copy_n(message_.data() + from, to - from, bytes.data() + offset_);
  const bool is_first = number == 1, is_last = number == segments_;
  // The first segment tells the length of the whole, counting the class's header in each; the last its own.
  const auto unused = static_cast<uint32_t>(segments_ * share - (length_ - offset_));
  const uint32_t length = is_first ? segments_ * kSegmentPayload - unused : is_last ? kSegmentPayload - unused : 0;
  put_header(mad, Type::data,
             static_cast<uint8_t>(Flag::active | (is_first ? Flag::first : 0) | (is_last ? Flag::last : 0)),
             Reason::none, number, length);
  return mad;
}

Nanoseconds Sender::wait() const {
  return std::min(wait_ * (1u << std::min(tried_, 10u)), kLongestWait);
}

void Sender::sent(Nanoseconds now) {
  ++sent_;
  due_ = now + wait();
}

Sender::Step Sender::on_ack(uint32_t segment, uint32_t window_last, Nanoseconds now) {
  if (window_last < segment) reason_ = Reason::window_too_small;
  // Above what is sent it may be all the same, after going back; not above what it was allowed to be.
  if (segment > segments_ || segment > window_) reason_ = Reason::segment_too_big;
  if (reason_ != Reason::none) return Step::refused;
  if (segment < acked_ || (segment == acked_ && window_last <= window_)) return Step::ignored;
  acked_ = segment;
  sent_ = std::max(sent_, acked_);
  window_ = std::max(window_, window_last);
  tried_ = 0;
  due_ = now + wait();
  return acknowledged() ? Step::acknowledged : Step::progress;
}

bool Sender::on_time(Nanoseconds now) {
  if (tried_ == retries_) {
    reason_ = Reason::too_many_retries;
    return false;
  }
  ++tried_;
  sent_ = acked_;
  due_ = now + wait();
  return true;
}

}  // namespace tidemill::rmpp
