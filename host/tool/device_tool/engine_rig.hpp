// SPDX-License-Identifier: Apache-2.0
/// A driver of any device through the device contract, for the self-test: one send at a time, to the bank that is asked
/// for, and a host wire that reports and answers when told.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "device/backend.hpp"

namespace tidemill::device_tool {

class EngineRig final : public device::BackendSink {
 public:
  static constexpr uint32_t kAgent = 7;

  struct Drop {
    abi::Cause cause;
    uint16_t buffer;
  };
  struct LaneOptions {
    uint8_t weight = 1;
    uint8_t service_class = 1;
    uint16_t window = 0;
    bool gsi = true;
  };

  EngineRig(std::unique_ptr<device::Backend> backend, bool virtual_clock, uint16_t wire_credit);

  uint32_t banks() const { return capabilities_.banks; }
  const std::string& failure() const { return failure_; }
  device::Backend& backend() { return *backend_; }

  uint16_t open_lane(const LaneOptions& options);
  void command(const abi::Command& c) { backend_->command(c); }
  void command_send(abi::CommandKind kind, const abi::Descriptor& d, uint32_t ticks = 0);

  /// A send with a slot of its own in `bank`; with a timeout its TID is of that bank, too. Lane 0.
  abi::Descriptor send(uint32_t bank, uint32_t timeout, uint32_t agent = kAgent);
  void post(uint16_t lane, abi::Descriptor d);
  void post(const abi::Descriptor& d) { post(0, d); }
  void report(const abi::Transmit& t, abi::Status status = abi::Status::success, uint8_t vendor = 0);
  void answer(const abi::Descriptor& d, uint16_t buffer, uint8_t mgmt_class = 0x04);

  /// Makes progress until `done`; false if that has not come within so many ticks.
  bool until(const std::function<bool()>& done, uint32_t ticks = 2000);
  /// The next transmission; nothing if none comes.
  std::optional<abi::Transmit> transmitted(uint32_t ticks = 2000);
  std::optional<abi::Completion> completed(uint32_t ticks = 2000);
  std::optional<Drop> dropped();
  /// True if neither a transmission nor a completion comes within so many ticks.
  bool quiet(uint32_t ticks = 50);
  /// The tick as this bank knows it, from a send that expects nothing; nothing if that does not complete.
  std::optional<uint32_t> tick_of(uint32_t bank);
  /// Posts, and reports its try as sent at once; nothing if it was not transmitted.
  std::optional<abi::Transmit> launch(const abi::Descriptor& d);

  std::deque<abi::Transmit>& transmits() { return transmits_; }
  std::deque<abi::Completion>& completions() { return completions_; }

  void transmit(const abi::Transmit& t) override { transmits_.push_back(t); }
  void complete(const abi::Completion& c) override { completions_.push_back(c); }
  void drop(abi::Cause cause, unsigned, uint16_t buffer) override { drops_.push_back({cause, buffer}); }
  void failed(const std::string& why) override { failure_ = why; }

 private:
  struct Lane {
    std::span<abi::Descriptor> ring;
    uint32_t producer = 0;
  };
  void pass();
  /// Up to `most` ticks, where no timer is due before.
  void advance(uint32_t most);

  std::unique_ptr<device::Backend> backend_;
  const device::Capabilities capabilities_;
  const bool virtual_clock_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  uint32_t now_ = 0;
  bool more_ = false;
  std::string failure_;
  std::vector<Lane> lanes_;
  std::vector<uint32_t> used_;  ///< Slots given out, by bank.
  uint32_t next_tid_ = 1;
  // What the wire says in the next pass.
  std::vector<abi::Sent> sents_;
  std::vector<abi::Received> answers_;
  std::deque<abi::Transmit> transmits_;
  std::deque<abi::Completion> completions_;
  std::deque<Drop> drops_;
};

}  // namespace tidemill::device_tool
