// SPDX-License-Identifier: Apache-2.0
/// Doubly linked lists in RAM, against a vector for each list.
#include "hls/linked_list.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ostream>
#include <vector>

namespace tidemill::test {
namespace {

constexpr uint32_t kItems = 8, kLists = 3;

/// Rows 0..7 are items, 8..10 sentinels.
struct Links {
  uint32_t next(uint32_t row) const { return next_[row]; }
  void next(uint32_t row, uint32_t v) { next_[row] = v; }
  uint32_t prev(uint32_t row) const { return prev_[row]; }
  void prev(uint32_t row, uint32_t v) { prev_[row] = v; }

  std::array<uint32_t, kItems + kLists> next_{}, prev_{};
};
using List = hls::LinkedList<Links>;

constexpr uint32_t list(uint32_t i) {
  return kItems + i;
}

std::vector<uint32_t> forward(const Links& m, uint32_t sentinel) {
  std::vector<uint32_t> out;
  for (uint32_t row = List::first(m, sentinel); row != sentinel && out.size() <= kItems; row = m.next(row) ^ row)
    out.push_back(row);
  return out;
}
std::vector<uint32_t> backward(const Links& m, uint32_t sentinel) {
  std::vector<uint32_t> out;
  for (uint32_t row = m.prev(sentinel) ^ sentinel; row != sentinel && out.size() <= kItems; row = m.prev(row) ^ row)
    out.push_back(row);
  std::reverse(out.begin(), out.end());
  return out;
}

TEST(LinkedList, ZeroedMemoryIsASetOfEmptyLists) {
  const Links m;
  for (uint32_t i = 0; i < kLists; ++i) {
    EXPECT_TRUE(List::empty(m, list(i)));
    EXPECT_EQ(List::first(m, list(i)), list(i)) << "the sentinel stands for nothing";
  }
}

TEST(LinkedList, KeepsTheOrderOfAppending) {
  Links m;
  for (const uint32_t item : {4u, 0u, 7u}) List::append(m, list(1), item);
  EXPECT_THAT(forward(m, list(1)), ::testing::ElementsAre(4, 0, 7));
  EXPECT_TRUE(List::empty(m, list(0)));
  EXPECT_TRUE(List::empty(m, list(2)));
}

TEST(LinkedList, RemovesFirstMiddleLastAndOnly) {
  for (const uint32_t removed : {2u, 3u, 5u}) {
    Links m;
    for (const uint32_t item : {2u, 3u, 5u}) List::append(m, list(0), item);
    List::remove(m, removed);
    std::vector<uint32_t> left{2, 3, 5};
    std::erase(left, removed);
    EXPECT_EQ(forward(m, list(0)), left);
    EXPECT_EQ(backward(m, list(0)), left);
  }
  Links m;
  List::append(m, list(2), 6);
  List::remove(m, 6);
  EXPECT_TRUE(List::empty(m, list(2)));
}

TEST(LinkedList, AnEmptiedListIsZeroAgain) {
  Links m;
  List::append(m, list(0), 1);
  List::remove(m, 1);
  EXPECT_EQ(m.next(list(0)), 0u);
  EXPECT_EQ(m.prev(list(0)), 0u);
}

struct Op {
  uint32_t item, list;
  bool append;
};
std::ostream& operator<<(std::ostream& out, const Op& op) {
  return out << (op.append ? "append " : "remove ") << op.item << " list " << op.list;
}
rc::Gen<Op> ops() {
  return rc::gen::build<Op>(rc::gen::set(&Op::item, rc::gen::inRange(0u, kItems)),
                            rc::gen::set(&Op::list, rc::gen::inRange(0u, kLists)), rc::gen::set(&Op::append));
}

RC_GTEST_PROP(LinkedListProperty, BehavesLikeOneVectorForEachList, ()) {
  Links m;
  std::array<std::vector<uint32_t>, kLists> model;
  std::array<int, kItems> in;
  in.fill(-1);
  for (const Op& op : *rc::gen::container<std::vector<Op>>(ops())) {
    if (op.append && in[op.item] < 0) {
      List::append(m, list(op.list), op.item);
      model[op.list].push_back(op.item);
      in[op.item] = static_cast<int>(op.list);
    } else if (!op.append && in[op.item] >= 0) {
      List::remove(m, op.item);
      std::erase(model[static_cast<uint32_t>(in[op.item])], op.item);
      in[op.item] = -1;
    }
    for (uint32_t i = 0; i < kLists; ++i) {
      RC_ASSERT(List::empty(m, list(i)) == model[i].empty());
      RC_ASSERT(forward(m, list(i)) == model[i]);
      RC_ASSERT(backward(m, list(i)) == model[i]);
    }
  }
}

}  // namespace
}  // namespace tidemill::test
