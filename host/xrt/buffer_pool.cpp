// SPDX-License-Identifier: Apache-2.0
#include "xrt/buffer_pool.hpp"

#include <algorithm>

namespace tidemill::xrt_card {

BufferPool::Block BufferPool::take(std::size_t bytes) {
  const std::size_t whole = std::max((bytes + kPage - 1) / kPage * kPage, kPage);
  const std::lock_guard lock(mutex_);
  const auto fits = [whole](const auto& range) { return range.second >= whole; };
  auto found = std::find_if(free_.begin(), free_.end(), fits);
  if (found == free_.end()) {
    xrt::bo bo = allocate_(std::max(whole, kBufferBytes));
    auto* const host = bo.map<std::byte*>();
    const uint64_t address = bo.address();
    found = free_.emplace(address, bo.size()).first;
    buffers_.push_back({std::move(bo), host, address});
  }
  const auto [address, room] = *found;
  free_.erase(found);
  if (room > whole) free_.emplace(address + whole, room - whole);
  const auto buffer = std::find_if(buffers_.begin(), buffers_.end(), [at = address](const Buffer& b) {
    return at >= b.address && at < b.address + b.bo.size();
  });
  const std::size_t offset = address - buffer->address;
  return {buffer->host + offset, address, whole, buffer->bo, offset};
}

void BufferPool::give(const Block& block) {
  const std::lock_guard lock(mutex_);
  auto at = free_.emplace(block.address, block.bytes).first;
  const auto begins = [this](uint64_t address) {
    return std::any_of(buffers_.begin(), buffers_.end(), [address](const Buffer& b) { return b.address == address; });
  };
  if (const auto next = std::next(at);
      next != free_.end() && at->first + at->second == next->first && !begins(next->first)) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at != free_.begin()) {
    const auto before = std::prev(at);
    if (before->first + before->second != at->first || begins(at->first)) return;
    before->second += at->second;
    free_.erase(at);
  }
}

void BufferPool::abandon() {
  const std::lock_guard lock(mutex_);
  new std::vector<Buffer>(std::move(buffers_));  // NOLINT(bugprone-unused-raii): never destroyed, as said
}

}  // namespace tidemill::xrt_card
