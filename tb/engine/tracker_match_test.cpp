// SPDX-License-Identifier: Apache-2.0
/// The match rule: which response is whose. Same TID is given here; the matcher finds it.
#include <gtest/gtest.h>

#include <ostream>

#include "tracker_records.hpp"

namespace tidemill::test {
namespace {

using abi::Cause;
using hls::SlotRecord;
using hls::Tracker;
using S = abi::SlotState;

constexpr uint8_t kDirectedRoute = 0x81;

TEST(TrackerMatch, TheRightResponseMatchesWhileTheSendIsLive) {
  for (const S state : {S::sending, S::waiting, S::retry})
    EXPECT_EQ(Tracker::mismatch(record(state), response()), Cause::none);
}

/// One difference at a time between the response and what the send asked for.
struct Difference {
  const char* name;
  void (*change)(SlotRecord&, abi::Event&);
  Cause cause;
};
void PrintTo(const Difference& d, std::ostream* out) {
  *out << d.name;
}
const Difference kDifferences[] = {
    {"AnotherClass", [](SlotRecord&, abi::Event& e) { e.mgmt_class(0x04); }, Cause::wrong_class},
    {"AnotherPort", [](SlotRecord&, abi::Event& e) { e.port(2); }, Cause::wrong_port},
    {"TheOtherQp", [](SlotRecord&, abi::Event& e) { e.qp(false); }, Cause::wrong_port},
    {"AGrhThatTheRequestHadNot", [](SlotRecord&, abi::Event& e) { e.grh(true); }, Cause::wrong_address},
    {"NoGrhThoughTheRequestHadOne", [](SlotRecord& r, abi::Event&) { r.flags.grh(true); }, Cause::wrong_address},
    {"AnotherAddressOfOurs", [](SlotRecord&, abi::Event& e) { e.own_address(4); }, Cause::wrong_address},
    {"AnotherAddressOfOursWithGrh",
     [](SlotRecord& r, abi::Event& e) {
       r.flags.grh(true);
       e.grh(true);
       e.own_address(4);
     },
     Cause::wrong_address},
    {"AnotherResponder", [](SlotRecord&, abi::Event& e) { e.peer(43); }, Cause::none},
    {"AnotherResponderThanAskedFor",
     [](SlotRecord& r, abi::Event& e) {
       r.flags.match_source(true);
       e.peer(43);
     },
     Cause::wrong_address},
    {"TheResponderAskedFor", [](SlotRecord& r, abi::Event&) { r.flags.match_source(true); }, Cause::none},
};

class TrackerMatchDifference : public ::testing::TestWithParam<Difference> {};
INSTANTIATE_TEST_SUITE_P(Rule, TrackerMatchDifference, ::testing::ValuesIn(kDifferences),
                         [](const auto& p) { return p.param.name; });

TEST_P(TrackerMatchDifference, DecidesInEveryLiveState) {
  for (const S state : {S::sending, S::waiting, S::retry}) {
    SlotRecord r = record(state);
    abi::Event e = response();
    GetParam().change(r, e);
    EXPECT_EQ(Tracker::mismatch(r, e), GetParam().cause);
  }
}

TEST(TrackerMatch, ADirectedRouteResponseNeedsNoAddress) {
  SlotRecord r = record(S::waiting);
  r.flags.mgmt_class(kDirectedRoute);
  r.flags.match_source(true);
  abi::Event e = response();
  e.mgmt_class(kDirectedRoute);
  e.grh(true);
  e.own_address(9);
  e.peer(9);
  EXPECT_EQ(Tracker::mismatch(r, e), Cause::none);
  e.port(2);
  EXPECT_EQ(Tracker::mismatch(r, e), Cause::wrong_port) << "but port and QP hold";
  e.mgmt_class(0x01);
  EXPECT_EQ(Tracker::mismatch(r, e), Cause::wrong_class) << "class 0x01 is another class than 0x81";
}

TEST(TrackerMatch, ASendThatHasItsResponseDoesNotMatchAgain) {
  EXPECT_EQ(Tracker::mismatch(record(S::early), response()), Cause::duplicate);
}

TEST(TrackerMatch, ACancelledSendDoesNotMatch) {
  EXPECT_EQ(Tracker::mismatch(record(S::cancelled), response()), Cause::cancelled);
}

TEST(TrackerMatch, ASendOfWhichNoTryHasLeftDoesNotMatch) {
  SlotRecord r = record(S::retry);
  r.flags.left(false);  // flushed before it left, or held back for want of room
  EXPECT_EQ(Tracker::mismatch(r, response()), Cause::never_sent);
}

TEST(TrackerMatch, AResponseMayOvertakeTheSentReport) {
  SlotRecord r = record(S::sending);
  r.flags.left(false);
  EXPECT_EQ(Tracker::mismatch(r, response()), Cause::none);
}

TEST(TrackerMatch, AForeignResponseIsCountedAsForeignEvenIfTheSendIsOver) {
  abi::Event e = response();
  e.mgmt_class(0x04);
  EXPECT_EQ(Tracker::mismatch(record(S::early), e), Cause::wrong_class);
  EXPECT_EQ(Tracker::mismatch(record(S::cancelled), e), Cause::wrong_class);
}

}  // namespace
}  // namespace tidemill::test
