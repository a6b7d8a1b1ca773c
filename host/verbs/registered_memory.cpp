// SPDX-License-Identifier: Apache-2.0
#include "registered_memory.hpp"

#include <algorithm>
#include <cstring>

namespace tidemill::verbs {
namespace {

ibv_sge element(const std::byte* at, std::size_t length, uint32_t key) {
  return {reinterpret_cast<uintptr_t>(at), static_cast<uint32_t>(length), key};
}

}  // namespace

RegisteredMemory::RegisteredMemory(ibv_pd* domain, std::size_t depth)
    : domain_(domain),
      depth_(depth),
      own_((depth + 1) * kMadBytes),
      own_region_(ibv_reg_mr(domain, own_.data(), own_.size(), 0)) {}

void RegisteredMemory::region(std::span<const std::byte> memory) {
  pieces_.clear();
  pieces_.resize((memory.size() + kPiece - 1) / kPiece);
  region_ = memory;
  refused_ = false;
}

ibv_mr* RegisteredMemory::piece_of(std::span<const std::byte> mad) {
  // Compared as numbers: one past the end of another object is not in this one.
  const auto start = reinterpret_cast<uintptr_t>(region_.data()), at = reinterpret_cast<uintptr_t>(mad.data());
  if (at < start || at + mad.size() > start + region_.size() || mad.size() > kOverlap) return nullptr;
  MemoryRegionPtr& piece = pieces_[(at - start) / kPiece];
  if (piece == nullptr && !refused_) {
    const std::size_t from = (at - start) / kPiece * kPiece;
    const std::span<const std::byte> bytes = region_.subspan(from, std::min(kPiece + kOverlap, region_.size() - from));
    piece.reset(ibv_reg_mr(domain_, const_cast<std::byte*>(bytes.data()), bytes.size(), 0));  // access 0: only read
    refused_ = piece == nullptr;
  }
  return piece.get();
}

RegisteredMemory::Place RegisteredMemory::place(std::span<const std::byte> mad, uint64_t turn) {
  if (const ibv_mr* piece = piece_of(mad)) return {element(mad.data(), mad.size(), piece->lkey), false};
  std::byte* const copy = own_.data() + (1 + turn % depth_) * kMadBytes;
  const std::size_t length = std::min(mad.size(), kMadBytes);
  std::memcpy(copy, mad.data(), length);
  return {element(copy, length, own_region_->lkey), true};
}

ibv_sge RegisteredMemory::padding(std::size_t length) const {
  return element(own_.data(), kMadBytes - length, own_region_->lkey);
}

}  // namespace tidemill::verbs
