// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <random>

#include "rmpp/reassembly.hpp"
#include "rmpp/sender.hpp"
#include "tb/rmpp/messages.hpp"

namespace tidemill::test {
namespace {

using namespace std::chrono_literals;
using rmpp::Flag;
using rmpp::Reason;
using rmpp::Reassembly;
using rmpp::Sender;
using testing::Each;
using testing::Le;

constexpr std::size_t kLimit = 64 << 20;
constexpr std::size_t kShare = kMadBytes - kSaData;

Mad segment(uint32_t number, bool last = false, uint32_t length = 0) {
  Mad mad = Mad(MadView(Sender(make_message(kMadBytes), 1s, 0).segment(1).bytes()));
  rmpp::put_header(mad, rmpp::Type::data,
                   static_cast<uint8_t>(Flag::active | (number == 1 ? Flag::first : 0) | (last ? Flag::last : 0)),
                   Reason::none, number, length);
  return mad;
}

TEST(RmppSender, CutsAMessageIntoSegments) {
  // IBA 13.6.2.1: the first segment counts all bytes with the class's headers in each, the last its own.
  const Sender sender(make_message(2 * kShare + 10), 1s, 3);
  ASSERT_EQ(sender.segments(), 3u);
  const Mad first = sender.segment(1), middle = sender.segment(2), last = sender.segment(3);
  EXPECT_EQ(first.view().rmpp_flags(), Flag::active | Flag::first);
  EXPECT_EQ(first.view().rmpp_length(), 3 * 20 + 2 * kShare + 10);
  EXPECT_EQ(middle.view().rmpp_flags(), Flag::active);
  EXPECT_EQ(middle.view().rmpp_length(), 0u);
  EXPECT_EQ(last.view().rmpp_flags(), Flag::active | Flag::last);
  EXPECT_EQ(last.view().rmpp_length(), 20u + 10);
  EXPECT_EQ(last.view().u8(55), 0xa5) << "each repeats the class's headers";
}

TEST(RmppSender, SendsOneSegmentUntilTheWindowOpens) {
  Sender sender(make_message(10 * kShare), 1s, 3);
  ASSERT_EQ(sender.next(), 1u);
  sender.sent(0s);
  EXPECT_EQ(sender.next(), 0u);
  EXPECT_EQ(sender.on_ack(1, 4, 1ms), Sender::Step::progress);
  for (const uint32_t expected : {2u, 3u, 4u}) {
    ASSERT_EQ(sender.next(), expected);
    sender.sent(1ms);
  }
  EXPECT_EQ(sender.next(), 0u);
}

TEST(RmppSender, GoesBackToTheLastAcknowledgedSegmentWaitingLongerEachTime) {
  Sender sender(make_message(10 * kShare), 100ms, 2);
  sender.sent(0s);
  sender.on_ack(1, 5, 0s);
  while (sender.next() != 0) sender.sent(0s);
  sender.on_ack(3, 5, 0s);
  EXPECT_EQ(sender.due(), 100ms);
  ASSERT_TRUE(sender.on_time(100ms));
  EXPECT_EQ(sender.next(), 4u);
  EXPECT_EQ(sender.due(), 300ms);
  ASSERT_TRUE(sender.on_time(300ms));
  EXPECT_EQ(sender.due(), 700ms);
  EXPECT_FALSE(sender.on_time(700ms)) << "two retries without progress";
  EXPECT_EQ(sender.reason(), Reason::too_many_retries);
}

TEST(RmppSender, ProgressResetsTheRetries) {
  Sender sender(make_message(10 * kShare), 100ms, 1);
  sender.sent(0s);
  ASSERT_TRUE(sender.on_time(100ms));
  sender.sent(100ms);
  EXPECT_EQ(sender.on_ack(1, 65, 150ms), Sender::Step::progress);
  EXPECT_TRUE(sender.on_time(250ms));
}

TEST(RmppSender, RefusesAcksThatContradictWhatItSent) {
  const auto started = [] {
    Sender sender(make_message(10 * kShare), 1s, 3);
    sender.sent(0s);
    return sender;
  };
  Sender narrow = started();
  EXPECT_EQ(narrow.on_ack(1, 0, 0s), Sender::Step::refused);
  EXPECT_EQ(narrow.reason(), Reason::window_too_small);
  Sender beyond = started();
  EXPECT_EQ(beyond.on_ack(5, 10, 0s), Sender::Step::refused);
  EXPECT_EQ(beyond.reason(), Reason::segment_too_big);
  Sender old = started();
  old.on_ack(1, 3, 0s);
  EXPECT_EQ(old.on_ack(0, 3, 0s), Sender::Step::ignored);
}

TEST(RmppReassembly, TakesSegmentsInAnyOrderWithinTheWindow) {
  const auto message = make_message(5 * kShare + 1);
  const Sender sender(message, 1s, 0);
  Reassembly whole;
  EXPECT_TRUE(whole.on_data(sender.segment(1).view(), kLimit).acknowledge) << "opens the window";
  EXPECT_EQ(whole.window_last(), 1u + Reassembly::kWindow);
  for (const uint32_t number : {4u, 6u, 3u, 5u})
    EXPECT_FALSE(whole.on_data(sender.segment(number).view(), kLimit).whole);
  EXPECT_TRUE(whole.on_data(sender.segment(2).view(), kLimit).whole);
  EXPECT_EQ(data_of(whole.take()), data_of(message));
}

TEST(RmppReassembly, AnswersOnlyTheNewestOfWhatComesAgain) {
  const Sender sender(make_message(10 * kShare), 1s, 0);
  Reassembly whole;
  for (uint32_t n = 1; n <= 8; ++n) whole.on_data(sender.segment(n).view(), kLimit);
  EXPECT_FALSE(whole.on_data(sender.segment(3).view(), kLimit).acknowledge);
  EXPECT_TRUE(whole.on_data(sender.segment(8).view(), kLimit).acknowledge);
}

TEST(RmppReassembly, RefusesEachKindOfNonsenseWithItsReason) {
  const auto begun = [] {
    Reassembly r;
    r.on_data(segment(1, false, 1000).view(), kLimit);
    return r;
  };
  EXPECT_EQ(Reassembly().on_data(segment(0).view(), kLimit).refused, Reason::inconsistent_first);
  Mad unmarked = segment(1);
  unmarked.put8(26, Flag::active);
  EXPECT_EQ(Reassembly().on_data(unmarked.view(), kLimit).refused, Reason::inconsistent_first);
  Mad marked = segment(2);
  marked.put8(26, Flag::active | Flag::first);
  EXPECT_EQ(begun().on_data(marked.view(), kLimit).refused, Reason::inconsistent_first);
  for (const uint32_t length : {0u, 19u, 221u, 0xffffffffu})
    EXPECT_EQ(begun().on_data(segment(2, true, length).view(), kLimit).refused, Reason::inconsistent_last) << length;
  Reassembly two_ends = begun();
  two_ends.on_data(segment(5, true, 100).view(), kLimit);
  EXPECT_EQ(two_ends.on_data(segment(4, true, 100).view(), kLimit).refused, Reason::inconsistent_last);
  Reassembly behind = begun();
  behind.on_data(segment(5).view(), kLimit);
  EXPECT_EQ(behind.on_data(segment(4, true, 100).view(), kLimit).refused, Reason::inconsistent_last);
  EXPECT_EQ(begun().on_data(segment(3).view(), 500).refused, Reason::resources_exhausted);
}

TEST(RmppReassembly, NeverHoldsMoreThanItsLimitWhateverTheSegmentNumbersSay) {
  Reassembly r;
  r.on_data(segment(1, false, 0xffffffff).view(), kLimit);
  for (const uint32_t number : {66u, 1000u, 0x7fffffffu, 0xffffffffu}) {
    const auto outcome = r.on_data(segment(number).view(), kLimit);
    EXPECT_FALSE(outcome.whole);
  }
  EXPECT_LT(r.bytes(), 70 * kMadBytes);
}

/// A link that loses, doubles and reorders, driven by a clock of its own.
struct Link {
  std::mt19937 dice;
  double loss, duplication, reordering;
  std::deque<Mad> on_way;

  bool happens(double p) { return std::uniform_real_distribution<>()(dice) < p; }
  void put(const Mad& mad) {
    for (int copies = happens(duplication) ? 2 : 1; copies > 0; --copies) {
      if (happens(loss)) continue;
      on_way.push_back(mad);
      if (on_way.size() > 1 && happens(reordering)) std::swap(on_way.back(), on_way[dice() % on_way.size()]);
    }
  }
};

TEST(Rmpp, EveryMessageArrivesWholeOverAFaultyLink) {
  const unsigned seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 dice(seed);
  for (int round = 0; round < 200; ++round) {
    const std::size_t length = dice() % 3 == 0 ? dice() % kShare : dice() % (300 * kShare);
    const double loss = 0.4 * std::uniform_real_distribution<>()(dice);
    SCOPED_TRACE("round " + std::to_string(round) + ", " + std::to_string(length) + " bytes, loss " +
                 std::to_string(loss));
    Link there{std::mt19937(dice()), loss, 0.05, 0.1, {}}, back{std::mt19937(dice()), loss, 0.05, 0.1, {}};
    const auto message = make_message(length);
    Sender sender(message, 10ms, 100);
    Reassembly receiver;
    Nanoseconds now{0};
    std::size_t segments = 0;
    bool whole = false;
    const auto answer = [&back, &receiver](const Mad& to) {
      back.put(
          rmpp::make_answer(to.view(), rmpp::Type::ack, Reason::none, receiver.acknowledged(), receiver.window_last()));
    };
    std::vector<std::byte> got;
    while (!sender.acknowledged()) {
      while (const uint32_t next = sender.next()) {
        there.put(sender.segment(next));
        sender.sent(now);
        ++segments;
      }
      if (there.on_way.empty() && back.on_way.empty()) {
        now = sender.due();
        ASSERT_TRUE(sender.on_time(now));
      }
      for (; !there.on_way.empty(); there.on_way.pop_front()) {
        const Mad mad = there.on_way.front();
        if (whole) {
          if (mad.view().rmpp_segment() == sender.segments()) answer(mad);
          continue;
        }
        const auto outcome = receiver.on_data(mad.view(), kLimit);
        ASSERT_EQ(outcome.refused, Reason::none);
        if (outcome.acknowledge) answer(mad);
        if (outcome.whole) {
          whole = true;
          got = receiver.take();
        }
      }
      for (; !back.on_way.empty(); back.on_way.pop_front()) {
        const MadView ack = back.on_way.front().view();
        ASSERT_NE(sender.on_ack(ack.rmpp_segment(), ack.rmpp_length(), now), Sender::Step::refused);
      }
      ASSERT_LT(segments, 1000u + 200 * sender.segments());
    }
    ASSERT_TRUE(whole);
    ASSERT_EQ(data_of(got), data_of(message));
  }
}

}  // namespace
}  // namespace tidemill::test
