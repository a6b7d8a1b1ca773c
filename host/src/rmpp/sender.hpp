// SPDX-License-Identifier: Apache-2.0
/// Sends one message: which segment next, what an ACK means, when to go back. Only decides; the caller sends and keeps
/// the time. The window is the receiver's; without an ACK for `wait` it starts again behind the last acknowledged
/// segment, waiting twice as long each time, and gives up after `retries` times without progress. Source: IBA 13.6.6.2.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rmpp/segment.hpp"
#include "tidemill/clock.hpp"

namespace tidemill::rmpp {

class Sender {
 public:
  static constexpr Nanoseconds kLongestWait = std::chrono::seconds(2);

  /// `message` has at least the headers of its class.
  Sender(std::vector<std::byte> message, Nanoseconds wait, unsigned retries);

  uint32_t segments() const { return segments_; }
  std::size_t length() const { return length_; }
  MadView headers() const { return MadView(std::span<const std::byte, kMadBytes>(message_.data(), kMadBytes)); }
  /// The segment, 1 to segments(), as it goes on the wire; its TID is that of the message.
  Mad segment(uint32_t number) const;

  /// The segment to send next, if the window lets one go; 0 if not.
  uint32_t next() const { return sent_ < std::min(window_, segments_) ? sent_ + 1 : 0; }
  void sent(Nanoseconds now);

  enum class Step { ignored, progress, acknowledged, refused };
  /// Refused: the ACK contradicts what was sent; reason() goes into the ABORT.
  Step on_ack(uint32_t segment, uint32_t window_last, Nanoseconds now);
  Reason reason() const { return reason_; }
  bool acknowledged() const { return acked_ == segments_; }

  /// When on_time() has something to do.
  Nanoseconds due() const { return due_; }
  /// Goes back to the last acknowledged segment; false if it has been tried often enough.
  bool on_time(Nanoseconds now);

 private:
  Nanoseconds wait() const;

  std::vector<std::byte> message_;  ///< At least one MAD long.
  std::size_t length_;
  std::size_t offset_;
  uint32_t segments_;
  uint32_t sent_ = 0, acked_ = 0, window_ = 1;
  Nanoseconds wait_, due_;
  unsigned retries_, tried_ = 0;
  Reason reason_ = Reason::none;
};

}  // namespace tidemill::rmpp
