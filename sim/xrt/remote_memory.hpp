// SPDX-License-Identifier: Apache-2.0
/// Host memory of another process: the memory XRT handed out there, read and written by messages to it. XRT alone knows
/// what it has handed out: it refuses the rest, and that is DECERR, as is everything once the host no longer answers.
///
/// One thread.
#pragma once
#include "sim/host_memory.hpp"
#include "sim/xrt/channel.hpp"

namespace tidemill::sim {

/// Where the xclbin says host memory is (sim/xrt/make_xclbin.py).
constexpr uint64_t kHostBase = 0x20'0000'0000, kHostBytes = uint64_t{1} << 30;

class RemoteMemory final : public HostMemory {
 public:
  explicit RemoteMemory(Channel to_host) : to_host_(std::move(to_host)) {}

  /// Memory is handed out by the host, not by the card.
  std::unique_ptr<device::CardMemory> allocate(std::size_t) override { return nullptr; }
  Response read(uint64_t address, Line& line) override;
  Response write(uint64_t address, const Line& line, uint64_t strobe) override;

  bool host_answers() const { return host_answers_; }
  uint64_t lines_read() const { return lines_read_; }
  uint64_t lines_written() const { return lines_written_; }
  /// Tells the host that nothing comes any more.
  void close();

 private:
  bool put(uint64_t address, const void* bytes, std::size_t count);

  Channel to_host_;
  std::string answer_;
  bool host_answers_ = true;
  uint64_t lines_read_ = 0, lines_written_ = 0;
};

}  // namespace tidemill::sim
