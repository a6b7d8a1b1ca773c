// SPDX-License-Identifier: Apache-2.0
/// A wire whose other end is itself: every request comes back as its own response. And the part of the self-test that
/// sends over it, through all of the runtime.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "device_tool/selftest.hpp"
#include "tidemill.hpp"

namespace tidemill::device_tool {

class LoopbackWire final : public Wire {
 public:
  /// The first try of every `lose`-th MAD is lost; 0 for none.
  explicit LoopbackWire(unsigned lose = 0) : lose_(lose) {}

  WireAttributes attributes() const override { return {.send_depth = {kDepth, kDepth}}; }
  void transmit(const WireSend& send) override { waiting_.push_back(send); }
  bool poll(WireSink& sink) override;
  std::optional<Nanoseconds> next_event() const override {
    return waiting_.empty() ? std::nullopt : std::optional(Nanoseconds(0));
  }

 private:
  static constexpr uint16_t kDepth = 64;
  const unsigned lose_;
  uint64_t seen_ = 0;
  std::vector<uint64_t> lost_;  ///< TIDs of MADs whose first try was lost.
  std::vector<WireSend> waiting_, polled_;
  alignas(64) std::array<std::byte, kMadBytes> answer_{};
};

/// Requests of both QPs, some of which are lost once: each comes back as it went, bit by bit.
Verdict test_loopback(const std::string& uri, bool virtual_clock, std::string& found);

}  // namespace tidemill::device_tool
