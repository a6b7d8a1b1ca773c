// SPDX-License-Identifier: Apache-2.0
/// When a queue pair that failed is brought back, and how. Knows no device: is told what is seen, says what to do.
///
///             failed()              everything came back, or 100 ms
///     ready ----------> draining ----------------------------------> resume (SQE) or restart (ERR)
///       ^                                                              |          |
///       +---------------- finished(ok): a recovery with a number <-----+          | finished(not ok)
///       ^                                                                         v
///       +------------------------- finished(ok) <--- once in 100 ms --------->   lost
///
/// Draining: a queue pair in error gives every work request back, in order, as flushed. Those of them that never left
/// are sent again by the engine, once for each recovery, so the recovery must be over before they are reported. Source:
/// IBA 10.3.1 (queue pair states), 10.8.3.1 (flushing).
#pragma once
#include <cstddef>
#include <cstdint>

#include "tidemill/clock.hpp"

namespace tidemill::verbs {

enum class QueuePairState : uint8_t { working, send_error, error };

class Recovery {
 public:
  enum class Step : uint8_t {
    none,
    resume,   ///< SQE to RTS; the receive queue never stopped.
    restart,  ///< Through RESET to RTS; the receives are posted again.
  };
  static constexpr Nanoseconds kPatience = std::chrono::milliseconds(100), kAgain = std::chrono::milliseconds(100);

  bool ready() const { return state_ == State::ready; }
  bool lost() const { return state_ == State::lost; }
  /// A completion or an event tells of it. `for_good`: restart although the queue pair says that it works.
  void failed(Nanoseconds now, bool for_good = false);
  /// `outstanding`: work requests that have not come back.
  Step next(Nanoseconds now, QueuePairState seen, std::size_t outstanding);
  /// The number of this recovery, 1 to 255 and then 1 again; 0 if it did not work.
  uint8_t finished(Nanoseconds now, bool ok);
  /// When next() will want something even if no completion comes.
  Nanoseconds due() const { return due_; }

 private:
  enum class State : uint8_t { ready, draining, lost };
  State state_ = State::ready;
  bool for_good_ = false;
  uint8_t number_ = 0;
  Nanoseconds due_{0};
};

}  // namespace tidemill::verbs
