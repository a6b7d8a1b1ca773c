// SPDX-License-Identifier: Apache-2.0
/// The Card behind `xrt:`. What it has written is found by looking at memory, so no register is touched to complete a
/// send; a failure is looked for ten times a second. When to look an interrupt says, with a register write for each;
/// without one (XRT's emulation has none) memory is looked at often while something is going on, then seldom.
///
/// An emulated card follows the wall clock as a real one does. On a virtual clock its device process simulates when
/// told to, and the clock keeps up (sim/cosim_card.hpp).
#pragma once
#include <chrono>

#include "device/card.hpp"
#include "xrt/interrupt_event.hpp"
#include "xrt/loaded_card.hpp"

namespace tidemill::xrt_card {

struct XrtOptions {
  bool virtual_clock = false;
  Nanoseconds poll{50'000};  ///< Between two looks while something is going on.
};

class XrtCard final : public device::Card {
 public:
  /// Of a card that is claimed.
  XrtCard(std::shared_ptr<LoadedCard> card, XrtOptions options);
  ~XrtCard() override;
  std::string kind() const override { return "xrt"; }
  std::vector<std::pair<std::string, std::string>> description() const override;
  uint32_t read(uint32_t offset) override;
  void write(uint32_t offset, uint32_t value) override;
  std::unique_ptr<device::CardMemory> memory(std::size_t bytes) override;
  bool shares_memory() const override { return card_->shares_memory(); }
  bool work(uint32_t now) override;
  std::optional<uint32_t> wake(uint32_t now) const override;
  std::optional<Nanoseconds> look_within() const override;
  int event_fd() const override { return interrupt_ ? interrupt_->fd() : -1; }
  bool failed() override { return failed_; }
  std::string removed() const override { return card_->why_gone(); }
  uint64_t counter(std::string_view name) const override;
  std::optional<Nanoseconds> time() const override;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  bool simulate(uint32_t now);
  void answer_interrupt();
  uint64_t emulation_counter(uint32_t offset) const;

  const std::shared_ptr<LoadedCard> card_;
  const XrtOptions options_;
  std::optional<InterruptEvent> interrupt_;
  std::string waits_by_ = "looking at memory";
  bool told_to_interrupt_ = false;
  bool failed_ = false;
  SteadyTime next_check_{}, busy_until_{};
  // On a virtual clock, as of the last work().
  uint32_t wake_ = 0;
  Nanoseconds time_{0};
};

}  // namespace tidemill::xrt_card
