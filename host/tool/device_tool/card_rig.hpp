// SPDX-License-Identifier: Apache-2.0
/// A driver of a bare card for its self-test: registers, small rings that wrap soon, doorbells by hand.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "device/card_ring.hpp"

namespace tidemill::device_tool {

class CardRig {
 public:
  static constexpr unsigned kLaneBits = 4, kHostBits = 4;  ///< The smallest rings there are.
  static constexpr uint64_t kSeed = 0x5e1f7e57;

  struct Sizes {
    unsigned completion_bits = 4, transmit_bits = 4, sent_bits = 4;
  };

  /// Resets the card and sets it up.
  CardRig(device::Card& card, Sizes sizes);
  ~CardRig();
  CardRig(const CardRig&) = delete;
  CardRig& operator=(const CardRig&) = delete;

  device::Card& card() { return card_; }
  uint32_t read(uint32_t offset) { return card_.read(offset); }
  uint32_t count(abi::Counter c) { return read(abi::reg::count + 4 * static_cast<uint32_t>(c)); }
  uint32_t rejected(abi::Cause c) { return read(abi::reg::count_rejected + 4 * static_cast<uint32_t>(c)); }

  /// Lets the card work until `done`; false if that does not come within a time in which everything ends.
  bool until(const std::function<bool()>& done);
  /// Lets it work for so many ticks at least.
  void pass(uint32_t ticks);

  void command(const abi::Command& c);
  void open(uint16_t lane, unsigned bits = kLaneBits);
  void weigh(uint16_t lane);
  uint32_t commands_told() const { return commands_told_; }

  /// A send that expects no response, with a slot of its own.
  abi::Descriptor plain(uint16_t lane);
  void put(uint16_t lane, const abi::Descriptor& d);
  void ring(uint16_t lane) { ring(lane, lanes_[lane].producer); }
  void ring(uint16_t lane, uint32_t producer) {
    lanes_[lane].memory->to_card(0, sizeof(abi::Descriptor) << lanes_[lane].bits);
    card_.write(abi::reg::lane_doorbell + 4u * lane, producer);
  }
  uint32_t posted(uint16_t lane) const { return lanes_[lane].producer; }
  /// What the card says it has fetched of a lane, and taken of a ring: entries of the index array.
  uint32_t fetched(uint16_t lane) const { return index(lane); }
  uint32_t taken(abi::Ring ring) const { return index(card_lanes_ + static_cast<uint32_t>(ring)); }

  void sent(const abi::Transmit& t);
  void flush_sent() { sents_->flush(); }

  /// Everything so far; until() looks for more.
  std::vector<abi::Transmit>& transmits() { return transmits_; }
  std::vector<abi::Completion>& completions() { return completions_; }

 private:
  struct Lane {
    std::unique_ptr<device::CardMemory> memory;
    uint32_t producer = 0;
    unsigned bits = 0;
  };
  uint32_t index(uint32_t i) const {
    return reinterpret_cast<const std::atomic<uint32_t>*>(indices_->host())[i].load(std::memory_order_acquire);
  }
  const std::atomic<uint32_t>& taken_by_card(abi::Ring ring) const {
    return reinterpret_cast<const std::atomic<uint32_t>*>(indices_->host())[card_lanes_ + static_cast<uint32_t>(ring)];
  }
  void collect();

  device::Card& card_;
  uint32_t card_lanes_ = 0, next_slot_ = 0, commands_told_ = 0;
  std::unique_ptr<device::CardMemory> indices_;
  std::vector<Lane> lanes_;
  std::unique_ptr<device::IncomingRing<abi::Completion, 3>> completion_ring_;
  std::unique_ptr<device::IncomingRing<abi::Transmit, 0>> transmit_ring_;
  std::unique_ptr<device::OutgoingRing<abi::Command>> commands_;
  std::unique_ptr<device::OutgoingRing<abi::Sent>> sents_;
  std::vector<abi::Transmit> transmits_;
  std::vector<abi::Completion> completions_;
};

/// Resets the card; false if it does not come out again.
bool reset_card(device::Card& card);

}  // namespace tidemill::device_tool
