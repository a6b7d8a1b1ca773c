// SPDX-License-Identifier: Apache-2.0
/// Memory of the card that the host copies to and from (xrt::bo::sync). The shell does not reach it; XRT wants it to be
/// there.
#pragma once
#include <cstdint>
#include <string>

namespace tidemill::sim {

class DeviceMemory {
 public:
  static constexpr uint64_t kBytes = uint64_t{1} << 32;

  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Both false for what is not all inside.
  bool write(uint64_t address, const std::string& data);
  bool read(uint64_t address, uint64_t bytes, std::string& data) const;

 private:
  static bool inside(uint64_t address, uint64_t bytes) { return bytes <= kBytes && address <= kBytes - bytes; }
  char* bytes_;
};

}  // namespace tidemill::sim
