// SPDX-License-Identifier: Apache-2.0
/// The simulated card behind the `cosim:` device, and in the device process of `xrt:` under emulation. Its time is
/// simulated time. On a virtual clock the clock keeps up with it, and idle time is skipped up to the next timer. On a
/// real clock the card's tick follows the wall clock, but by no more than a millisecond a turn: turning an idle timeout
/// wheel takes the simulation longer than real time, and what lags too far behind is let go. Timers may be late then,
/// never early.
#pragma once
#include <memory>
#include <mutex>

#include "device/card.hpp"
#include "sim/platform.hpp"

namespace tidemill::sim {

class CosimCard final : public device::Card {
 public:
  CosimCard(const Options& options, bool follows_clock,
            std::shared_ptr<HostMemory> memory = std::make_shared<HostMemory>());
  ~CosimCard() override;
  std::string kind() const override { return "cosim"; }
  uint32_t read(uint32_t offset) override;
  void write(uint32_t offset, uint32_t value) override;
  std::unique_ptr<device::CardMemory> memory(std::size_t bytes) override { return platform_->memory().allocate(bytes); }
  bool work(uint32_t now) override { return work(now, kMostCycles); }
  /// The same in a turn of at most `most` cycles.
  bool work(uint32_t now, uint64_t most);
  void follow_clock(bool follow) { follows_clock_ = follow; }
  std::optional<uint32_t> wake(uint32_t now) const override;
  std::optional<Nanoseconds> time() const override;
  bool failed() override { return platform_->failed(); }
  uint64_t counter(std::string_view name) const override { return name == "cycles" ? platform_->cycles() : 0; }

  const Platform& platform() const { return *platform_; }

 private:
  static constexpr uint64_t kMostCycles = 4096;
  void skip(uint32_t ticks);

  bool follows_clock_;
  std::unique_ptr<Platform> platform_;
  uint64_t started_at_ = 0;  ///< Cycle at which the tick began to run.
  uint64_t skipped_ = 0;     ///< Ticks.
  uint32_t followed_ = 0;    ///< Tick of the wall clock at the last turn.
};

}  // namespace tidemill::sim
