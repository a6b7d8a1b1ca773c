// SPDX-License-Identifier: Apache-2.0
/// A wire whose other end answers every request at once with its own bytes, R bit set: the runtime alone is measured.
#pragma once
#include <cstring>
#include <vector>

#include "tidemill/wire.hpp"

namespace tidemill::test {

class EchoWire final : public Wire {
 public:
  explicit EchoWire(uint16_t send_depth = 128) : depth_(send_depth) {}

  WireAttributes attributes() const override { return {.send_depth = {depth_, depth_}}; }
  void transmit(const WireSend& send) override { queue_.push_back(send); }
  bool poll(WireSink& sink) override {
    if (queue_.empty()) return false;
    polling_.swap(queue_);
    for (const WireSend& send : polling_) {
      std::memcpy(answer_.data(), send.mad.data(), kMadBytes);
      answer_[3] |= std::byte{mad_method::response_bit};
      const Qp qp = send.qp;
      const Address from = send.to;
      sink.sent(send.token, WireStatus::sent);  // the bytes may change from here on
      sink.received({qp, from, answer_});
    }
    polling_.clear();
    return true;
  }
  std::optional<Nanoseconds> next_event() const override {
    return queue_.empty() ? std::nullopt : std::optional(Nanoseconds(0));
  }

 private:
  uint16_t depth_;
  std::vector<WireSend> queue_, polling_;
  alignas(64) std::array<std::byte, kMadBytes> answer_{};
};

}  // namespace tidemill::test
