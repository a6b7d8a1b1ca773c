// SPDX-License-Identifier: Apache-2.0
/// Keeps the newest records of many threads. Threads write to a few stripes, each with a block of its own, so that they
/// seldom meet; a full block is set aside and never changes again. Readers take blocks, they copy nothing and hold no
/// thread up. Cost: a lock nobody else wants, and an allocation for each block.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tidemill::trace {

/// `Record` has a member `at`, by which records of different threads are put in order.
template <class Record>
class BoundedLog {
 public:
  explicit BoundedLog(std::size_t limit) : limit_(limit), block_size_(std::clamp<std::size_t>(limit / 8, 1, 1024)) {}

  /// Calls `fill` with a record to write to.
  template <class Fill>
  void add(Fill fill) {
    Stripe& stripe = stripes_[std::hash<std::thread::id>{}(std::this_thread::get_id()) % kStripes];
    const std::lock_guard lock(stripe.mutex);
    if (stripe.block == nullptr || stripe.block->size() == block_size_) begin_block(stripe);
    fill(stripe.block->emplace_back());
  }

  /// The newest records in order of time; those of one thread and time in order of recording.
  class Snapshot {
   public:
    const std::vector<const Record*>& records() const { return records_; }
    uint64_t lost() const { return lost_; }

   private:
    friend class BoundedLog;
    std::vector<std::shared_ptr<const std::vector<Record>>> blocks_;
    std::vector<const Record*> records_;
    uint64_t lost_ = 0;
  };

  Snapshot snapshot() {
    for (Stripe& stripe : stripes_) {
      const std::lock_guard lock(stripe.mutex);
      if (stripe.block != nullptr) set_aside(stripe);
    }
    Snapshot s;
    {
      const std::lock_guard lock(mutex_);
      s.blocks_.assign(blocks_.begin(), blocks_.end());
      s.lost_ = lost_;
    }
    for (const auto& block : s.blocks_) {
      for (const Record& record : *block) s.records_.push_back(&record);
    }
    std::ranges::stable_sort(s.records_, {}, [](const Record* r) { return r->at; });
    if (s.records_.size() > limit_) {
      const std::size_t surplus = s.records_.size() - limit_;
      s.records_.erase(s.records_.begin(), s.records_.begin() + static_cast<std::ptrdiff_t>(surplus));
      s.lost_ += surplus;
    }
    return s;
  }

 private:
  static constexpr std::size_t kStripes = 16;

  struct alignas(64) Stripe {
    std::mutex mutex;  ///< Protects block.
    std::shared_ptr<std::vector<Record>> block;
  };

  void begin_block(Stripe& stripe) {
    if (stripe.block != nullptr) set_aside(stripe);
    stripe.block = std::make_shared<std::vector<Record>>();
    stripe.block->reserve(block_size_);
  }
  void set_aside(Stripe& stripe) {
    const std::lock_guard lock(mutex_);
    kept_ += stripe.block->size();
    blocks_.push_back(std::exchange(stripe.block, nullptr));
    while (kept_ - blocks_.front()->size() >= limit_ && blocks_.size() > 1) {
      kept_ -= blocks_.front()->size();
      lost_ += blocks_.front()->size();
      blocks_.pop_front();
    }
  }

  const std::size_t limit_;
  const std::size_t block_size_;
  std::array<Stripe, kStripes> stripes_;
  std::mutex mutex_;  ///< Protects what follows; taken inside a stripe's.
  std::deque<std::shared_ptr<const std::vector<Record>>> blocks_;  ///< Oldest first.
  std::size_t kept_ = 0;  ///< Records in blocks_.
  uint64_t lost_ = 0;
};

}  // namespace tidemill::trace
