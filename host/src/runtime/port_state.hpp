// SPDX-License-Identifier: Apache-2.0
/// A port inside the runtime: its wire, its receive buffers, its dispatch table.
#pragma once
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/registry.hpp"
#include "tidemill/abi.hpp"
#include "tidemill/device.hpp"

namespace tidemill::detail {

class DeviceState;

/// A counter with one writer, the progress thread, and readers anywhere.
class Counter {
 public:
  void operator+=(uint64_t by) { n_.store(n_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed); }
  void operator++() { *this += 1; }
  void raise_to(uint64_t v) {
    if (v > n_.load(std::memory_order_relaxed)) n_.store(v, std::memory_order_relaxed);
  }
  operator uint64_t() const { return n_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> n_{0};
};

class PortState final : public WireSink {
 public:
  PortState(DeviceState& device, unsigned number, std::unique_ptr<Wire> wire, PortOptions options);

  unsigned number() const { return number_; }
  const WireAttributes& attributes() const { return attributes_; }
  Trace* trace() const { return options_.trace.get(); }
  uint16_t receive_buffers() const { return options_.receive_buffers; }
  /// Under the device's registry mutex.
  Registry& registry() { return registry_; }
  PortStats stats() const;
  bool removed() const { return removed_.load(std::memory_order_acquire); }

  // --- the thread that makes progress
  Wire& wire() { return *wire_; }
  bool poll_wire() { return wire_->poll(*this); }
  void transmit(const abi::Transmit& t);
  /// The MAD of a receive buffer, until release().
  Received received(uint16_t buffer) const;
  void release(uint16_t buffer);
  void deliver_unsolicited(uint16_t buffer);
  void dropped(DropCause cause) { ++dropped_[static_cast<unsigned>(cause)]; }
  void count_unsolicited() { ++unsolicited_; }
  void count_match() { ++matched_; }
  void count_completion(SendStatus status) { ++completed_[static_cast<unsigned>(status)]; }
  void count_retries(uint64_t total) { retried_.raise_to(total); }
  void set_internal_agent(Qp qp, std::shared_ptr<AgentState> agent) {
    internal_[static_cast<unsigned>(qp)] = std::move(agent);
  }
  std::shared_ptr<AgentState> take_internal_agent(unsigned qp) { return std::move(internal_[qp]); }
  /// An agent has been closing for `waited`: a lost wire, or one that reports nothing for that long, gives its tries
  /// up.
  void give_up_wire(Nanoseconds waited);

  // --- from the wire
  void sent(uint64_t token, WireStatus status, uint8_t vendor, uint8_t recovery) override;
  bool received(const WireReceived& mad) override;
  void event(PortEvent event) override;

 private:
  struct alignas(64) Buffer {
    std::array<std::byte, kMadBytes> mad;
    Address from;
    Qp qp;
  };
  /// Credit is the device's, over all ports; the depth of this wire's send queue is held here.
  struct Queue {
    uint32_t on_wire = 0;
    std::deque<abi::Transmit> held;
  };
  void give_to_wire(const abi::Transmit& t);
  bool well_formed(const WireReceived& mad) const;
  void answer_unsupported(const Received& request);

  DeviceState& device_;
  const unsigned number_;
  const std::unique_ptr<Wire> wire_;
  const PortOptions options_;
  const WireAttributes attributes_;
  Registry registry_;
  std::vector<Buffer> buffers_;
  std::array<std::vector<uint16_t>, 2> free_;
  std::array<Queue, 2> queues_;
  std::array<std::shared_ptr<AgentState>, 2> internal_;  ///< Send the automatic responses.
  bool lost_ = false;
  std::atomic<bool> removed_{false};

  Counter transmitted_, retried_, received_, matched_, unsolicited_, auto_responses_, outstanding_high_;
  std::array<Counter, kDropCauses> dropped_;
  std::array<Counter, kSendStatuses> completed_;
  std::array<Counter, 256> sent_by_class_, received_by_class_;
};

}  // namespace tidemill::detail
