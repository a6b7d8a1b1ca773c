// SPDX-License-Identifier: Apache-2.0
/// Memory that host and card both have, out of few large buffers of XRT that stay. XRT's emulation goes on using a
/// host_only buffer that was freed, so none is before the end; and a card has its address translation set once for all.
///
/// Any thread.
#pragma once
#include <xrt/xrt_bo.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace tidemill::xrt_card {

class BufferPool {
 public:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kBufferBytes = std::size_t{64} << 20;

  struct Block {
    std::byte* host = nullptr;
    uint64_t address = 0;  ///< Where the card sees it.
    std::size_t bytes = 0;
    xrt::bo bo;  ///< It begins at `offset` of this.
    std::size_t offset = 0;
  };

  explicit BufferPool(std::function<xrt::bo(std::size_t)> allocate) : allocate_(std::move(allocate)) {}

  /// Whole pages, not cleared. Throws what XRT throws.
  Block take(std::size_t bytes);
  void give(const Block& block);
  /// Leaves the buffers to the process: of a card that has gone XRT would wait for an answer.
  void abandon();

 private:
  struct Buffer {
    xrt::bo bo;
    std::byte* host;
    uint64_t address;
  };
  std::function<xrt::bo(std::size_t)> allocate_;
  std::mutex mutex_;
  std::vector<Buffer> buffers_;
  std::map<uint64_t, std::size_t> free_;  ///< By address; neighbours are one, but for the ends of buffers.
};

}  // namespace tidemill::xrt_card
