// SPDX-License-Identifier: Apache-2.0
/// Which response belongs to which send, and what becomes of one that belongs to none.
#include "bank_fixture.hpp"

namespace tidemill::test {
namespace {

using abi::Cause;
using abi::Status;
using ::testing::AllOf;

constexpr uint8_t kDirectedRoute = 0x81;

TEST_F(BankTest, AResponseThatNobodyAskedForIsDroppedAsStale) {
  EXPECT_THAT(bank_.response({}), Drops(Cause::stale));
}

TEST_F(BankTest, TheWholeTidIsCompared) {
  const Send send{.agent = 1, .tid_low = 0x80000001u};
  waiting(send);
  for (unsigned bit = 0; bit < 64; ++bit)
    EXPECT_THAT(bank_.response(send, [&](abi::Event& e) { e.tid(e.tid() ^ (uint64_t{1} << bit)); }),
                Drops(Cause::stale));
  EXPECT_THAT(bank_.response(send), IsMatch());
}

TEST_F(BankTest, ASecondResponseIsDroppedAsStaleOnceTheSendIsComplete) {
  waiting({});
  ASSERT_THAT(bank_.response({}), IsMatch());
  EXPECT_THAT(bank_.response({}), Drops(Cause::stale));
}

TEST_F(BankTest, AnotherClassIsDroppedAsWrongClass) {
  waiting({});
  EXPECT_THAT(bank_.response({}, [](abi::Event& e) { e.mgmt_class(0x04); }), Drops(Cause::wrong_class));
  EXPECT_THAT(bank_.response({}), IsMatch());
}

TEST_F(BankTest, AnotherPortOrQpIsDroppedAsWrongPort) {
  waiting({});
  EXPECT_THAT(bank_.response({}, [](abi::Event& e) { e.port(2); }), Drops(Cause::wrong_port));
  EXPECT_THAT(bank_.response({}, [](abi::Event& e) { e.qp(false); }), Drops(Cause::wrong_port));
  EXPECT_THAT(bank_.response({}), IsMatch());
}

TEST_F(BankTest, AnotherAddressIsDroppedAsWrongAddress) {
  waiting({.own_address = 3});
  EXPECT_THAT(bank_.response({.own_address = 3}, [](abi::Event& e) { e.grh(true); }), Drops(Cause::wrong_address));
  EXPECT_THAT(bank_.response({.own_address = 2}), Drops(Cause::wrong_address));
  EXPECT_THAT(bank_.response({.own_address = 3}), IsMatch());
}

TEST_F(BankTest, AnyoneMayAnswer) {
  waiting({.peer = 17});
  EXPECT_THAT(bank_.response({.peer = 18}), IsMatch());
}

TEST_F(BankTest, WithMatchSourceOnlyThePeerMayAnswer) {
  waiting({.peer = 17, .match_source = true});
  EXPECT_THAT(bank_.response({.peer = 18}), Drops(Cause::wrong_address));
  EXPECT_THAT(bank_.response({.peer = 17}), IsMatch());
}

TEST_F(BankTest, ADirectedRouteResponseIsMatchedByTidClassAndPortAlone) {
  const Send send{.mgmt_class = kDirectedRoute, .own_address = 3, .peer = 17, .qp = false, .match_source = true};
  waiting(send);
  EXPECT_THAT(bank_.response(send, [](abi::Event& e) { e.port(2); }), Drops(Cause::wrong_port));
  EXPECT_THAT(bank_.response(send,
                             [](abi::Event& e) {
                               e.grh(true);
                               e.own_address(9);
                               e.peer(9);
                             }),
              IsMatch());
}

TEST_F(BankTest, ARetryInItsQueueIsStillAnswered) {
  const Send send{.timeout = 5, .retries = 1};
  waiting(send);
  expire(5);
  EXPECT_THAT(bank_.response(send), AllOf(IsMatch(), AfterTries(1)));
  const abi::Action a = bank_.grant();
  EXPECT_THAT(a, IsNothing());
  EXPECT_TRUE(a.wire_credit());
}

TEST_F(BankTest, ASendThatNeverLeftIsNotAnswered) {
  const Send send;
  on_wire(send);
  ASSERT_THAT(bank_.sent(send, Status::flushed, 1), IsRetryQueued());
  EXPECT_THAT(bank_.response(send), Drops(Cause::never_sent));
}

TEST_F(BankTest, ASendWhoseFirstTryLeftIsAnsweredThoughItsSecondWasFlushed) {
  const Send send{.timeout = 5, .retries = 1};
  waiting(send);
  expire(5);
  bank_.grant();
  ASSERT_THAT(bank_.sent(send, Status::flushed, 1), IsRetryQueued());
  EXPECT_THAT(bank_.response(send), IsMatch());
}

TEST_F(BankTest, ASendInItsLaneIsNotAnswered) {
  const Send send;
  bank_.announce(send, 100);
  EXPECT_THAT(bank_.response(send), Drops(Cause::stale));
}

TEST_F(BankTest, ACancelledSendIsNotAnswered) {
  const Send send;
  on_wire(send);
  bank_.cancel(send);
  EXPECT_THAT(bank_.response(send), Drops(Cause::cancelled));
}

TEST_F(BankTest, ALiveSendOfTheSameTidAndClassMakesASecondOneADuplicate) {
  waiting({.slot = 0});
  const abi::Action a = bank_.descriptor({.slot = 1, .counted = true});
  EXPECT_THAT(a, AllOf(Completes(Status::duplicate), OfSlot(1), AfterTries(0)));
  EXPECT_TRUE(a.window_credit());
  EXPECT_TRUE(a.wire_credit());
  EXPECT_THAT(bank_.response({}), AllOf(IsMatch(), OfSlot(0)));
}

TEST_F(BankTest, ADuplicateIsRefusedInEveryStateInWhichTheFirstMayBeAnswered) {
  const Send first{.timeout = 5, .retries = 1};
  Send second{.slot = 1};
  const auto refused = [&] {
    EXPECT_THAT(bank_.descriptor(second), Completes(Status::duplicate));
    ++second.generation;
  };
  on_wire(first);
  refused();
  bank_.sent(first);
  refused();
  expire(5);
  refused();
}

TEST_F(BankTest, TheSameTidUnderAnotherClassIsNoDuplicate) {
  waiting({.slot = 0});
  waiting({.slot = 1, .mgmt_class = 0x04});
  EXPECT_THAT(bank_.response({.mgmt_class = 0x04}), AllOf(IsMatch(), OfSlot(1)));
  EXPECT_THAT(bank_.response({}), AllOf(IsMatch(), OfSlot(0)));
}

TEST_F(BankTest, ASendThatExpectsNoResponseIsNoDuplicateAndMakesNone) {
  on_wire({.slot = 0, .timeout = 0});
  on_wire({.slot = 1});
  on_wire({.slot = 2, .timeout = 0});
}

TEST_F(BankTest, ACancelledSendHidesNoLiveOne) {
  on_wire({.slot = 0});
  bank_.cancel({.slot = 0});
  waiting({.slot = 1});
  EXPECT_THAT(bank_.response({}), AllOf(IsMatch(), OfSlot(1)));
  EXPECT_THAT(bank_.sent({.slot = 0}), Completes(Status::flushed));
}

TEST_F(BankTest, AnAnsweredSendHidesNoLiveOne) {
  on_wire({.slot = 0});
  ASSERT_THAT(bank_.response({}), IsEarlyMatch());
  waiting({.slot = 1});
  EXPECT_THAT(bank_.response({}), AllOf(IsMatch(), OfSlot(1)));
}

TEST_F(BankTest, ManyDeadSendsHideNoLiveOne) {
  for (uint16_t slot = 0; slot < 6; ++slot) {
    on_wire({.slot = slot});
    bank_.cancel({.slot = slot});
  }
  waiting({.slot = 6});
  EXPECT_THAT(bank_.response({}), AllOf(IsMatch(), OfSlot(6)));
  EXPECT_THAT(bank_.response({}), Drops(Cause::cancelled));
  for (uint16_t slot = 0; slot < 6; ++slot) bank_.sent({.slot = slot});
  EXPECT_THAT(bank_.response({}), Drops(Cause::stale));
}

TEST_F(BankTest, AResponseThatMatchesNothingChangesNothing) {
  const Send send{.own_address = 3};
  waiting(send);
  const auto before = state_of(bank_.bank().memory());
  bank_.response(send, [](abi::Event& e) { e.own_address(4); });
  bank_.response({.tid_low = 99});
  EXPECT_EQ(state_of(bank_.bank().memory()), before);
}

TEST_F(BankTest, AnActiveRmppResponseThatMatchesNothingIsHandedUp) {
  const Send send;
  const auto rmpp = [](abi::Event& e) { e.rmpp(true); };
  EXPECT_THAT(bank_.response(send, rmpp), Delivers(Cause::stale));
  waiting(send);
  EXPECT_THAT(bank_.response(send, rmpp), IsMatch());
  const abi::Action a = bank_.response(send, rmpp, 12);
  EXPECT_THAT(a, Delivers(Cause::stale));
  EXPECT_EQ(a.buffer(), 12);
}

TEST_F(BankTest, ADroppedResponseNamesItsBuffer) {
  EXPECT_EQ(bank_
                .response(
                    {}, [](abi::Event&) {}, 31)
                .buffer(),
            31);
}

TEST_F(CrampedBankTest, TwelveSendsOfOneTidAreToldApartByTheirClass) {
  const auto send = [](uint16_t i) { return Send{.slot = i, .mgmt_class = static_cast<uint8_t>(0x10 + i)}; };
  for (uint16_t i = 0; i < 12; ++i) waiting(send(i));
  for (uint16_t i = 12; i-- > 0;) EXPECT_THAT(bank_.response(send(i)), AllOf(IsMatch(), OfSlot(i)));
}

}  // namespace
}  // namespace tidemill::test
