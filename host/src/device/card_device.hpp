// SPDX-License-Identifier: Apache-2.0
/// The device contract over a card with the shell of rtl/shell: registers, rings in host memory, doorbells.
#pragma once
#include <memory>
#include <mutex>

#include "device/backend.hpp"
#include "device/card.hpp"
#include "device/card_ring.hpp"
#include "device/doorbells.hpp"
#include "device/mpsc_ring.hpp"

namespace tidemill::device {

class CardDevice final : public Backend {
 public:
  /// Resets the card and sets it up. An error names what does not fit.
  static Result<std::unique_ptr<Backend>> open(std::unique_ptr<Card> card, uint64_t seed);
  ~CardDevice() override;

  Capabilities capabilities() const override { return capabilities_; }
  std::string kind() const override { return card_->kind(); }

  std::span<abi::Descriptor> ring(uint32_t lane, uint32_t entries) override;
  const std::atomic<uint32_t>& consumed(uint32_t lane) const override { return indices()[lane]; }
  void doorbell(uint32_t lane, uint32_t producer) override { doorbells_.ring(lane, producer); }
  bool command(const abi::Command& c) override { return commands_.push(c); }
  void wire_credit(uint16_t smi, uint16_t gsi) override;
  uint32_t bank_of(uint64_t tid) const override;
  uint32_t digest(const Gid& gid) const override;

  void attach(BackendSink& sink) override { runtime_ = &sink; }
  void take_commands(uint32_t now) override;
  void sent(const abi::Sent& s, uint32_t now) override;
  void received(const abi::Received& r, uint32_t now) override;
  bool progress(uint32_t now) override;
  bool pending() const override { return doorbells_.any() || !commands_.empty() || more_.load(std::memory_order_relaxed); }
  uint32_t wake(uint32_t now) const override;
  std::optional<Nanoseconds> look_within() const override { return card_->look_within(); }
  int event_fd() const override { return card_->event_fd(); }
  uint64_t retried() const override { return retried_; }
  uint64_t counter(std::string_view name) const override { return card_->counter(name); }
  std::optional<CardCounters> card_counters() override {
    return card_->removed().empty() ? std::optional(read_counters(*card_)) : std::nullopt;
  }
  std::optional<Nanoseconds> time() const override { return card_->time(); }

 private:
  struct SendRing {
    std::unique_ptr<CardMemory> memory;
    uint32_t entries = 0;
    uint32_t told = 0;  ///< Up to here the card's copy is whole, where it has one.
  };
  CardDevice(std::unique_ptr<Card> card, uint64_t seed, const Capabilities& capabilities);
  const std::atomic<uint32_t>* indices() const { return reinterpret_cast<const std::atomic<uint32_t>*>(index_memory_->host()); }
  const std::atomic<uint32_t>& taken(abi::Ring ring) const { return indices()[capabilities_.lanes + static_cast<uint32_t>(ring)]; }
  bool collect();
  void posted_to_card(uint32_t lane, uint32_t producer);
  void fail();
  void handle(const abi::Completion& c);

  std::unique_ptr<Card> card_;
  const uint64_t seed_;
  const Capabilities capabilities_;
  const unsigned bank_bits_;
  BackendSink* runtime_ = nullptr;
  Doorbells doorbells_;
  MpscRing<abi::Command> commands_;
  std::mutex rings_mutex_;
  std::unique_ptr<SendRing[]> rings_;
  std::unique_ptr<CardMemory> index_memory_;
  std::unique_ptr<OutgoingRing<abi::Command>> command_ring_;
  std::unique_ptr<OutgoingRing<abi::Sent>> sent_ring_;
  std::unique_ptr<OutgoingRing<abi::Received>> received_rings_[2];
  std::unique_ptr<IncomingRing<abi::Completion, 3>> completion_ring_;
  std::unique_ptr<IncomingRing<abi::Transmit, 0>> transmit_ring_;
  uint64_t retried_ = 0;
  bool failed_ = false;
  std::atomic<bool> more_{false};
};

}  // namespace tidemill::device
