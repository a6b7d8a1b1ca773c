// SPDX-License-Identifier: Apache-2.0
#include "send_queue.hpp"

#include <bit>

namespace tidemill::verbs {

SendQueue::SendQueue(uint16_t depth) : ring_(std::bit_ceil(std::size_t{depth})) {
  reports_.reserve(ring_.size());
  handles_.reserve(ring_.size());
}

void SendQueue::posted(uint64_t token, uint32_t handle) {
  ring_[next_++ & (ring_.size() - 1)] = {token, handle};
}

uint64_t SendQueue::end_oldest() {
  const Try& t = ring_[oldest_++ & (ring_.size() - 1)];
  if (t.handle != kNoHandle) handles_.push_back(t.handle);
  return t.token;
}

void SendQueue::end_before(uint64_t id) {
  while (oldest_ != id) reports_.push_back({end_oldest(), WireStatus::sent, 0, 0});
}

void SendQueue::completed(uint64_t id, Outcome outcome, uint8_t vendor) {
  if (id - oldest_ >= outstanding()) return;
  end_before(id);
  const uint64_t token = end_oldest();
  switch (outcome) {
    case Outcome::success:
      reports_.push_back({token, WireStatus::sent, 0, 0});
      break;
    case Outcome::error:
      reports_.push_back({token, WireStatus::error, vendor, 0});
      break;
    case Outcome::flushed:
      flushed_.push_back(token);
      break;
  }
}

void SendQueue::not_posted(uint64_t id, uint8_t vendor) {
  for (uint64_t i = id; i != next_; ++i) {
    const Try& t = ring_[i & (ring_.size() - 1)];
    if (t.handle != kNoHandle) handles_.push_back(t.handle);
    if (i == id)
      refused(t.token, vendor);
    else
      held_back(t.token);
  }
  next_ = id;
}

void SendQueue::forget() {
  while (oldest_ != next_) flushed_.push_back(end_oldest());
}

void SendQueue::recovered(uint8_t number) {
  for (auto* tokens : {&flushed_, &behind_}) {
    for (const uint64_t token : *tokens) reports_.push_back({token, WireStatus::flushed, 0, number});
    tokens->clear();
  }
}

void SendQueue::take(std::vector<SendReport>& reports, std::vector<uint32_t>& handles) {
  reports.clear();
  handles.clear();
  reports.swap(reports_);
  handles.swap(handles_);
}

}  // namespace tidemill::verbs
