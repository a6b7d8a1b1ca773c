// SPDX-License-Identifier: Apache-2.0
#include "receive_ring.hpp"

#include <algorithm>
#include <numeric>

namespace tidemill::verbs {

ReceiveRing::ReceiveRing(ibv_pd* domain, uint16_t depth)
    : depth_(depth),
      memory_(std::size_t{depth} * kStride),
      region_(ibv_reg_mr(domain, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE)),
      requests_(depth),
      elements_(depth) {
  free_.reserve(depth);
}

void ReceiveRing::start(ibv_qp* qp, std::span<const uint16_t> kept) {
  life_ = static_cast<uint16_t>((life_ + 1) & 0x7fff);  // below kReceiveId
  free_.resize(depth_);
  std::iota(free_.begin(), free_.end(), uint16_t{0});
  std::erase_if(free_, [&](uint16_t buffer) { return std::find(kept.begin(), kept.end(), buffer) != kept.end(); });
  post(qp);
}

std::span<const std::byte, kNetworkHeaderBytes> ReceiveRing::header(uint16_t buffer) const {
  return std::span<const std::byte>(memory_).subspan(std::size_t{buffer} * kStride).first<kNetworkHeaderBytes>();
}

std::span<const std::byte> ReceiveRing::mad(uint16_t buffer, uint32_t received_bytes) const {
  const std::size_t length = std::clamp<std::size_t>(received_bytes, kNetworkHeaderBytes, kBytes) - kNetworkHeaderBytes;
  return std::span<const std::byte>(memory_).subspan(std::size_t{buffer} * kStride + kNetworkHeaderBytes, length);
}

bool ReceiveRing::post(ibv_qp* qp) {
  if (free_.empty()) return true;
  const std::size_t count = free_.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const bytes = at(free_[i]);
    bytes[0] = std::byte{0};  // see parse_network_header()
    elements_[i] = {reinterpret_cast<uintptr_t>(bytes), static_cast<uint32_t>(kBytes), region_->lkey};
    requests_[i] = {};
    requests_[i].wr_id = kReceiveId | uint64_t{life_} << 32 | free_[i];
    requests_[i].sg_list = &elements_[i];
    requests_[i].num_sge = 1;
    requests_[i].next = i + 1 < count ? &requests_[i + 1] : nullptr;
  }
  ibv_recv_wr* refused = nullptr;
  if (ibv_post_recv(qp, requests_.data(), &refused) == 0) {
    free_.clear();
    return true;
  }
  // What it took is gone from here, the rest waits for the next life.
  free_.erase(free_.begin(), free_.begin() + (refused == nullptr ? 0 : refused - requests_.data()));
  return false;
}

}  // namespace tidemill::verbs
