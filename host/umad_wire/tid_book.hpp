// SPDX-License-Identifier: Apache-2.0
/// The kernel replaces the upper half of a request's TID by a number of its own, and refuses two requests with the same
/// lower half. So each request gets a lower half of the wire's own, and its response its real TID back.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace tidemill::umad {

class TidBook {
 public:
  /// The lower half to send instead.
  uint32_t enter(uint64_t tid) {
    do ++last_;
    while (!real_.emplace(last_, tid).second);  // round after 2^32, past those still waiting
    return last_;
  }
  /// The real TID; the entry is used up.
  std::optional<uint64_t> take(uint32_t lower) {
    const auto found = real_.find(lower);
    if (found == real_.end()) return std::nullopt;
    const uint64_t tid = found->second;
    real_.erase(found);
    return tid;
  }
  std::size_t size() const { return real_.size(); }

 private:
  uint32_t last_ = 0;
  std::unordered_map<uint32_t, uint64_t> real_;
};

}  // namespace tidemill::umad
