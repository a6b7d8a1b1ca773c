// SPDX-License-Identifier: Apache-2.0
#include "sim/xrt/device_memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>

namespace tidemill::sim {

DeviceMemory::DeviceMemory() {
  // Pages come with their first use.
  void* const mapped =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::runtime_error("no room for the card's memory in the address space");
  bytes_ = static_cast<char*>(mapped);
}

DeviceMemory::~DeviceMemory() {
  munmap(bytes_, kBytes);
}

bool DeviceMemory::write(uint64_t address, const void* data, uint64_t bytes) {
  if (!inside(address, bytes)) return false;
  std::memcpy(bytes_ + address, data, bytes);
  return true;
}

bool DeviceMemory::read(uint64_t address, void* data, uint64_t bytes) const {
  if (!inside(address, bytes)) return false;
  std::memcpy(data, bytes_ + address, bytes);
  return true;
}

}  // namespace tidemill::sim
