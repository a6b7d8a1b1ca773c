// SPDX-License-Identifier: Apache-2.0
/// Receive buffers of the queue pair: posted, filled, handed over, posted again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "endpoint.hpp"
#include "network_header.hpp"

namespace tidemill::verbs {

/// Marks the work request ids of receives.
inline constexpr uint64_t kReceiveId = uint64_t{1} << 63;

class ReceiveRing {
 public:
  ReceiveRing(ibv_pd* domain, uint16_t depth);
  bool ok() const { return region_ != nullptr; }

  /// All buffers, after the queue pair was made or made again. Completions of before are no longer ours.
  /// `kept`: buffers whose MAD is still wanted; release() gives them back.
  void start(ibv_qp* qp, std::span<const uint16_t> kept);
  /// The buffer of a completion, if it is of the present life of the queue pair.
  bool owns(uint64_t id) const { return static_cast<uint16_t>(id >> 32) == life_; }
  static uint16_t buffer_of(uint64_t id) { return static_cast<uint16_t>(id); }

  std::span<const std::byte, kNetworkHeaderBytes> header(uint16_t buffer) const;
  std::span<const std::byte> mad(uint16_t buffer, uint32_t received_bytes) const;

  /// The buffer can be used again: at the next post().
  void release(uint16_t buffer) { free_.push_back(buffer); }
  /// False if the queue pair did not take them: it is in error.
  bool post(ibv_qp* qp);

 private:
  static constexpr std::size_t kBytes = kNetworkHeaderBytes + kMadBytes, kStride = 320;
  std::byte* at(uint16_t buffer) { return memory_.data() + std::size_t{buffer} * kStride; }

  uint16_t depth_;
  uint16_t life_ = 0;
  std::vector<std::byte> memory_;
  MemoryRegionPtr region_;
  std::vector<uint16_t> free_;
  std::vector<ibv_recv_wr> requests_;
  std::vector<ibv_sge> elements_;
};

}  // namespace tidemill::verbs
