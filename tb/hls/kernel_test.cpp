// SPDX-License-Identifier: Apache-2.0
/// The kernels over static memories are the blocks over object memories, event for event, in both of their forms.
/// A kernel has one state in a program, so each is visited by one test, twice: once more after it was told to clear
/// itself.
#include <ap_int.h>
#include <gtest/gtest.h>
#include <hls_stream.h>

#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include "hls/arbiter_memory.hpp"
#include "hls/bank.hpp"
#include "hls/bank_memory.hpp"
#include "hls/send_arbiter.hpp"
#include "kernel_tops.hpp"
#include "random_arbiter_events.hpp"
#include "random_bank_events.hpp"

extern "C" void bank_kernel(hls::stream<ap_uint<512>>& events, hls::stream<ap_uint<256>>& actions);
extern "C" void arbiter_kernel(hls::stream<ap_uint<64>>& events, hls::stream<ap_uint<64>>& actions);

namespace tidemill::test {
namespace {

constexpr unsigned kEvents = 200'000;

/// GTEST_RANDOM_SEED chooses it.
uint64_t seed() {
  const auto chosen = static_cast<uint64_t>(GTEST_FLAG_GET(random_seed));
  const uint64_t value = chosen != 0 ? chosen : 1;
  std::printf("GTEST_RANDOM_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

template <int Bits, size_t Words>
ap_uint<Bits> packed(const uint64_t (&words)[Words]) {
  ap_uint<Bits> p;
  for (size_t i = Words; i-- > 0;) p = (p << 64) | ap_uint<Bits>(words[i]);
  return p;
}

abi::Action through_streams(const abi::Event& e) {
  ::hls::stream<ap_uint<512>> events;
  ::hls::stream<ap_uint<256>> actions;
  events.write(packed<512>({e.w0, e.w1, e.w2, e.w3, e.w4, e.w5, e.w6, e.w7}));
  bank_kernel(events, actions);
  const ap_uint<256> out = actions.read();
  abi::Action a;
  a.w0 = out.to_uint64();
  a.w1 = (out >> 64).to_uint64();
  a.w2 = (out >> 128).to_uint64();
  a.w3 = (out >> 192).to_uint64();
  return a;
}
abi::ArbiterAction through_streams(const abi::ArbiterEvent& e) {
  ::hls::stream<ap_uint<64>> events, actions;
  events.write(ap_uint<64>(e.w0));
  arbiter_kernel(events, actions);
  abi::ArbiterAction a;
  a.w0 = actions.read().to_uint64();
  return a;
}

/// What the shell's side of a card sends to clear a kernel.
template <class Event>
Event all_ones();
template <>
abi::Event all_ones() {
  abi::Event e;
  e.w0 = e.w1 = e.w2 = e.w3 = e.w4 = e.w5 = e.w6 = e.w7 = ~uint64_t{0};
  return e;
}
template <>
abi::ArbiterEvent all_ones() {
  abi::ArbiterEvent e;
  e.w0 = ~uint64_t{0};
  return e;
}

void expect_equal_banks(unsigned round) {
  SCOPED_TRACE(testing::Message() << "round " << round);
  using Config = hls::CardBankConfig;
  RandomBankEvents events(seed() + round, Config::kSlots);
  const auto model = std::make_unique<hls::Bank<hls::BankMemory<Config>>>();
  std::set<std::pair<abi::EventKind, abi::ActionKind>> met;
  std::set<abi::Status> statuses;
  std::set<abi::Cause> causes;
  for (unsigned i = 0; i < kEvents; ++i) {
    const abi::Event e = events.next();
    const abi::Action want = model->step(e);
    const abi::Action got = i % 2 == 0 ? step_bank(e) : through_streams(e);
    ASSERT_TRUE(got == want) << "event " << i << ", " << name_of(e.kind()) << ": answers " << name_of(got.kind())
                             << ", not " << name_of(want.kind());
    events.learn(e, want);
    met.emplace(e.kind(), want.kind());
    statuses.insert(want.status());
    causes.insert(want.cause());
  }
  // The run is worth its name only if every rule was met.
  EXPECT_EQ(statuses.size(), abi::kStatusCount);
  EXPECT_EQ(causes.size(), abi::kCauseCount);
  for (const auto& pair : {std::pair{abi::EventKind::descriptor, abi::ActionKind::transmit},
                           std::pair{abi::EventKind::descriptor, abi::ActionKind::none},
                           std::pair{abi::EventKind::grant, abi::ActionKind::transmit},
                           std::pair{abi::EventKind::received, abi::ActionKind::respond},
                           std::pair{abi::EventKind::received, abi::ActionKind::respond_complete},
                           std::pair{abi::EventKind::received, abi::ActionKind::deliver},
                           std::pair{abi::EventKind::tick, abi::ActionKind::complete},
                           std::pair{abi::EventKind::flush, abi::ActionKind::complete}}) {
    EXPECT_TRUE(met.contains(pair)) << name_of(pair.first) << " answered by " << name_of(pair.second);
  }
}

TEST(BankKernel, EqualsTheBankOverObjectMemoryAlsoOnceCleared) {
  ASSERT_NO_FATAL_FAILURE(expect_equal_banks(0));
  EXPECT_TRUE(through_streams(all_ones<abi::Event>()) == abi::Action{});
  expect_equal_banks(1);
}

void expect_equal_arbiters(unsigned round) {
  SCOPED_TRACE(testing::Message() << "round " << round);
  using Config = hls::CardArbiterConfig;
  RandomArbiterEvents events(seed() + round, Config::kLanes);
  const auto model = std::make_unique<hls::SendArbiter<hls::ArbiterMemory<Config>>>();
  unsigned granted = 0, drained = 0, counted = 0, rejected = 0, refused = 0;
  for (unsigned i = 0; i < kEvents; ++i) {
    const abi::ArbiterEvent e = events.next();
    const abi::ArbiterAction want = model->step(e);
    const abi::ArbiterAction got = i % 2 == 0 ? step_arbiter(e) : through_streams(e);
    ASSERT_TRUE(got == want) << "event " << i << ", " << name_of(e.kind());
    events.learn(e, want);
    granted += want.granted() & !want.drain();
    drained += want.drain();
    counted += want.counted();
    rejected += want.rejected();
    refused += (e.kind() == abi::ArbiterKind::grant) & !want.granted();
  }
  EXPECT_GT(granted, kEvents / 20);
  EXPECT_GT(drained, kEvents / 200);
  EXPECT_GT(counted, kEvents / 100);
  EXPECT_GT(rejected, 0u);
  EXPECT_GT(refused, 0u);
}

TEST(ArbiterKernel, EqualsTheArbiterOverObjectMemoryAlsoOnceCleared) {
  ASSERT_NO_FATAL_FAILURE(expect_equal_arbiters(0));
  EXPECT_TRUE(through_streams(all_ones<abi::ArbiterEvent>()) == abi::ArbiterAction{});
  expect_equal_arbiters(1);
}

}  // namespace
}  // namespace tidemill::test
