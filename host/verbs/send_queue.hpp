// SPDX-License-Identifier: Apache-2.0
/// The books of a send queue: which tries are out, and what the device's completions say of them. Knows no device.
///
/// Only the last work request of a batch is signalled: a completion speaks for all before it, because a send queue
/// works in order. Errors always complete. Flushed tries are kept back until it is known whether the queue pair
/// recovered.
#pragma once
#include <cstdint>
#include <vector>

#include "tidemill/wire.hpp"

namespace tidemill::verbs {

inline constexpr uint32_t kNoHandle = 0xffffffffu;

struct SendReport {
  uint64_t token = 0;
  WireStatus status = WireStatus::sent;
  uint8_t vendor = 0, recovery = 0;
  bool operator==(const SendReport&) const = default;
};

class SendQueue {
 public:
  enum class Outcome : uint8_t { success, error, flushed };

  explicit SendQueue(uint16_t depth);

  std::size_t outstanding() const { return static_cast<std::size_t>(next_ - oldest_); }
  /// The work request id of the next try.
  uint64_t next_id() const { return next_; }
  /// `handle`: of its address, held until the try is over; kNoHandle for none.
  void posted(uint64_t token, uint32_t handle);
  /// The device did not take this one, nor those behind it: an error, and as if they had waited behind a failure.
  void not_posted(uint64_t id, uint8_t vendor);

  /// A completion. One that names a try which is over is ignored.
  void completed(uint64_t id, Outcome outcome, uint8_t vendor);
  /// A try that never reached the queue.
  void refused(uint64_t token, uint8_t vendor) { reports_.push_back({token, WireStatus::error, vendor, 0}); }
  /// A try that waited behind the failure.
  void held_back(uint64_t token) { behind_.push_back(token); }
  /// What is still out will say nothing more: it counts as flushed.
  void forget();
  /// Reports everything flushed and held back, in the order in which it was given, with the number of the recovery.
  void recovered(uint8_t number);

  bool has_reports() const { return !reports_.empty(); }
  /// Moves the reports, and the handles that became free, to the caller.
  void take(std::vector<SendReport>& reports, std::vector<uint32_t>& handles);

 private:
  struct Try {
    uint64_t token = 0;
    uint32_t handle = kNoHandle;
  };
  void end_before(uint64_t id);
  uint64_t end_oldest();

  std::vector<Try> ring_;
  uint64_t oldest_ = 0, next_ = 0;
  std::vector<uint64_t> flushed_, behind_;
  std::vector<SendReport> reports_;
  std::vector<uint32_t> handles_;
};

}  // namespace tidemill::verbs
