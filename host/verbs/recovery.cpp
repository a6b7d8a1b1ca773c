// SPDX-License-Identifier: Apache-2.0
#include "recovery.hpp"

namespace tidemill::verbs {

void Recovery::failed(Nanoseconds now, bool for_good) {
  for_good_ |= for_good;
  if (state_ != State::ready) return;
  state_ = State::draining;
  due_ = now + kPatience;
}

Recovery::Step Recovery::next(Nanoseconds now, QueuePairState seen, std::size_t outstanding) {
  switch (state_) {
    case State::ready:
      return Step::none;
    case State::lost:
      return now >= due_ ? Step::restart : Step::none;
    case State::draining:
      break;
  }
  // A single send failed and the queue pair goes on: nothing is flushed, nothing to do.
  if (seen == QueuePairState::working && !for_good_) {
    state_ = State::ready;
    return Step::none;
  }
  if (outstanding != 0 && now < due_) return Step::none;
  return seen == QueuePairState::send_error && outstanding == 0 && !for_good_ ? Step::resume : Step::restart;
}

uint8_t Recovery::finished(Nanoseconds now, bool ok) {
  if (!ok) {
    state_ = State::lost;
    for_good_ = true;
    due_ = now + kAgain;
    return 0;
  }
  state_ = State::ready;
  for_good_ = false;
  number_ = static_cast<uint8_t>(number_ % 255 + 1);
  return number_;
}

}  // namespace tidemill::verbs
