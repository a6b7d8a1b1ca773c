// SPDX-License-Identifier: Apache-2.0
/// What a host should not do, and what host memory should not do: each has an outcome, is counted, and disturbs no one else.
#include <gmock/gmock.h>

#include "bench.hpp"

namespace tidemill::test {
namespace {

using abi::Counter;
using abi::Status;
namespace reg = abi::reg;

/// A send over another lane goes through: nothing was disturbed.
void others_live(Bench& b, uint16_t lane = 9, uint32_t agent = 77) {
  b.open(lane);
  const abi::Descriptor d = b.request(agent, 1, 500);
  b.post(lane, d);
  ASSERT_TRUE(b.settle());
  const auto transmits = b.transmits();
  ASSERT_EQ(transmits.size(), 1u);
  EXPECT_EQ(transmits[0].slot(), d.slot());
  b.sent(transmits[0]);
  ASSERT_TRUE(b.settle());
  b.answer(d, 3);
  ASSERT_TRUE(b.settle());
  const auto completions = b.completions();
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].kind(), abi::CompletionKind::response_send);
  EXPECT_EQ(completions[0].tid(), d.tid());
  EXPECT_EQ(completions[0].buffer(), 3u);
}

TEST(Registers, SayWhoTheyAre) {
  Bench b;
  EXPECT_EQ(b.read(reg::magic), abi::kMagicReset);
  EXPECT_EQ(b.read(reg::version), abi::kVersionMajor << 16 | abi::kVersionMinor);
  EXPECT_EQ(b.read(reg::slots), 65536u);
  EXPECT_EQ(b.read(reg::banks), 8u);
  EXPECT_EQ(b.read(reg::lanes), 1024u);
  EXPECT_EQ(b.read(reg::clock_khz), 250'000u);
  EXPECT_EQ(b.platform().last_response(), sim::Response::okay);
}

TEST(Registers, ThatDoNotExistAnswerWithAnErrorAndAreCounted) {
  Bench b;
  EXPECT_EQ(b.read(0x7ffc), 0u);
  EXPECT_EQ(b.platform().last_response(), sim::Response::slave_error);
  EXPECT_EQ(b.read(reg::ring_consumer + 0x20 * 4), 0u) << "rings card to host have none";
  b.platform().write_register(reg::magic, 1);
  b.settle();
  EXPECT_EQ(b.platform().last_response(), sim::Response::slave_error);
  EXPECT_EQ(b.count(Counter::register_errors), 3u);
  others_live(b);
}

TEST(Registers, TakeNoPartialWrites) {
  Bench b;
  b.platform().write_register(reg::interrupt_moderation, 0x1234);
  b.platform().write_register(reg::interrupt_moderation, 0xffff, 0x1);
  b.settle();
  EXPECT_EQ(b.platform().last_response(), sim::Response::slave_error);
  EXPECT_EQ(b.read(reg::interrupt_moderation), 0x1234u);
  EXPECT_EQ(b.count(Counter::register_errors), 1u);
}

TEST(Doorbell, PastTheEndOfTheRingIsRefusedAndTheNextOneCounts) {
  Bench b;
  b.open(0);
  ASSERT_TRUE(b.settle());
  b.ring(0, (1u << Bench::kLaneBits) + 1u);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.count(Counter::doorbells_refused), 1u);
  EXPECT_TRUE(b.transmits().empty());
  b.post(0, b.request(5, 1, 1));
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.transmits().size(), 1u);
}

TEST(Doorbell, OfALaneThatDoesNotExistIsARegisterError) {
  Bench b;
  b.platform().write_register(reg::lane_doorbell + 4 * 1024, 1);
  b.settle();
  EXPECT_EQ(b.platform().last_response(), sim::Response::slave_error);
  others_live(b);
}

TEST(Doorbell, ThatComesBeforeItsLaneIsOpenWaits) {
  Bench b;
  const abi::Command open = b.lane_command(abi::CommandKind::open_lane, 3);
  b.post(3, b.request(5, 1, 1));
  ASSERT_TRUE(b.settle());
  EXPECT_TRUE(b.transmits().empty());
  b.command(open);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.transmits().size(), 1u);
}

TEST(Doorbell, OfARingThatIsPastItsEndIsRefused) {
  Bench b;
  b.platform().write_register(device::ring_register(reg::ring_producer, abi::Ring::sent), (1u << Bench::kBits) + 1u);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.count(Counter::doorbells_refused), 1u);
  EXPECT_EQ(b.read(device::ring_register(reg::ring_producer, abi::Ring::sent)), 0u);
  others_live(b);
}

TEST(Command, WithoutMeaningIsRefused) {
  Bench b;
  abi::Command nonsense = b.lane_command(abi::CommandKind::open_lane, 2);
  nonsense.kind(static_cast<abi::CommandKind>(15));
  b.command(nonsense);
  abi::Command unaligned = b.lane_command(abi::CommandKind::open_lane, 2);
  unaligned.ring(unaligned.ring() + 8);
  b.command(unaligned);
  abi::Command weightless = b.lane_command(abi::CommandKind::open_lane, 2);
  weightless.weight(0);
  b.command(weightless);
  abi::Command nowhere = b.lane_command(abi::CommandKind::open_lane, 2);
  nowhere.lane(1024);
  b.command(nowhere);
  abi::Command huge = b.lane_command(abi::CommandKind::open_lane, 2);
  huge.ring_bits(17);
  b.command(huge);
  b.command(b.lane_command(abi::CommandKind::close_lane, 2));
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.count(Counter::commands_refused), 6u);
  others_live(b);
}

TEST(Command, OpeningAnOpenLaneIsRefusedAndChangesNothing) {
  Bench b;
  b.open(0);
  abi::Command again;
  again.kind(abi::CommandKind::open_lane);
  again.weight(3);
  b.command(again);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.count(Counter::commands_refused), 1u);
  b.post(0, b.request(5, 1, 1));
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.transmits().size(), 1u);
}

TEST(Descriptor, ForASlotInUseIsRejectedAndItsCreditComesBack) {
  Bench b;
  b.open(0);
  const abi::Descriptor d = b.request(5, 1, 1);
  b.post(0, d);
  ASSERT_TRUE(b.settle());
  for (unsigned i = 0; i < 100; ++i) {
    b.post(0, d);
    ASSERT_TRUE(b.settle());
  }
  EXPECT_EQ(b.rejected(abi::Cause::stale_descriptor), 100u);
  EXPECT_EQ(b.transmits().size(), 1u);
  EXPECT_TRUE(b.completions().empty());
  others_live(b);
}

TEST(Descriptor, OfAGenerationThatHasPassedIsRejected) {
  Bench b;
  b.open(0);
  abi::Descriptor d = b.request(5, 1, 1, 0);
  d.timeout(0);
  b.post(0, d);
  ASSERT_TRUE(b.settle());
  b.sent(b.transmits().at(0));
  ASSERT_TRUE(b.settle());
  ASSERT_EQ(b.completions().size(), 1u);
  b.post(0, d);  // generation 0 once more
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.rejected(abi::Cause::stale_descriptor), 1u);
  EXPECT_TRUE(b.transmits().empty());
  d.generation(1);
  b.post(0, d);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.transmits().size(), 1u);
}

TEST(Descriptor, OfClassZeroIsASendAsAnyOther) {
  Bench b;
  b.open(0);
  abi::Descriptor d = b.request(5, 1, 1);
  d.mgmt_class(0);
  b.post(0, d);
  ASSERT_TRUE(b.settle());
  b.sent(b.transmits().at(0));
  b.answer(d);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.completions().size(), 1u);
}

TEST(SentReport, ThatIsForgedMakesNoCredit) {
  Bench b;
  abi::Transmit forged;
  forged.slot(99);
  for (int i = 0; i < 10; ++i) b.sent(forged);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.rejected(abi::Cause::stale_sent), 10u);
  // 64 credits, no more.
  b.open(0, 8);
  for (uint16_t i = 0; i < 80; ++i) b.put(0, b.request(5, i, i));
  b.ring(0);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.transmits().size(), 64u);
}

TEST(Reset, InMidTrafficForgetsEverything) {
  Bench b;
  for (int round = 0; round < 3; ++round) {
    b.open(0, 8);
    for (uint16_t i = 0; i < 200; ++i) b.put(0, b.request(5, i, i));
    b.ring(0);
    b.platform().run(400 + 37 * round, 1'000'000);  // in the midst of fetching
    b.reset();
    EXPECT_EQ(b.read(reg::tick_increment), 0u);
    EXPECT_EQ(b.read(reg::hash_seed_low), 0u);
    b.set_up();
    EXPECT_EQ(b.count(Counter::transmitted), 0u);
    others_live(b);
    b.reset();
    b.set_up();
  }
}

TEST(HostMemory, ReadErrorStopsTheDeviceAndSaysWhere) {
  sim::Options options;
  Bench b(options);
  abi::Command open = b.lane_command(abi::CommandKind::open_lane, 0);
  open.ring(0x40);  // nobody's memory
  b.command(open);
  ASSERT_TRUE(b.settle());
  b.ring(0, 1);
  for (int i = 0; i < 100 && !b.platform().failed(); ++i) b.platform().run(64, 64);
  ASSERT_TRUE(b.platform().failed());
  b.platform().run(2000, 1'000'000);
  EXPECT_EQ(b.read(reg::failure), static_cast<uint32_t>(abi::Failure::read_error));
  EXPECT_EQ(b.read(reg::failure_address_low), 0x40u);
  EXPECT_EQ(b.count(Counter::read_errors), 1u);
  const auto completions = b.completions();
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].kind(), abi::CompletionKind::port_event);
  EXPECT_EQ(completions[0].status(), Status::error);
  b.reset();
  b.set_up();
  EXPECT_FALSE(b.platform().failed());
  others_live(b);
}

TEST(HostMemory, WriteErrorStopsTheDevice) {
  Bench b;
  b.platform().write_register(device::ring_register(reg::ring_base_low, abi::Ring::transmit), 0x80);
  b.platform().write_register(device::ring_register(reg::ring_base_high, abi::Ring::transmit), 0);
  b.open(0);
  b.post(0, b.request(5, 1, 1));
  for (int i = 0; i < 200 && !b.platform().failed(); ++i) b.platform().run(64, 64);
  ASSERT_TRUE(b.platform().failed());
  EXPECT_EQ(b.read(reg::failure), static_cast<uint32_t>(abi::Failure::write_error));
  b.reset();
  b.set_up();
  others_live(b);
}

TEST(HostMemory, ThatNeverAnswersIsNoticed) {
  sim::Options options;
  options.lost_answer = 1;
  Bench b(options);
  b.open(0);
  const uint64_t from = b.platform().cycles();
  while (!b.platform().failed() && b.platform().cycles() < from + 200'000) b.platform().run(1024, 1024);
  ASSERT_TRUE(b.platform().failed());
  EXPECT_LE(b.platform().cycles() - from, 65'536u + 2'048u);
  EXPECT_EQ(b.read(reg::failure), static_cast<uint32_t>(abi::Failure::bus_hung));
  b.reset();
  EXPECT_FALSE(b.platform().failed());
}

TEST(Interrupt, RisesForNewsAndKeepsItsDistance) {
  Bench b;
  constexpr uint32_t kDistance = 5'000;
  b.platform().write_register(reg::interrupt_moderation, kDistance);
  b.platform().write_register(reg::interrupt_status, 1);
  b.platform().write_register(reg::interrupt_enable, 1);
  b.open(0, 8);
  ASSERT_TRUE(b.settle());
  b.platform().write_register(reg::interrupt_status, 1);
  const uint64_t cleared = b.platform().cycles();
  b.post(0, b.request(5, 1, 1));
  while (!b.platform().interrupt() && b.platform().cycles() < cleared + 4 * kDistance) b.platform().run(1, 1);
  EXPECT_TRUE(b.platform().interrupt());
  EXPECT_GE(b.platform().cycles() - cleared, kDistance);
  EXPECT_LE(b.platform().cycles() - cleared, kDistance + 100);
  EXPECT_EQ(b.transmits().size(), 1u);
}

}  // namespace
}  // namespace tidemill::test
