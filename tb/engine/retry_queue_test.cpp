// SPDX-License-Identifier: Apache-2.0
/// Retry queues of a bank, against a deque for each QP.
#include "hls/retry_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <ostream>
#include <vector>

#include "hls/bank_memory.hpp"

namespace tidemill::test {
namespace {

using Config = hls::BankConfig<3, 2>;
using Memory = hls::BankMemory<Config>;
using Queue = hls::RetryQueue<Memory>;

class RetryQueueTest : public ::testing::Test {
 protected:
  bool push(uint32_t slot, bool qp) {
    flags_[slot].qp(qp);
    return Queue::push(memory_, slot, flags_[slot]);
  }
  uint32_t pop(bool qp) {
    const uint32_t slot = Queue::head(memory_, qp);
    Queue::pop(memory_, qp, flags_[slot]);
    return slot;
  }

  Memory memory_;
  std::array<abi::SlotFlags, Config::kSlots> flags_{};
};

TEST_F(RetryQueueTest, IsEmptyAtReset) {
  EXPECT_TRUE(Queue::empty(memory_, 0));
  EXPECT_TRUE(Queue::empty(memory_, 1));
}

TEST_F(RetryQueueTest, ServesInTheOrderOfArrival) {
  for (const uint32_t slot : {5u, 0u, 7u, 2u}) EXPECT_TRUE(push(slot, true));
  for (const uint32_t slot : {5u, 0u, 7u, 2u}) EXPECT_EQ(pop(true), slot);
  EXPECT_TRUE(Queue::empty(memory_, 1));
}

TEST_F(RetryQueueTest, KeepsTheQpsApart) {
  push(1, false);
  push(2, true);
  push(3, false);
  EXPECT_EQ(pop(true), 2u);
  EXPECT_EQ(pop(false), 1u);
  EXPECT_EQ(pop(false), 3u);
}

TEST_F(RetryQueueTest, ASlotStandsInAQueueAtMostOnce) {
  EXPECT_TRUE(push(4, false));
  EXPECT_FALSE(push(4, false));
  EXPECT_EQ(memory_.retry_count(0), 1u);
}

TEST_F(RetryQueueTest, ASlotsNextSendOnTheOtherQpDoesNotWaitForTheEntryLeftOver) {
  push(4, false);
  EXPECT_TRUE(push(4, true));
  EXPECT_EQ(pop(true), 4u);
  EXPECT_TRUE(Queue::holds(flags_[4], 0)) << "the entry of the former send is still there";
  EXPECT_EQ(pop(false), 4u);
}

TEST_F(RetryQueueTest, ASlotKnowsInWhichQueuesItStands) {
  push(1, false);
  push(2, true);
  push(3, false);
  push(3, true);
  EXPECT_EQ(flags_[1].linked(), 0b01);
  EXPECT_EQ(flags_[2].linked(), 0b10);
  EXPECT_EQ(flags_[3].linked(), 0b11);
}

TEST_F(RetryQueueTest, ATakenSlotMayComeAgainAtTheEnd) {
  push(1, true);
  push(2, true);
  EXPECT_EQ(pop(true), 1u);
  EXPECT_FALSE(Queue::holds(flags_[1], 1));
  EXPECT_TRUE(push(1, true));
  EXPECT_EQ(pop(true), 2u);
  EXPECT_EQ(pop(true), 1u);
}

TEST_F(RetryQueueTest, HoldsEverySlotOfTheBank) {
  for (uint32_t slot = 0; slot < Config::kSlots; ++slot) EXPECT_TRUE(push(slot, true) && push(slot, false));
  for (const bool qp : {false, true}) {
    EXPECT_EQ(memory_.retry_count(qp), Config::kSlots);
    for (uint32_t slot = 0; slot < Config::kSlots; ++slot) EXPECT_EQ(pop(qp), slot);
  }
}

struct Op {
  uint32_t slot;
  bool qp, push;
};
std::ostream& operator<<(std::ostream& out, const Op& op) {
  return out << (op.push ? "push " : "pop ") << op.slot << " qp " << op.qp;
}

RC_GTEST_FIXTURE_PROP(RetryQueueTest, BehavesLikeADequeForEachQp, ()) {
  const auto op = rc::gen::build<Op>(rc::gen::set(&Op::slot, rc::gen::inRange(0u, Config::kSlots)),
                                     rc::gen::set(&Op::qp), rc::gen::set(&Op::push));
  std::array<std::deque<uint32_t>, 2> model;
  std::array<std::array<bool, Config::kSlots>, 2> linked{};
  for (const Op& o : *rc::gen::container<std::vector<Op>>(op)) {
    if (o.push) {
      RC_ASSERT(push(o.slot, o.qp) == !linked[o.qp][o.slot]);
      if (!linked[o.qp][o.slot]) model[o.qp].push_back(o.slot);
      linked[o.qp][o.slot] = true;
    } else if (!model[o.qp].empty()) {
      RC_ASSERT(pop(o.qp) == model[o.qp].front());
      linked[o.qp][model[o.qp].front()] = false;
      model[o.qp].pop_front();
    }
    for (unsigned qp = 0; qp < 2; ++qp) {
      RC_ASSERT(memory_.retry_count(qp) == model[qp].size());
      RC_ASSERT(Queue::empty(memory_, qp) == model[qp].empty());
      if (!model[qp].empty()) RC_ASSERT(Queue::head(memory_, qp) == model[qp].front());
    }
  }
}

}  // namespace
}  // namespace tidemill::test
