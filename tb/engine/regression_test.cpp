// SPDX-License-Identifier: Apache-2.0
/// Faults that were found once, each as the shortest path to it.
#include <gmock/gmock.h>

#include "hls/bank.hpp"
#include "hls/bank_memory.hpp"

namespace tidemill::test {
namespace {

using abi::ActionKind;
using abi::EventKind;
using abi::Status;

/// A bank whose TIDs all have the same hash: they share two buckets and one fingerprint.
class CollidingBank {
 public:
  abi::Action issue(abi::Event e) {
    for (;;) {
      e.hash(kHash);
      const abi::Action a = bank_.step(e);
      if (!a.again()) return a;
      e.cursor(a.cursor());
      e.cause(a.cause());
      e.tid(a.tid());
    }
  }
  abi::Action post(uint16_t slot) {
    abi::Event e;
    e.kind(EventKind::descriptor);
    e.slot(slot);
    e.tid(slot);
    e.mgmt_class(3);
    e.timeout(5);
    return issue(e);
  }
  abi::Action fail(uint16_t slot) {
    abi::Event e;
    e.kind(EventKind::sent);
    e.slot(slot);
    e.status(Status::error);
    return issue(e);
  }
  abi::Action grant() {
    abi::Event e;
    e.kind(EventKind::grant);
    return issue(e);
  }
  uint32_t retry_count() const { return bank_.memory().retry_count(0); }

 private:
  static constexpr uint64_t kHash = 0x0123456789abcdefu;
  hls::Bank<hls::BankMemory<hls::BankConfig<4, 1>>> bank_;
};

// The search of a granted retry met another send's fingerprint and came again, with its entry already gone from the queue.
TEST(Regression, AGrantThatComesAgainKeepsItsEntryInTheRetryQueue) {
  CollidingBank bank;
  constexpr uint16_t kRoom = 12;
  for (uint16_t slot = 0; slot < kRoom; ++slot) ASSERT_EQ(bank.post(slot).kind(), ActionKind::transmit);
  ASSERT_TRUE(bank.post(kRoom).retry_queued());
  ASSERT_TRUE(bank.post(kRoom + 1).retry_queued());

  const abi::Action refused = bank.grant();
  EXPECT_TRUE(refused.retry_queued());
  EXPECT_TRUE(refused.wire_credit());
  EXPECT_EQ(bank.retry_count(), 2u);

  bank.fail(0);
  const abi::Action second = bank.grant();
  EXPECT_EQ(second.kind(), ActionKind::transmit);
  EXPECT_EQ(second.slot(), kRoom + 1);
  bank.fail(1);
  const abi::Action first = bank.grant();
  EXPECT_EQ(first.kind(), ActionKind::transmit);
  EXPECT_EQ(first.slot(), kRoom);
  EXPECT_EQ(bank.retry_count(), 0u);
}

}  // namespace
}  // namespace tidemill::test
