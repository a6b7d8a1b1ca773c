// SPDX-License-Identifier: Apache-2.0
/// The life of one send in a bank.
#include <gmock/gmock.h>

#include "bank_driver.hpp"

namespace tidemill::test {
namespace {

using abi::ActionKind;
using abi::Cause;
using abi::Status;
using Small = hls::BankConfig<4, 3>;

class BankTest : public ::testing::Test {
 protected:
  BankDriver<Small> bank_;
};

TEST_F(BankTest, TransmitsADescriptorAndCompletesItWithItsResponse) {
  const Send send;
  EXPECT_EQ(bank_.descriptor(send).kind(), ActionKind::transmit);
  EXPECT_EQ(bank_.sent(send).kind(), ActionKind::none);
  const abi::Action a = bank_.response(send);
  EXPECT_EQ(a.kind(), ActionKind::respond_complete);
  EXPECT_EQ(a.status(), Status::success);
  EXPECT_EQ(a.slot(), send.slot);
  EXPECT_EQ(a.tries(), 1);
}

TEST_F(BankTest, TimesOutAfterAllTriesAndNeverEarly) {
  const Send send{.timeout = 10, .retries = 1};
  bank_.descriptor(send);
  bank_.sent(send);
  EXPECT_TRUE(bank_.run(10).empty());
  auto actions = bank_.run(1);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_TRUE(actions[0].retry_queued());
  EXPECT_EQ(bank_.grant().kind(), ActionKind::transmit);
  bank_.sent(send);
  EXPECT_TRUE(bank_.run(10).empty());
  actions = bank_.run(1);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(actions[0].kind(), ActionKind::complete);
  EXPECT_EQ(actions[0].status(), Status::timeout);
  EXPECT_EQ(actions[0].tries(), 2);
}

}  // namespace
}  // namespace tidemill::test
