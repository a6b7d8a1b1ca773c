// SPDX-License-Identifier: Apache-2.0
/// A wire on which requests really wait: it reports a try as sent at once, keeps it, and answers one, chosen at random
/// or the oldest, as soon as more than `keep` wait. (The simulated fabric without delay answers in order: nothing but
/// the wire's depth is ever waiting.) It copies a cache line of each request and no more, so that the runtime is
/// measured and not the wire.
#pragma once
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "tb/bench/support/workload.hpp"
#include "tidemill/wire.hpp"

namespace tidemill::bench {

class WaitingWire final : public Wire {
 public:
  /// Answers in one poll: less than there are receive buffers.
  static constexpr uint32_t kAtOnce = 64;

  enum class Order { random, oldest };

  explicit WaitingWire(std::size_t keep, Order order = Order::random) : keep_(keep), order_(order) {}

  void keep(std::size_t count) { keep_ = count; }
  std::size_t waiting() const { return waiting_.size() - oldest_; }

  WireAttributes attributes() const override { return {}; }
  void transmit(const WireSend& send) override {
    Request& r = leaving_.emplace_back();
    r.token = send.token;
    r.lid = send.to.lid;
    std::memcpy(r.head.data(), send.mad.data(), kHead);
  }
  bool poll(WireSink& sink) override {
    // What the sink sends from inside its calls waits for the next poll.
    reporting_.swap(leaving_);
    for (const Request& r : reporting_) {
      sink.sent(r.token, WireStatus::sent);
      waiting_.push_back(r);
    }
    bool reported = !reporting_.empty();
    reporting_.clear();
    for (uint32_t i = 0; i < kAtOnce && waiting() > keep_; ++i) {
      const Request chosen = take();
      std::memcpy(answer_.data(), chosen.head.data(), kHead);
      answer_[3] |= std::byte{mad_method::response_bit};
      Address from;
      from.lid = chosen.lid;
      sink.received({Qp::gsi, from, answer_});
      reported = true;
    }
    return reported;
  }
  std::optional<Nanoseconds> next_event() const override {
    return leaving_.empty() && waiting() <= keep_ ? std::nullopt : std::optional(Nanoseconds(0));
  }

 private:
  static constexpr std::size_t kHead = 40;  ///< As far as a vendor MAD's OUI.
  struct Request {
    uint64_t token;
    uint16_t lid;
    std::array<std::byte, kHead> head;
  };
  Request take() {
    if (order_ == Order::random) {
      Request& chosen = waiting_[random_.below(static_cast<uint32_t>(waiting_.size()))];
      const Request taken = std::exchange(chosen, waiting_.back());
      waiting_.pop_back();
      return taken;
    }
    const Request taken = waiting_[oldest_++];
    if (oldest_ == waiting_.size()) {
      waiting_.clear();
      oldest_ = 0;
    }
    return taken;
  }

  std::size_t keep_;
  Order order_;
  std::vector<Request> leaving_, reporting_, waiting_;
  std::size_t oldest_ = 0;  ///< Of waiting_; those ahead of it have been answered.
  alignas(64) std::array<std::byte, kMadBytes> answer_{};
  Random random_;
};

}  // namespace tidemill::bench
