// SPDX-License-Identifier: Apache-2.0
/// Sizes of banks and arbiters, known at compile time. Everything in a bank is a power of two.
#pragma once
#include <stdint.h>

namespace tidemill::hls {

/// SlotBits: slots of the bank. BucketBits: buckets of each of the matcher's two tables.
/// ListBits: lists per level of the timeout wheel. SpreadBits: how much coarser each level is than
/// the one below; a list is spread 2^ListBits - 2^SpreadBits units of the level below ahead of its time.
template <unsigned SlotBits, unsigned BucketBits, unsigned ListBits = 9, unsigned SpreadBits = 6, unsigned Levels = 4>
struct BankConfig {
  static constexpr unsigned kSlotBits = SlotBits;
  static constexpr unsigned kBucketBits = BucketBits;
  static constexpr unsigned kListBits = ListBits;
  static constexpr unsigned kSpreadBits = SpreadBits;
  static constexpr unsigned kLevels = Levels;

  static constexpr uint32_t kSlots = 1u << SlotBits;
  static constexpr uint32_t kBuckets = 1u << BucketBits;
  static constexpr uint32_t kLists = 1u << ListBits;
  /// Rows of the link memory: a row for each slot, then one sentinel for each list.
  static constexpr uint32_t kLinkRows = kSlots + Levels * kLists;

  static_assert(SlotBits >= 2 && SlotBits <= 16, "a slot index has 16 bits, a flush step looks at four slots");
  static_assert(SpreadBits >= 1 && SpreadBits <= 6, "one occupancy word covers 2^SpreadBits lists");
  static_assert(ListBits > SpreadBits, "a level must reach past the next list of the level above");
  static_assert(SpreadBits * (Levels - 1) + ListBits < 31, "ticks have 32 bits and are compared modulo 2^32");
  static_assert(2 * BucketBits + (31 - SlotBits) <= 56, "bucket indices and fingerprint come from one 64-bit hash");
};

/// One of eight banks on a card: 65,536 slots over all.
using CardBankConfig = BankConfig<13, 12>;
/// A bank of the soft device: one bank a core, 65,536 slots each.
using HostBankConfig = BankConfig<16, 15>;

/// Lanes the host may open and the retry lanes of the banks.
template <unsigned Lanes>
struct ArbiterConfig {
  static constexpr uint32_t kLanes = Lanes;
  /// Rows of the link memory: lanes, then the sentinels of eight active lists and of the drain list.
  static constexpr uint32_t kLinkRows = Lanes + 9;
  static_assert(Lanes <= 0xfff0u, "a lane number has 16 bits");
};

/// 1,024 lanes of the host and a retry lane for each QP of eight banks.
using CardArbiterConfig = ArbiterConfig<1024 + 16>;

}  // namespace tidemill::hls
