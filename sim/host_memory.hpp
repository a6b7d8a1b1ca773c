// SPDX-License-Identifier: Apache-2.0
/// Host memory as the simulated card sees it: by default the memory of this process, at its own addresses. Only what was
/// handed out may be read or written; the rest answers with DECERR.
///
/// Threads: memory is handed out and given back from any thread, read and written by the one that simulates. Words are
/// written whole, with release: what the card wrote before is there when a word is seen.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "device/card.hpp"

namespace tidemill::sim {

constexpr std::size_t kLineBytes = 64;
using Line = std::array<uint32_t, kLineBytes / 4>;  ///< As Verilator has wide signals.

enum class Response : uint8_t { okay = 0, slave_error = 2, decode_error = 3 };

class HostMemory : public std::enable_shared_from_this<HostMemory> {
 public:
  virtual ~HostMemory() = default;
  virtual std::unique_ptr<device::CardMemory> allocate(std::size_t bytes);

  virtual Response read(uint64_t address, Line& line);
  /// `strobe`: a bit for each byte.
  virtual Response write(uint64_t address, const Line& line, uint64_t strobe);

 private:
  class Region;
  bool holds(uint64_t address) const;
  void give_back(uint64_t address);

  mutable std::mutex mutex_;
  std::map<uint64_t, std::size_t> regions_;
};

}  // namespace tidemill::sim
