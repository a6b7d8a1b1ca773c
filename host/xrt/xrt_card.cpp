// SPDX-License-Identifier: Apache-2.0
#include "xrt/xrt_card.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "tidemill/abi.hpp"
#include "xrt/emulation_registers.hpp"

namespace tidemill::xrt_card {
namespace {

namespace emulation = xrt_emulation;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kCheckEvery{100};
constexpr uint32_t kModerationCycles = 2500;  ///< 10 us
/// After a write of the host the card is looked at often for so long, then seldom.
constexpr std::chrono::milliseconds kBusyFor{20};
constexpr Nanoseconds kIdleLook{1'000'000};

class HostOnlyMemory final : public device::CardMemory {
 public:
  HostOnlyMemory(std::shared_ptr<LoadedCard> card, std::size_t bytes)
      : card_(std::move(card)), block_(card_->take_memory(bytes)) {
    std::memset(block_.host, 0, block_.bytes);
  }
  ~HostOnlyMemory() override { card_->give_memory(block_); }
  HostOnlyMemory(const HostOnlyMemory&) = delete;
  HostOnlyMemory& operator=(const HostOnlyMemory&) = delete;
  std::byte* host() override { return block_.host; }
  uint64_t address() const override { return block_.address; }

 private:
  std::shared_ptr<LoadedCard> card_;
  BufferPool::Block block_;
};

/// Of the host alone: for what is still set up when the card has gone.
class NoCardMemory final : public device::CardMemory {
 public:
  explicit NoCardMemory(std::size_t bytes)
      : bytes_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{BufferPool::kPage}))) {
    std::memset(bytes_, 0, bytes);
  }
  ~NoCardMemory() override { ::operator delete (bytes_, std::align_val_t{BufferPool::kPage}); }
  NoCardMemory(const NoCardMemory&) = delete;
  NoCardMemory& operator=(const NoCardMemory&) = delete;
  std::byte* host() override { return bytes_; }
  uint64_t address() const override { return 0; }

 private:
  std::byte* bytes_;
};

/// Of the card, with a copy here. What XRT copies to goes word by word into what others read.
class CardsOwnMemory final : public device::CardMemory {
 public:
  CardsOwnMemory(std::shared_ptr<LoadedCard> card, std::size_t bytes)
      : card_(std::move(card)), block_(card_->take_memory(bytes)), copy_(block_.bytes) {
    to_card(0, block_.bytes);
  }
  ~CardsOwnMemory() override { card_->give_memory(block_); }
  CardsOwnMemory(const CardsOwnMemory&) = delete;
  CardsOwnMemory& operator=(const CardsOwnMemory&) = delete;
  std::byte* host() override { return copy_.host(); }
  uint64_t address() const override { return block_.address; }
  void to_card(std::size_t offset, std::size_t bytes) override {
    std::memcpy(block_.host + offset, copy_.host() + offset, bytes);
    card_->sync(block_, XCL_BO_SYNC_BO_TO_DEVICE, offset, bytes);
  }
  void from_card(std::size_t offset, std::size_t bytes) override {
    card_->sync(block_, XCL_BO_SYNC_BO_FROM_DEVICE, offset, bytes);
    auto* const to = reinterpret_cast<uint32_t*>(copy_.host() + offset);
    for (std::size_t word = 0; word < bytes / sizeof *to; ++word) {
      uint32_t value;
      std::memcpy(&value, block_.host + offset + word * sizeof value, sizeof value);
      std::atomic_ref(to[word]).store(value, std::memory_order_release);
    }
  }

 private:
  std::shared_ptr<LoadedCard> card_;
  BufferPool::Block block_;
  NoCardMemory copy_;
};

}  // namespace

XrtCard::XrtCard(std::shared_ptr<LoadedCard> card, XrtOptions options) : card_(std::move(card)), options_(options) {
  if (card_->emulated()) card_->write_emulation(emulation::follow_clock, options_.virtual_clock ? 0 : 1);
  if (options_.virtual_clock) return;
  try {
    interrupt_.emplace(card_->interrupt());
    waits_by_ = "interrupt";
  } catch (const std::exception& e) {
    waits_by_ += std::string("; no interrupt: ") + e.what();
  }
}

std::vector<std::pair<std::string, std::string>> XrtCard::description() const {
  auto all = card_->description();
  all.emplace_back("waits by", waits_by_);
  return all;
}

/// Cleared before memory is looked at, and the read makes sure of it: what is written after that raises it again.
void XrtCard::answer_interrupt() {
  if (!std::exchange(told_to_interrupt_, true)) {
    card_->write(abi::reg::interrupt_moderation, kModerationCycles);
    card_->write(abi::reg::interrupt_enable, 1);
  }
  if (!interrupt_->take()) return;
  card_->write(abi::reg::interrupt_status, 1);
  card_->read(abi::reg::interrupt_status);
}

XrtCard::~XrtCard() {
  interrupt_.reset();
  card_->release();
}

uint32_t XrtCard::read(uint32_t offset) {
  return card_->read(offset);
}

void XrtCard::write(uint32_t offset, uint32_t value) {
  card_->write(offset, value);
  if (!options_.virtual_clock) busy_until_ = steady_clock::now() + kBusyFor;
}

std::unique_ptr<device::CardMemory> XrtCard::memory(std::size_t bytes) {
  if (card_->gone()) return std::make_unique<NoCardMemory>(bytes);
  if (!card_->shares_memory()) return std::make_unique<CardsOwnMemory>(card_, bytes);
  return std::make_unique<HostOnlyMemory>(card_, bytes);
}

bool XrtCard::work(uint32_t now) {
  if (card_->gone()) {
    failed_ = true;
    return false;
  }
  if (options_.virtual_clock) return simulate(now);
  if (interrupt_) answer_interrupt();
  if (const auto time = steady_clock::now(); time >= next_check_) {
    next_check_ = time + kCheckEvery;
    failed_ = card_->read(abi::reg::failure) != 0;
  }
  return false;
}

bool XrtCard::simulate(uint32_t now) {
  card_->write_emulation(emulation::work, now);
  const uint32_t status = card_->read_emulation(emulation::status);
  wake_ = card_->read_emulation(emulation::wake);
  time_ = Nanoseconds(static_cast<int64_t>(emulation_counter(emulation::time)));
  failed_ = card_->gone() || (status & 2u) != 0;
  return (status & 1u) != 0 && !failed_;
}

std::optional<uint32_t> XrtCard::wake(uint32_t) const {
  if (!options_.virtual_clock) return std::nullopt;
  return wake_;
}

std::optional<Nanoseconds> XrtCard::look_within() const {
  if (options_.virtual_clock || failed_) return std::nullopt;
  if (interrupt_ && interrupt_->works()) return kCheckEvery;
  return steady_clock::now() < busy_until_ ? options_.poll : std::max(options_.poll, kIdleLook);
}

std::optional<Nanoseconds> XrtCard::time() const {
  if (!options_.virtual_clock) return std::nullopt;
  return time_;
}

uint64_t XrtCard::emulation_counter(uint32_t offset) const {
  const uint64_t low = card_->read_emulation(offset);
  return uint64_t{card_->read_emulation(offset + 4)} << 32 | low;
}

uint64_t XrtCard::counter(std::string_view name) const {
  if (!card_->emulated() || card_->gone()) return 0;
  if (name == "cycles") return emulation_counter(emulation::cycles);
  if (name == "device_process") return card_->read_emulation(emulation::process);
  for (uint32_t i = 0; i < emulation::kCounters; ++i)
    if (name == emulation::kCounterNames[i]) return emulation_counter(emulation::counters + 8 * i);
  return 0;
}

}  // namespace tidemill::xrt_card
