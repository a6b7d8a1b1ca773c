// SPDX-License-Identifier: Apache-2.0
/// Looks into an engine's memory and says what contradicts itself. audit_bank() holds between any two events; what the
/// at_rest functions ask for holds once every send has completed and every grant has been used.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "hls/bank.hpp"
#include "hls/send_arbiter.hpp"

namespace tidemill::test {

/// Names findings, a few of them: one broken table makes thousands.
class Findings {
 public:
  template <class... Parts>
  void add(const Parts&... parts) {
    if (texts_.size() < kMost) (texts_.emplace_back() += ... += text(parts));
  }
  bool empty() const { return texts_.empty(); }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  static constexpr size_t kMost = 8;
  static std::string text(const char* part) { return part; }
  static std::string text(const std::string& part) { return part; }
  static std::string text(uint64_t part) { return std::to_string(part); }
  std::vector<std::string> texts_;
};

namespace audit {

template <class Memory>
abi::SlotFlags flags_of(const Memory& m, uint32_t slot) {
  abi::SlotFlags f;
  f.w0 = m.flags(slot);
  return f;
}

/// Every placed slot owns the entry it names, and there are no other entries.
template <class Memory>
void matcher(const Memory& m, Findings& out) {
  using Config = typename Memory::Config;
  uint32_t placed = 0, entries = 0;
  for (uint32_t slot = 0; slot < Config::kSlots; ++slot) {
    if (!flags_of(m, slot).placed()) continue;
    ++placed;
    abi::SlotPlace place;
    place.w0 = m.place(slot);
    const uint32_t entry = m.bucket((place.location() >> 2) & 3u, place.location() >> 4).entry(place.location() & 3u);
    if ((entry & hls::Bucket::kValid) == 0 || (entry & (Config::kSlots - 1u)) != slot)
      out.add("slot ", slot, " is not in the matcher entry it names");
  }
  const auto count = [&](uint32_t table, uint32_t row) {
    entries += 4u - static_cast<uint32_t>(__builtin_popcount(m.bucket(table, row).empty()));
  };
  for (uint32_t row = 0; row < Config::kBuckets; ++row) {
    count(0, row);
    count(1, row);
  }
  count(2, 0);
  if (entries != placed) out.add("the matcher has ", entries, " entries for ", placed, " placed slots");
}

/// Every armed slot stands in exactly one list, and nothing else does.
template <class Memory>
void wheel(const Memory& m, Findings& out) {
  using Config = typename Memory::Config;
  uint32_t armed = 0, listed = 0;
  for (uint32_t slot = 0; slot < Config::kSlots; ++slot) armed += flags_of(m, slot).armed() ? 1u : 0u;
  for (uint32_t list = Config::kSlots; list < Config::kLinkRows; ++list) {
    uint32_t before = list;
    for (uint32_t row = m.next(list) ^ list; row != list; row = m.next(row) ^ row) {
      if (row >= Config::kSlots || listed == armed) return out.add("a list of the wheel is broken");
      if ((m.prev(row) ^ row) != before) out.add("the links of slot ", row, " do not meet");
      if (!flags_of(m, row).armed()) out.add("slot ", row, " is in the wheel and not armed");
      before = row;
      ++listed;
    }
  }
  if (listed != armed) out.add("the wheel holds ", listed, " slots of ", armed, " armed ones");
}

/// Both queues hold exactly the slots flagged for them.
template <class Memory>
void retry_queues(const Memory& m, Findings& out) {
  using Config = typename Memory::Config;
  uint32_t linked[2] = {0, 0};
  for (uint32_t slot = 0; slot < Config::kSlots; ++slot) {
    const abi::SlotFlags f = flags_of(m, slot);
    for (unsigned qp = 0; qp < 2; ++qp) linked[qp] += (f.linked() >> qp) & 1u;
  }
  for (unsigned qp = 0; qp < 2; ++qp) {
    if (m.retry_count(qp) != linked[qp])
      return out.add("retry queue ", qp, " counts ", m.retry_count(qp), " of ", linked[qp], " slots");
    uint32_t slot = m.retry_head(qp);
    for (uint32_t i = 0; i < m.retry_count(qp); ++i, slot = m.retry_next(qp, slot)) {
      if (((flags_of(m, slot).linked() >> qp) & 1u) == 0) return out.add("retry queue ", qp, " holds slot ", slot);
    }
  }
}

/// What a slot's state says about the structures it stands in.
template <class Memory>
void states(const Memory& m, Findings& out) {
  for (uint32_t slot = 0; slot < Memory::Config::kSlots; ++slot) {
    const abi::SlotFlags f = flags_of(m, slot);
    const abi::SlotState state = f.state();
    const bool on_wire = state == abi::SlotState::sending || state == abi::SlotState::waiting;
    if (state == abi::SlotState::free && (f.placed() || f.armed())) out.add("free slot ", slot, " is not forgotten");
    if (state == abi::SlotState::waiting && !f.armed()) out.add("slot ", slot, " waits without a timer");
    if (state == abi::SlotState::retry && ((f.linked() >> unsigned{f.qp()}) & 1u) == 0)
      out.add("slot ", slot, " waits for a try in no queue of its QP");
    if (on_wire && f.expects() && !f.placed()) out.add("slot ", slot, " expects a response it cannot match");
    if (state == abi::SlotState::queued && f.placed()) out.add("queued slot ", slot, " is in the matcher");
  }
}

}  // namespace audit

template <class Bank>
void audit_bank(const Bank& bank, Findings& out) {
  audit::states(bank.memory(), out);
  audit::matcher(bank.memory(), out);
  audit::wheel(bank.memory(), out);
  audit::retry_queues(bank.memory(), out);
}

template <class Bank>
void bank_at_rest(const Bank& bank, Findings& out) {
  audit_bank(bank, out);
  for (uint32_t slot = 0; slot < std::decay_t<decltype(bank.memory())>::Config::kSlots; ++slot) {
    const abi::SlotFlags f = audit::flags_of(bank.memory(), slot);
    if (f.state() != abi::SlotState::free) out.add("slot ", slot, " is still ", name_of(f.state()));
    if (f.linked() != 0) out.add("slot ", slot, " is still in a retry queue");
  }
}

template <class Arbiter, class WireCredit>
void arbiter_at_rest(const Arbiter& arbiter, const WireCredit& wire_credit, Findings& out) {
  for (unsigned qp = 0; qp < 2; ++qp) {
    if (arbiter.memory().wire_credit(qp) != wire_credit[qp])
      out.add("QP", qp, " has ", arbiter.memory().wire_credit(qp), " of ", wire_credit[qp], " wire credits");
  }
  for (uint32_t number = 0; number < std::decay_t<decltype(arbiter.memory())>::Config::kLanes; ++number) {
    abi::LaneState lane;
    lane.w0 = arbiter.memory().lane_low(number);
    lane.w1 = arbiter.memory().lane_high(number);
    if (lane.in_use() != 0) out.add("lane ", number, " misses ", lane.in_use(), " window credits");
    if (lane.pending() != 0) out.add("lane ", number, " counts ", lane.pending(), " descriptors that nobody posted");
  }
}

template <class Engine, class WireCredit>
void engine_at_rest(const Engine& engine, const WireCredit& wire_credit, Findings& out) {
  for (uint32_t bank = 0; bank < Engine::kBanks; ++bank) bank_at_rest(engine.bank(bank), out);
  arbiter_at_rest(engine.arbiter(), wire_credit, out);
}

}  // namespace tidemill::test
