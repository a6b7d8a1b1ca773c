// SPDX-License-Identifier: Apache-2.0
/// What the card of another process's host reaches: the memory XRT handed out there, read and written by messages to
/// it, and the card's own. What the host has not told to be the card's answers with DECERR, as does everything once the
/// host no longer answers.
///
/// One thread.
#pragma once
#include <map>
#include <optional>

#include "sim/host_memory.hpp"
#include "sim/xrt/channel.hpp"
#include "sim/xrt/device_memory.hpp"

namespace tidemill::sim {

class RemoteMemory final : public HostMemory {
 public:
  RemoteMemory(Channel to_host, std::shared_ptr<DeviceMemory> own)
      : to_host_(std::move(to_host)), own_(std::move(own)) {}

  enum class Whose : uint8_t { host, card };
  void handed_out(uint64_t address, uint64_t bytes, Whose whose) { regions_[address] = {bytes, whose}; }
  void given_back(uint64_t address) { regions_.erase(address); }

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
  struct Region {
    uint64_t bytes;
    Whose whose;
  };
  /// Whose the line is; nothing if it was not handed out.
  std::optional<Whose> owner(uint64_t address) const;
  Response read_from_host(uint64_t address, Line& line);
  bool put(uint64_t address, const void* bytes, std::size_t count);

  Channel to_host_;
  std::shared_ptr<DeviceMemory> own_;
  std::map<uint64_t, Region> regions_;
  std::string answer_;
  bool host_answers_ = true;
  uint64_t lines_read_ = 0, lines_written_ = 0;
};

}  // namespace tidemill::sim
