// SPDX-License-Identifier: Apache-2.0
/// Cancel, response and completion meet in one word: every order of the three, without a race.
#include <gtest/gtest.h>

#include "runtime/slot_table.hpp"

namespace tidemill::detail {
namespace {

constexpr uint16_t kGeneration = 0xffff;  // the next is 0

class SendRecordTest : public ::testing::Test {
 protected:
  SendRecordTest() { record_.begin(kGeneration); }
  SendRecord record_;
};

TEST_F(SendRecordTest, CancelBeforeTheAnswerKeepsItBack) {
  EXPECT_TRUE(record_.cancel(kGeneration));
  EXPECT_FALSE(record_.begin_answer());
  EXPECT_TRUE(record_.end(kGeneration, false)) << "the completion must tell flushed";
}

TEST_F(SendRecordTest, CancelAfterTheAnswerHasBegunChangesNothing) {
  EXPECT_TRUE(record_.begin_answer());
  EXPECT_FALSE(record_.cancel(kGeneration));
  EXPECT_FALSE(record_.end(kGeneration, false));
}

TEST_F(SendRecordTest, CancelAfterItsOwnCommandHasFlushedTheSendIsInTime) {
  EXPECT_FALSE(record_.end(kGeneration, true));
  EXPECT_TRUE(record_.cancel(kGeneration));
  record_.begin(0);
  EXPECT_TRUE(record_.cancel(kGeneration)) << "the slot may be in use again by then";
  EXPECT_TRUE(record_.begin_answer()) << "which the cancel does not touch";
}

TEST_F(SendRecordTest, CancelAfterAnotherEndComesTooLate) {
  EXPECT_FALSE(record_.end(kGeneration, false));
  EXPECT_FALSE(record_.cancel(kGeneration));
  record_.begin(0);
  EXPECT_FALSE(record_.cancel(kGeneration));
  EXPECT_TRUE(record_.begin_answer());
}

TEST_F(SendRecordTest, CancelOfAnOlderUseComesTooLate) {
  EXPECT_FALSE(record_.end(kGeneration, true));
  record_.begin(0);
  EXPECT_FALSE(record_.end(0, true));
  record_.begin(1);
  EXPECT_FALSE(record_.cancel(kGeneration));
}

}  // namespace
}  // namespace tidemill::detail
