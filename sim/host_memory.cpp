// SPDX-License-Identifier: Apache-2.0
#include "sim/host_memory.hpp"

#include <atomic>
#include <cstring>
#include <new>

namespace tidemill::sim {

class HostMemory::Region final : public device::CardMemory {
 public:
  Region(std::shared_ptr<HostMemory> owner, std::size_t bytes)
      : owner_(std::move(owner)), bytes_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{4096}))) {
    std::memset(bytes_, 0, bytes);
  }
  ~Region() override {
    owner_->give_back(address());
    ::operator delete(bytes_, std::align_val_t{4096});
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  std::byte* host() override { return bytes_; }
  uint64_t address() const override { return reinterpret_cast<uint64_t>(bytes_); }

 private:
  std::shared_ptr<HostMemory> owner_;
  std::byte* bytes_;
};

std::unique_ptr<device::CardMemory> HostMemory::allocate(std::size_t bytes) {
  const std::size_t whole = (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  auto region = std::make_unique<Region>(shared_from_this(), whole);
  const std::lock_guard lock(mutex_);
  regions_.emplace(region->address(), whole);
  return region;
}

void HostMemory::give_back(uint64_t address) {
  const std::lock_guard lock(mutex_);
  regions_.erase(address);
}

bool HostMemory::holds(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return false;
  --after;
  return address + kLineBytes <= after->first + after->second;
}

Response HostMemory::read(uint64_t address, Line& line) {
  if (!holds(address)) return Response::decode_error;
  std::memcpy(line.data(), reinterpret_cast<const void*>(address), kLineBytes);
  return Response::okay;
}

Response HostMemory::write(uint64_t address, const Line& line, uint64_t strobe) {
  if (!holds(address)) return Response::decode_error;
  auto* const words = reinterpret_cast<uint32_t*>(address);
  for (std::size_t w = 0; w < line.size(); w += 2) {
    const uint64_t bytes = strobe >> (4 * w) & 0xffu;
    if (bytes == 0xff) {
      const uint64_t both = uint64_t{line[w + 1]} << 32 | line[w];
      std::atomic_ref(reinterpret_cast<uint64_t&>(words[w])).store(both, std::memory_order_release);
    } else {
      // The shell writes whole words of 32 bits.
      if ((bytes & 0x0f) == 0x0f) std::atomic_ref(words[w]).store(line[w], std::memory_order_release);
      if ((bytes & 0xf0) == 0xf0) std::atomic_ref(words[w + 1]).store(line[w + 1], std::memory_order_release);
    }
  }
  return Response::okay;
}

}  // namespace tidemill::sim
