// SPDX-License-Identifier: Apache-2.0
/// Are slots, TID matcher, timeout wheel and retry queues of a bank one consistent whole, and what the environment
/// believes them to be?
#pragma once
#include "bank_judge.hpp"

namespace tidemill::explore {

/// One copy of a bank's step, whose parts are all inlined, for all who call it here.
template <class Memory>
[[gnu::noinline]] abi::Action step_of(hls::Bank<Memory>& bank, const abi::Event& e) {
  return bank.step(e);
}

template <class Memory_>
class BankStructure {
 public:
  using Memory = Memory_;
  using Config = typename Memory::Config;
  using Ghost = Shadow<Config::kSlots>;
  using Hash = uint64_t (*)(uint64_t tid);

  BankStructure(Hash hash, const Memory& memory, const Ghost& shadow) : hash_(hash), m_(memory), shadow_(shadow) {}

  /// The first invariant that does not hold.
  const char* check() {
    matcher();
    wheel();
    retries();
    settles();
    return broken_;
  }

 private:
  using Matcher = hls::TidMatcher<Memory>;
  using Queue = hls::RetryQueue<Memory>;
  static constexpr uint32_t kSlots = Config::kSlots;

  void require(bool holds, const char* rule) {
    if (!holds && broken_ == nullptr) broken_ = rule;
  }
  abi::SlotFlags flags(uint32_t s) const { return BankJudge<Memory>::flags(m_, s); }
  uint32_t location(uint32_t s) const {
    abi::SlotPlace place;
    place.w0 = m_.place(s);
    return place.location();
  }

  void matcher() {
    uint32_t entries = 0, placed = 0;
    for (uint32_t table = 0; table < 3; ++table) {
      const uint32_t rows = table == 2 ? 1 : Config::kBuckets;
      for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t way = 0; way < 4; ++way) {
          const uint32_t entry = m_.bucket(table, row).entry(way);
          if (entry == 0) continue;
          ++entries;
          const uint32_t slot = entry & (kSlots - 1);
          const uint64_t hash = hash_(m_.tid(slot));
          require(flags(slot).placed() && location(slot) == ((row << 4) | (table << 2) | way), kMatcherEntries);
          require(entry == (hls::Bucket::kValid | Matcher::fingerprint(hash) | slot), kMatcherEntries);
          require(table == 2 || row == Matcher::row(hash, table), kMatcherEntries);
        }
      }
    }
    for (uint32_t s = 0; s < kSlots; ++s) {
      placed += flags(s).placed();
      const ShadowSend& g = shadow_.sends[s];
      if (g.stage <= Stage::queued || !flags(s).expects()) require(!flags(s).placed(), kMatcherEntries);
      if (flags(s).expects() && (g.stage == Stage::on_wire || g.stage == Stage::waiting || g.left))
        require(flags(s).placed(), kMatcherEntries);
    }
    require(entries == placed, kMatcherEntries);
  }

  static constexpr uint32_t unit(unsigned level) { return Config::kSpreadBits * level; }
  static constexpr uint32_t mask(unsigned level) { return 0xffffffffu >> unit(level); }

  void wheel() {
    std::array<uint8_t, kSlots> lists{};
    const uint32_t now = m_.wheel_now();
    require(!before(shadow_.now, now), kWheelLists);
    for (unsigned level = 0; level < Config::kLevels; ++level) {
      // Lists that are not spread yet, by number; those of level 0 begin with now.
      const uint32_t first = level == 0 ? now : (m_.spread_count(level) + 1) & mask(level);
      for (uint32_t ahead = 0; ahead < Config::kLists; ++ahead) {
        const uint32_t number = (first + ahead) & mask(level), index = number & (Config::kLists - 1);
        const uint32_t list = kSlots + level * Config::kLists + index;
        uint32_t row = list, steps = 0;
        while ((m_.next(row) ^ row) != list && steps <= kSlots) {
          const uint32_t item = m_.next(row) ^ row;
          require(item < kSlots && (m_.prev(item) ^ item) == row, kWheelLists);
          if (broken_ != nullptr) return;
          ++lists[item];
          ++steps;
          belongs(item, level, number);
          row = item;
        }
        require(steps <= kSlots && (m_.prev(list) ^ list) == row, kWheelLists);
        const uint32_t spread = 1u << Config::kSpreadBits;
        if (level == 0 && steps != 0) require((m_.busy(index / spread) >> (index % spread)) & 1u, kBusyBits);
      }
    }
    for (uint32_t s = 0; s < kSlots; ++s) {
      uint32_t tick = 0;
      const bool watched = shadow_.watched(s, tick), armed = flags(s).armed();
      require(lists[s] == (armed ? 1 : 0), kWheelLists);
      require(armed || !watched, kNeverLate);
      require(watched || !armed, kNeverEarly);
      if (!armed || broken_ != nullptr) continue;
      // What had passed when it was armed fires at the current tick.
      const uint32_t due = m_.due(s);
      require(!before(due, now), kNeverLate);
      require(due == tick || (before(tick, due) && due == now), before(due, tick) ? kNeverEarly : kNeverLate);
      require(!before(due, m_.wake()), kNeverLate);
    }
  }
  /// An item of level 0 and of the middle levels has its time in the list; the farthest list of the top may hold later
  /// ones.
  void belongs(uint32_t slot, unsigned level, uint32_t number) {
    const uint32_t own = m_.due(slot) >> unit(level);
    const uint32_t behind = (own - number) & mask(level);
    require(behind == 0 || (level == Config::kLevels - 1 && behind < (mask(level) >> 1)), kWheelLists);
  }

  void retries() {
    uint32_t linked = 0, standing = 0;
    for (uint32_t qp = 0; qp < 2; ++qp) {
      const auto& queue = shadow_.retries[qp];
      require(m_.retry_count(qp) == queue.count, kRetryLane);
      if (broken_ != nullptr) return;
      uint32_t slot = m_.retry_head(qp);
      for (uint32_t i = 0; i < queue.count; ++i) {
        require(slot == queue.slot[i] && Queue::holds(flags(slot), qp), kRetryLane);
        if (i + 1u == queue.count) require(slot == m_.retry_tail(qp), kRetryLane);
        if (broken_ != nullptr) return;
        slot = m_.retry_next(qp, slot);
      }
      standing += queue.count;
    }
    for (uint32_t s = 0; s < kSlots; ++s) {
      const abi::SlotFlags f = flags(s);
      linked += unsigned{Queue::holds(f, 0)} + unsigned{Queue::holds(f, 1)};
      // In the queue of its own QP: the other one's wire may never have credit again.
      if (shadow_.sends[s].stage == Stage::retry) require(Queue::holds(f, f.qp()), kRetryLane);
    }
    require(linked == standing, kRetryLane);
  }

  /// All steps of the tick at hand, on a copy: they end, and then nothing is due any more.
  void settles() {
    if (broken_ != nullptr) return;
    hls::Bank<Memory> bank;
    bank.memory() = m_;
    const uint32_t now = shadow_.now, lag = now - m_.wheel_now();
    const uint32_t bound = (lag + Config::kLists) * (Config::kLevels + 1) + kSlots * (Config::kLevels + 1);
    abi::Event e;
    e.kind(abi::EventKind::tick);
    e.now(now);
    uint32_t steps = 0;
    while (!before(now, bank.memory().wake()) && steps <= bound) {
      const abi::Action a = step_of(bank, e);
      require(a.wake() == bank.memory().wake() && a.more() == !before(now, a.wake()), kNeverLate);
      ++steps;
    }
    require(steps <= bound, kBoundedTick);
    for (uint32_t s = 0; s < kSlots; ++s)
      require(!BankJudge<Memory>::flags(bank.memory(), s).armed() || before(now, bank.memory().due(s)), kNeverLate);
  }

  Hash hash_;
  const Memory& m_;
  const Ghost& shadow_;
  const char* broken_ = nullptr;
};

}  // namespace tidemill::explore
