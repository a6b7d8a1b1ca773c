// SPDX-License-Identifier: Apache-2.0
/// Parts of the self-test on a card that is registers and nothing else, in states that no emulated card gets into.
#include "device_tool/card_parts.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <thread>

#include "tidemill/abi.hpp"

namespace tidemill::test {
namespace {

using namespace std::chrono_literals;
namespace reg = abi::reg;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

class RegisterCard final : public device::Card {
 public:
  class Memory final : public device::CardMemory {
   public:
    explicit Memory(std::size_t bytes) : lines_(bytes / sizeof(Line) + 1) {}
    std::byte* host() override { return lines_.front().bytes; }
    uint64_t address() const override { return reinterpret_cast<uintptr_t>(lines_.data()); }

   private:
    struct alignas(64) Line {
      std::byte bytes[64]{};
    };
    std::vector<Line> lines_;
  };

  /// One that another process has set up and left running.
  static RegisterCard left_running() {
    RegisterCard card;
    card.write(reg::tick_increment, 1u << 24);
    return card;
  }

  std::string kind() const override { return "registers"; }
  uint32_t read(uint32_t offset) override {
    switch (offset) {
      case reg::magic:
        return abi::kMagicReset;
      case reg::version:
        return abi::kVersionMajor << 16;
      case reg::slots:
        return 1024;
      case reg::banks:
        return 2;
      case reg::lanes:
        return 16;
      case reg::clock_khz:
        return 250'000;
      case reg::state:
        return 1;
      case reg::time:
        return read_tick();
      case reg::failure:
        return next(failures, 0u);
      case reg::hash_seed_low:
        return registers_[offset] | stuck_bits;
      default:
        return registers_[offset];
    }
  }
  void write(uint32_t offset, uint32_t value) override {
    if (offset == reg::reset) {
      registers_.clear();
      return;
    }
    if (running() && holds_address(offset)) ++addresses_while_running;
    if (offset == reg::tick_increment) started_ = steady_clock::now();
    registers_[offset] = value;
  }
  std::unique_ptr<device::CardMemory> memory(std::size_t bytes) override { return std::make_unique<Memory>(bytes); }
  bool work(uint32_t) override { return false; }
  std::optional<uint32_t> wake(uint32_t) const override { return std::nullopt; }
  bool failed() override { return false; }
  std::optional<Nanoseconds> time() const override { return std::nullopt; }

  bool running() { return registers_[reg::tick_increment] != 0; }
  bool has_address() const {
    return std::any_of(registers_.begin(), registers_.end(),
                       [](const auto& r) { return holds_address(r.first) && r.second != 0; });
  }

  unsigned addresses_while_running = 0;
  double tick_ns = 1024;
  std::deque<uint32_t> failures;    ///< What register `failure` says, read after read; then 0.
  std::deque<Nanoseconds> held_up;  ///< For how long the process is, after each read of the tick.
  uint32_t stuck_bits = 0;          ///< Of hash_seed_low.

 private:
  static bool holds_address(uint32_t offset) {
    if (offset == reg::index_base_low || offset == reg::index_base_high) return true;
    for (uint32_t ring = 0; ring < abi::kRingCount; ++ring)
      if (offset == reg::ring_base_low + 0x20 * ring || offset == reg::ring_base_high + 0x20 * ring) return true;
    return false;
  }
  template <class T>
  static T next(std::deque<T>& script, T then) {
    if (script.empty()) return then;
    const T value = script.front();
    script.pop_front();
    return value;
  }
  uint32_t read_tick() {
    if (!running()) return 0;
    const std::chrono::duration<double, std::nano> passed = steady_clock::now() - started_;
    std::this_thread::sleep_for(next(held_up, Nanoseconds(0)));
    return static_cast<uint32_t>(passed.count() / tick_ns);
  }

  std::map<uint32_t, uint32_t> registers_;
  steady_clock::time_point started_{};
};

TEST(CardParts, TellARunningCardNoAddress) {
  RegisterCard card = RegisterCard::left_running();
  std::string found;
  EXPECT_EQ(device_tool::test_registers(card, found), std::nullopt);
  EXPECT_EQ(card.addresses_while_running, 0u);
  EXPECT_FALSE(card.has_address()) << "what was tried is still there";
}

TEST(CardParts, LeaveNoAddressInACardThatFails) {
  RegisterCard card = RegisterCard::left_running();
  card.stuck_bits = 4;
  std::string found;
  EXPECT_THAT(device_tool::test_registers(card, found).value_or("passed"), HasSubstr("register hash_seed_low"));
  EXPECT_FALSE(card.has_address());
}

TEST(CardParts, SayWhyACardHasStoppedThatNoLongerSaysSo) {
  RegisterCard card;
  card.failures = {2};
  std::string found;
  EXPECT_THAT(device_tool::test_reset(card, found).value_or("passed"),
              HasSubstr("after the reset the card has stopped: write_error"));
}

TEST(CardParts, TakeAPauseOfTheirOwnForNoFaultOfTheTick) {
  for (const auto& held_up : {std::deque<Nanoseconds>{3ms}, std::deque<Nanoseconds>(40, 3ms)}) {
    RegisterCard card;
    card.held_up = held_up;
    std::string found;
    EXPECT_EQ(device_tool::test_tick(card, found), std::nullopt);
    EXPECT_THAT(found, HasSubstr(" ns"));
  }
}

TEST(CardParts, FindATickOfAWrongRate) {
  for (const double tick_ns : {512.0, 900.0, 1150.0}) {
    RegisterCard card;
    card.tick_ns = tick_ns;
    std::string found;
    EXPECT_THAT(device_tool::test_tick(card, found).value_or("passed"), HasSubstr("ns each, not 1024"));
  }
}

}  // namespace
}  // namespace tidemill::test
