// SPDX-License-Identifier: Apache-2.0
/// A MAD under way and where such are stored. A pool belongs to one wire's thread; a packet that ends elsewhere finds its
/// way home, so traffic in one direction allocates nothing either.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/topology.hpp"
#include "tidemill/address.hpp"
#include "tidemill/mad.hpp"

namespace tidemill::fabric {

class PacketPool;

struct alignas(64) Packet {
  std::array<std::byte, kMadBytes> mad;
  Address from;               ///< As the destination sees it.
  Qp qp = Qp::gsi;            ///< At the destination.
  uint8_t entry_port = 0;     ///< Of the destination.
  DeviceNumber source = kNoDevice;
  DeviceNumber destination = kNoDevice;
  uint32_t source_link = 0;       ///< State of the link at departure.
  uint32_t destination_link = 0;
  int64_t due = 0;            ///< When it is where it goes, by the clock.
  uint64_t order = 0;         ///< Of insertion at the destination.
  PacketPool* home = nullptr;
  Packet* next = nullptr;

  void copy_from(const Packet& other) {
    PacketPool* const own = home;
    *this = other;
    home = own;
  }
};

class PacketPool {
 public:
  /// Owner's thread.
  Packet* take() {
    if (free_ == nullptr) refill();
    Packet* const packet = free_;
    free_ = packet->next;
    return packet;
  }
  /// Owner's thread; any pool's packet.
  void give(Packet* packet) {
    if (packet->home == this) {
      packet->next = free_;
      free_ = packet;
    } else {
      packet->home->give_back(packet);
    }
  }

 private:
  static constexpr std::size_t kChunk = 64;

  /// Any thread.
  void give_back(Packet* packet) {
    Packet* before = returned_.load(std::memory_order_relaxed);
    do {
      packet->next = before;
    } while (!returned_.compare_exchange_weak(before, packet, std::memory_order_release, std::memory_order_relaxed));
  }
  void refill() {
    free_ = returned_.exchange(nullptr, std::memory_order_acquire);
    if (free_ != nullptr) return;
    chunks_.push_back(std::make_unique<Packet[]>(kChunk));
    for (std::size_t i = kChunk; i-- > 0;) {
      chunks_.back()[i].home = this;
      give(&chunks_.back()[i]);
    }
  }

  Packet* free_ = nullptr;
  std::vector<std::unique_ptr<Packet[]>> chunks_;
  std::atomic<Packet*> returned_{nullptr};
};

}  // namespace tidemill::fabric
