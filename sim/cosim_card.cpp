// SPDX-License-Identifier: Apache-2.0
#include "sim/cosim_card.hpp"

#include <algorithm>

#include "tidemill/abi.hpp"

namespace tidemill::sim {
namespace {

constexpr uint64_t kTickNs = 1024;
/// A turn ends after this many cycles once there is news for the host.
constexpr uint64_t kPatience = 64;

/// Ticks the card follows the wall clock in one turn.
constexpr uint32_t kMostFollowed = 1000;

/// SystemC knows one simulation at a time.
std::mutex& simulating() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

CosimCard::CosimCard(const Options& options, bool follows_clock, std::shared_ptr<HostMemory> memory)
    : follows_clock_(follows_clock) {
  const std::lock_guard lock(simulating());
  platform_ = std::make_unique<Platform>(options, std::move(memory));
}

CosimCard::~CosimCard() {
  const std::lock_guard lock(simulating());
  platform_.reset();
}

uint32_t CosimCard::read(uint32_t offset) {
  const std::lock_guard lock(simulating());
  return platform_->read_register(offset);
}

void CosimCard::write(uint32_t offset, uint32_t value) {
  platform_->write_register(offset, value);
  if (offset != abi::reg::tick_increment) return;
  started_at_ = platform_->cycles();
  skipped_ = 0;
}

void CosimCard::skip(uint32_t ticks) {
  platform_->write_register(abi::reg::time_skip, ticks);
  skipped_ += ticks;
}

bool CosimCard::work(uint32_t now, uint64_t most) {
  const std::lock_guard lock(simulating());
  const auto behind = [&] { return static_cast<int32_t>(now - platform_->tick()); };
  if (follows_clock_) {
    const uint32_t passed = now - followed_;
    followed_ = now;
    if (passed != 0) skip(std::min(passed, kMostFollowed));
  }
  if (!platform_->idle()) platform_->run(most, kPatience);
  if (!follows_clock_ && platform_->idle() && behind() > 0) {
    // Nothing happens before the first timer: as many idle cycles are one write.
    const uint32_t to_timer = platform_->wake() - platform_->tick();
    skip(std::min(static_cast<uint32_t>(behind()), to_timer));
    platform_->run(most, kPatience);
  }
  return follows_clock_ ? !platform_->quiet() : !platform_->idle() || behind() > 0;
}

std::optional<uint32_t> CosimCard::wake(uint32_t now) const {
  return follows_clock_ ? now + (platform_->wake() - platform_->tick()) : platform_->wake();
}

std::optional<Nanoseconds> CosimCard::time() const {
  if (follows_clock_) return std::nullopt;
  const auto ns = static_cast<double>(platform_->cycles() - started_at_) * platform_->options().period_ns;
  return Nanoseconds(static_cast<int64_t>(ns) + static_cast<int64_t>(skipped_ * kTickNs));
}

}  // namespace tidemill::sim
