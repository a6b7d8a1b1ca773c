// SPDX-License-Identifier: Apache-2.0
/// First in, first out; grows by doubling and keeps its room, so that it allocates nothing in steady state.
#pragma once
#include <cstddef>
#include <memory>
#include <utility>

namespace tidemill::fabric {

template <class T>
class Ring {
 public:
  Ring() : slots_(std::make_unique<T[]>(mask_ + 1)) {}

  std::size_t size() const { return tail_ - head_; }
  bool empty() const { return head_ == tail_; }
  T& front() { return slots_[head_ & mask_]; }
  T& back() { return slots_[(tail_ - 1) & mask_]; }
  /// A new last element, to be written by the caller.
  T& extend() {
    if (size() > mask_) [[unlikely]] grow();
    return slots_[tail_++ & mask_];
  }
  void pop() { ++head_; }

 private:
  [[gnu::noinline]] void grow() {
    const std::size_t count = size();
    auto larger = std::make_unique<T[]>(2 * count);
    for (std::size_t i = 0; i < count; ++i) larger[i] = slots_[(head_ + i) & mask_];
    slots_ = std::move(larger);
    mask_ = 2 * count - 1;
    head_ = 0;
    tail_ = count;
  }

  std::size_t mask_ = 63;
  std::size_t head_ = 0, tail_ = 0;
  std::unique_ptr<T[]> slots_;
};

}  // namespace tidemill::fabric
