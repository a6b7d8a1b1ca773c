// SPDX-License-Identifier: Apache-2.0
/// Memory of the card that the host copies to and from (xrt::bo::sync). The shell reaches what it was told of, where
/// its xclbin connects it to the card's memory and not to the host's.
#pragma once
#include <cstdint>

namespace tidemill::sim {

class DeviceMemory {
 public:
  static constexpr uint64_t kBytes = uint64_t{1} << 32;

  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Both false for what is not all inside.
  bool write(uint64_t address, const void* data, uint64_t bytes);
  bool read(uint64_t address, void* data, uint64_t bytes) const;

 private:
  static bool inside(uint64_t address, uint64_t bytes) { return bytes <= kBytes && address <= kBytes - bytes; }
  char* bytes_;
};

}  // namespace tidemill::sim
