// SPDX-License-Identifier: Apache-2.0
#include "address_handles.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tidemill::verbs {
namespace {

using namespace std::chrono_literals;
using Found = AddressHandles::Found;

/// Handles are numbers; it notices double and missing destruction.
class CountingMaker final : public Maker {
 public:
  ~CountingMaker() { EXPECT_TRUE(alive_.empty()) << alive_.size() << " handles leaked"; }
  void* make(const Path& path) override {
    ++made;
    if (path.lid == 13) return nullptr;
    return create();
  }
  void destroy(void* handle) override { EXPECT_EQ(alive_.erase(handle), 1u); }
  bool begin_slow(const Path& path) override {
    if (path.lid < 1000) return false;
    ++asked;
    return true;
  }
  void* create() {
    void* const handle = reinterpret_cast<void*>(++next_);
    alive_.insert(handle);
    return handle;
  }
  std::size_t alive() const { return alive_.size(); }
  unsigned made = 0, asked = 0;

 private:
  std::set<void*> alive_;
  uintptr_t next_ = 0;
};

Path lid(uint16_t number) {
  return {.lid = number};
}

struct AddressHandlesTest : testing::Test {
  CountingMaker maker;
  AddressHandles handles{maker, 4, 60s};
};

TEST_F(AddressHandlesTest, OneHandleServesAllSendsToAnAddress) {
  const auto first = handles.hold(lid(1), 0s), second = handles.hold(lid(1), 1s);
  EXPECT_EQ(first.handle, second.handle);
  EXPECT_EQ(maker.made, 1u);
}

TEST_F(AddressHandlesTest, EveryPartOfThePathCounts) {
  std::set<void*> all;
  Path p;
  const auto add = [&] {
    const auto held = handles.hold(p, 0s);
    all.insert(held.handle);
    handles.release(held.index);
  };
  add();
  p.lid = 1, add();
  p.sl = 1, add();
  p.path_bits = 1, add();
  p.grh = GlobalRoute{}, add();
  p.grh->gid[15] = 1, add();
  p.grh->gid_index = 1, add();
  p.grh->hop_limit = 1, add();
  p.grh->traffic_class = 1, add();
  p.grh->flow_label = 1, add();
  EXPECT_EQ(all.size(), 10u);
}

TEST_F(AddressHandlesTest, KeepsAtMostItsBoundAndDropsTheLeastRecentlyUsed) {
  for (uint16_t i = 1; i <= 4; ++i) handles.release(handles.hold(lid(i), 0s).index);
  handles.release(handles.hold(lid(1), 0s).index);  // 2 is the oldest now
  handles.release(handles.hold(lid(5), 0s).index);
  EXPECT_EQ(handles.size(), 4u);
  EXPECT_EQ(maker.alive(), 4u);
  handles.release(handles.hold(lid(1), 0s).index);
  EXPECT_EQ(maker.made, 5u);
  handles.release(handles.hold(lid(2), 0s).index);
  EXPECT_EQ(maker.made, 6u);
}

TEST_F(AddressHandlesTest, NeverDropsAHeldOne) {
  std::vector<uint32_t> held;
  for (uint16_t i = 1; i <= 6; ++i) held.push_back(handles.hold(lid(i), 0s).index);
  EXPECT_EQ(maker.alive(), 6u);
  for (const uint32_t index : held) handles.release(index);
  for (uint16_t i = 21; i <= 23; ++i) handles.release(handles.hold(lid(i), 0s).index);
  EXPECT_LE(handles.size(), 6u);
}

TEST_F(AddressHandlesTest, MakesAnOldOneAgainAndDestroysItAfterItsLastUser) {
  const auto old = handles.hold(lid(1), 0s);
  const auto fresh = handles.hold(lid(1), 61s);
  EXPECT_NE(old.handle, fresh.handle);
  EXPECT_EQ(maker.alive(), 2u);
  handles.release(old.index);
  EXPECT_EQ(maker.alive(), 1u);
  EXPECT_EQ(handles.hold(lid(1), 62s).handle, fresh.handle);
}

TEST_F(AddressHandlesTest, RemembersAFailureForASecond) {
  EXPECT_EQ(handles.hold(lid(13), 0s).found, Found::no);
  EXPECT_EQ(handles.hold(lid(13), 999ms).found, Found::no);
  EXPECT_EQ(maker.made, 1u);
  EXPECT_EQ(handles.hold(lid(13), 1001ms).found, Found::no);
  EXPECT_EQ(maker.made, 2u);
}

TEST_F(AddressHandlesTest, ASlowOneIsAskedForOnceAndThenServesAll) {
  EXPECT_EQ(handles.hold(lid(2000), 0s).found, Found::later);
  EXPECT_EQ(handles.hold(lid(2000), 5s).found, Found::later);
  EXPECT_EQ(maker.asked, 1u);
  EXPECT_EQ(handles.hold(lid(1), 0s).found, Found::yes);  // others do not wait
  handles.resolved(lid(2000), maker.create(), 6s);
  EXPECT_EQ(handles.hold(lid(2000), 7s).found, Found::yes);
}

TEST_F(AddressHandlesTest, ASlowOneMayFail) {
  (void)handles.hold(lid(2000), 0s);
  handles.resolved(lid(2000), nullptr, 1s);
  EXPECT_EQ(handles.hold(lid(2000), 1500ms).found, Found::no);
}

TEST_F(AddressHandlesTest, AnAnswerThatComesAfterTheAddressesChangedIsDestroyed) {
  (void)handles.hold(lid(2000), 0s);
  handles.expire_all();
  handles.resolved(lid(2000), maker.create(), 1s);
  EXPECT_EQ(maker.alive(), 0u);
  (void)handles.hold(lid(2000), 2s);
  EXPECT_EQ(maker.asked, 2u);
  handles.resolved(lid(2000), maker.create(), 3s);
  handles.resolved(lid(2000), maker.create(), 3s);  // the answer to the first question
  EXPECT_EQ(maker.alive(), 1u);
}

TEST_F(AddressHandlesTest, AfterAChangeOfAddressesAllAreMadeAgain) {
  const auto held = handles.hold(lid(1), 0s);
  handles.release(handles.hold(lid(2), 0s).index);
  handles.expire_all();
  EXPECT_EQ(maker.alive(), 1u);  // the held one
  EXPECT_NE(handles.hold(lid(1), 0s).handle, held.handle);
  handles.release(held.index);
  EXPECT_EQ(maker.alive(), 1u);
}

}  // namespace
}  // namespace tidemill::verbs
