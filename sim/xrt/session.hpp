// SPDX-License-Identifier: Apache-2.0
/// The device process from the first call of the host to its last: answers XRT's calls, and between them lets the
/// simulated card work. One thread.
#pragma once
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>

#include "host/xrt/emulation_registers.hpp"
#include "sim/cosim_card.hpp"
#include "sim/xrt/channel.hpp"
#include "sim/xrt/device_memory.hpp"
#include "sim/xrt/remote_memory.hpp"

namespace tidemill::sim {

/// Where the xclbin says the kernels' registers are (sim/xrt/make_xclbin.py).
constexpr uint64_t kShellBase = 0x0180'0000, kEmulationBase = 0x0181'0000;

struct SessionOptions {
  Options card;
  /// What register `version` answers, if not what the RTL does: a card of another time.
  std::optional<uint32_t> version;
};

class Session {
 public:
  Session(const SessionOptions& options, Channel host, Channel to_host);
  /// Until the host closes or ends. `alive` is called at least once a second while all is well.
  void run(const std::function<void()>& alive);
  void report(std::FILE* log) const;

 private:
  using Counter = xrt_emulation::Counter;
  bool serve();
  bool answer(const google::protobuf::MessageLite& message);
  std::optional<uint32_t> read(uint64_t address);
  bool write(uint64_t address, uint32_t value);
  uint32_t read_emulation(uint32_t offset) const;
  void write_emulation(uint32_t offset, uint32_t value);
  uint64_t counter(uint32_t index) const;
  void count_write(uint32_t offset);
  uint64_t& count(Counter c) { return counters_[static_cast<uint32_t>(c)]; }
  uint32_t follow();
  int idle_ms() const;

  const SessionOptions options_;
  Channel host_;
  std::shared_ptr<DeviceMemory> own_;
  std::shared_ptr<RemoteMemory> memory_;
  CosimCard card_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  bool follows_clock_ = true;
  bool more_ = false;
  uint32_t followed_ = 0;  ///< Tick of the wall clock that the card has been told to go up to,
  uint32_t told_ = 0;      ///< and by how many in all.
  uint64_t told_memory_ = 0;
  std::array<uint64_t, xrt_emulation::kCounters> counters_{};
  std::string message_;
};

}  // namespace tidemill::sim
