// SPDX-License-Identifier: Apache-2.0
/// How often the TID matcher has no room with 65,536 sends live, by what the TIDs look like. Prints the table of
/// docs/engine/tid-matcher.md. Every run is the same: seeds are fixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bank_driver.hpp"
#include "hls/tid_hash.hpp"
#include "matcher_driver.hpp"

namespace tidemill::test {
namespace {

constexpr uint32_t kLive = 65'536;
constexpr uint64_t kKnownSeed = 0x243f6a8885a308d3u, kOtherSeed = 0x13198a2e03707344u;
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

using TidSource = std::function<uint64_t()>;

TidSource random_tids(uint64_t seed) {
  return [random = std::mt19937_64(seed)]() mutable { return random(); };
}
TidSource sequential_tids() {
  return [i = uint32_t{0}]() mutable { return (uint64_t{7} << 32) | i++; };
}
/// Equal in the low 16 bits, as from a client that keeps its own index there.
TidSource equal_low_bits() {
  return [i = uint64_t{0}]() mutable { return (i++ << 16) | 0xbeefu; };
}
/// One agent's TIDs whose two rows are both among the first 256 of 4,096 under the known seed.
TidSource crafted_tids() {
  return [low = uint32_t{0}]() mutable {
    for (;;) {
      const uint64_t tid = (uint64_t{7} << 32) | low++;
      const uint64_t hash = hls::tid_hash(tid, kKnownSeed);
      if ((hash & 0xf00u) == 0 && (hash & 0xf00000u) == 0) return tid;
    }
  };
}

struct Counts {
  uint32_t placed = 0, stash = 0, refused = 0, churn = 0, churn_refused = 0;
};

/// All banks, filled with live sends. A refused send keeps its slot, as in the engine.
template <class Config, unsigned BankBits>
class LiveSends {
 public:
  LiveSends(TidSource tids, uint64_t seed) : tids_(std::move(tids)), seed_(seed), banks_(1u << BankBits) {
    for (Bank& bank : banks_) bank.sends.resize(Config::kSlots);
  }

  /// Each TID takes a slot of its bank; one whose bank has no slot left is the host's to put off.
  void fill() {
    for (uint32_t live = 0; live < Config::kSlots << BankBits;) {
      const uint64_t tid = tids_();
      Bank& bank = bank_of(tid);
      if (bank.live == Config::kSlots) continue;
      const uint32_t slot = bank.live++;
      bank.sends[slot] = {tid, place(bank, slot, tid)};
      ++live;
      const bool placed = bank.sends[slot].placed;
      ++(placed ? counts_.placed : counts_.refused);
      counts_.stash += placed && bank.matcher.in_stash(slot);
    }
  }
  /// A random live send ends and the next TID takes its slot.
  void churn(uint32_t times) {
    std::mt19937 random(3);
    for (counts_.churn = 0; counts_.churn < times; ++counts_.churn) {
      const uint64_t tid = tids_();
      Bank& bank = bank_of(tid);
      const uint32_t slot = random() & (Config::kSlots - 1u);
      if (bank.sends[slot].placed) bank.matcher.remove(slot);
      bank.sends[slot] = {tid, place(bank, slot, tid)};
      counts_.churn_refused += !bank.sends[slot].placed;
    }
  }
  /// Every placed send is found under its own TID, no refused one is.
  bool intact() {
    for (Bank& bank : banks_)
      for (uint32_t slot = 0; slot < Config::kSlots; ++slot) {
        const Send& send = bank.sends[slot];
        const auto found = bank.matcher.find(send.tid, hls::tid_hash(send.tid, seed_));
        if (send.placed ? found != slot : found.has_value()) return false;
      }
    return true;
  }
  /// The placed sends end, the refused ones try again; how often until none is left.
  uint32_t rounds_until_all_were_placed() {
    for (uint32_t rounds = 1;; ++rounds) {
      uint32_t left = 0;
      for (Bank& bank : banks_) {
        for (uint32_t slot = 0; slot < bank.sends.size(); ++slot)
          if (bank.sends[slot].placed) bank.matcher.remove(slot);
        std::vector<Send> waiting;
        for (const Send& send : bank.sends)
          if (!send.placed) waiting.push_back(send);
        for (uint32_t slot = 0; slot < waiting.size(); ++slot) {
          waiting[slot].placed = place(bank, slot, waiting[slot].tid);
          left += !waiting[slot].placed;
        }
        bank.sends = std::move(waiting);
      }
      if (left == 0) return rounds;
    }
  }
  const Counts& counts() const { return counts_; }

 private:
  struct Send {
    uint64_t tid = 0;
    bool placed = false;
  };
  struct Bank {
    MatcherDriver<Config> matcher;
    std::vector<Send> sends;
    uint32_t live = 0;
  };

  Bank& bank_of(uint64_t tid) { return banks_[hls::bank_of(hls::tid_hash(tid, seed_), BankBits)]; }
  bool place(Bank& bank, uint32_t slot, uint64_t tid) {
    return bank.matcher.insert(slot, tid, hls::tid_hash(tid, seed_));
  }

  TidSource tids_;
  uint64_t seed_;
  std::vector<Bank> banks_;
  Counts counts_;
};
using Card = LiveSends<hls::CardBankConfig, 3>;
using Host = LiveSends<hls::HostBankConfig, 0>;

void print_head() {
  std::printf(
      "| TIDs | in a row | in the stash | refused | refused of 262,144 replaced |\n| --- | --- | --- | --- | --- |\n");
}
void print(const char* name, const Counts& c) {
  std::printf("| %s | %u | %u | %u (%.2f %%) | %u (%.2f %%) |\n", name, c.placed - c.stash, c.stash, c.refused,
              100.0 * c.refused / kLive, c.churn_refused, 100.0 * c.churn_refused / c.churn);
}

TEST(MatcherRefusal, NothingIsRefusedAt65536LiveUnlessTheSeedIsKnown) {
  print_head();
  const auto measure = [](const char* name, auto sends) {
    sends.fill();
    EXPECT_TRUE(sends.intact()) << name;
    sends.churn(4 * kLive);
    EXPECT_TRUE(sends.intact()) << name;
    print(name, sends.counts());
    EXPECT_EQ(sends.counts().placed, kLive) << name;
    EXPECT_EQ(sends.counts().refused, 0u) << name;
    EXPECT_EQ(sends.counts().churn_refused, 0u) << name;
  };
  measure("random", Card(random_tids(1), kKnownSeed));
  measure("sequential", Card(sequential_tids(), kKnownSeed));
  measure("equal low 16 bits", Card(equal_low_bits(), kKnownSeed));
  measure("crafted against another seed", Card(crafted_tids(), kOtherSeed));
  measure("sequential, degenerate seed", Card(sequential_tids(), kGolden ^ 1u));
  measure("equal low 16 bits, degenerate seed", Card(equal_low_bits(), kGolden >> 1));
  measure("random, one host bank", Host(random_tids(2), kKnownSeed));
  measure("sequential, one host bank", Host(sequential_tids(), kKnownSeed));
}

TEST(MatcherRefusal, TidsCraftedAgainstTheSeedInUseMeetBackPressureAndNoneIsLost) {
  Card sends(crafted_tids(), kKnownSeed);
  sends.fill();
  EXPECT_TRUE(sends.intact());
  // 2 x 256 rows of four and the stash are all that these TIDs can use.
  constexpr uint32_t kRoom = 8 * (2 * 256 * 4 + 4);
  const Counts filled = sends.counts();
  EXPECT_EQ(filled.placed, kRoom);
  EXPECT_EQ(filled.refused, kLive - kRoom);
  sends.churn(4 * kLive);
  EXPECT_TRUE(sends.intact());
  print_head();
  print("crafted against the seed in use", sends.counts());
  EXPECT_EQ(sends.rounds_until_all_were_placed(), 4u) << "65,536 sends, 16,416 at a time";
}

/// The tables of a card bank with four times its slots: how full they get before anything is refused.
TEST(MatcherRefusal, TheFirstComesFarAboveTheLoadInUse) {
  using Overfull = hls::BankConfig<15, hls::CardBankConfig::kBucketBits>;
  constexpr uint32_t kEntries = 8 * Overfull::kBuckets, kRuns = 20;
  uint32_t first_stash = kEntries, first_refusal = kEntries;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    MatcherDriver<Overfull> matcher;
    TidSource tids = random_tids(seed);
    bool stashed = false;
    for (uint32_t slot = 0; slot < kEntries; ++slot) {
      const uint64_t tid = tids();
      if (!matcher.insert(slot, tid, hls::tid_hash(tid, seed))) {
        first_refusal = std::min(first_refusal, slot);
        break;
      }
      if (!stashed && matcher.in_stash(slot)) first_stash = std::min(first_stash, slot);
      stashed |= matcher.in_stash(slot);
    }
  }
  std::printf("in use %.1f %%, first in the stash %.1f %%, first refused %.1f %% of %u entries (worst of %u runs)\n",
              100.0 * hls::CardBankConfig::kSlots / kEntries, 100.0 * first_stash / kEntries,
              100.0 * first_refusal / kEntries, kEntries, kRuns);
  EXPECT_GT(first_refusal, 2 * hls::CardBankConfig::kSlots);
}

/// A bank with more slots than the matcher has entries: 64 slots, 2 x 4 rows and the stash hold 36.
TEST(MatcherRefusal, ARefusedSendWaitsForRoomAndCompletesOnce) {
  using Crowded = hls::BankConfig<6, 2>;
  BankDriver<Crowded> bank(kKnownSeed);
  std::vector<Send> sends(Crowded::kSlots);
  std::vector<uint16_t> on_wire, completed;
  for (uint16_t slot = 0; slot < Crowded::kSlots; ++slot) {
    sends[slot] = {.slot = slot, .tid_low = slot + 1u};
    const abi::Action a = bank.descriptor(sends[slot]);
    if (a.kind() == abi::ActionKind::transmit) {
      on_wire.push_back(slot);
    } else {
      ASSERT_EQ(a.kind(), abi::ActionKind::none);
      EXPECT_TRUE(a.retry_queued());
      EXPECT_TRUE(a.wire_credit()) << "the grant was not used";
    }
  }
  EXPECT_LE(on_wire.size(), 36u);
  EXPECT_GE(on_wire.size(), 24u);
  while (completed.size() < Crowded::kSlots) {
    ASSERT_FALSE(on_wire.empty());
    for (const uint16_t slot : on_wire) {
      bank.sent(sends[slot]);
      ASSERT_EQ(bank.response(sends[slot]).kind(), abi::ActionKind::respond_complete);
      completed.push_back(slot);
    }
    on_wire.clear();
    for (uint32_t left = bank.bank().memory().retry_count(1); left > 0; --left) {
      const abi::Action a = bank.grant();
      if (a.kind() == abi::ActionKind::transmit) on_wire.push_back(a.slot());
    }
  }
  EXPECT_EQ(std::set<uint16_t>(completed.begin(), completed.end()).size(), Crowded::kSlots);
}

}  // namespace
}  // namespace tidemill::test
