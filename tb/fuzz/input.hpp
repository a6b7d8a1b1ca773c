// SPDX-License-Identifier: Apache-2.0
/// Bytes of a fuzzer as decisions; when they run out, every decision is 0.
#pragma once
#include <cstdint>
#include <span>

namespace tidemill::fuzz {

class Input {
 public:
  explicit Input(std::span<const uint8_t> bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  uint8_t byte() {
    if (rest_.empty()) return 0;
    const uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  /// 0 to n - 1.
  uint32_t below(uint32_t n) { return byte() % n; }
  bool flag() { return (byte() & 1u) != 0; }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = (value << 8) | byte();
    return value;
  }
  /// Mostly short, now and then as long as 32 bits are.
  uint32_t ticks() {
    const uint8_t kind = byte();
    if (kind < 0xe0) return kind % 40u;
    if (kind < 0xf8) return (kind & 0x1fu) << 6;
    return kind == 0xff ? 0xffffffffu : 0x3fffff00u + byte();
  }

 private:
  std::span<const uint8_t> rest_;
};

}  // namespace tidemill::fuzz
