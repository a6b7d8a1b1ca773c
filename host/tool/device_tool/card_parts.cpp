// SPDX-License-Identifier: Apache-2.0
#include "device_tool/card_parts.hpp"

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <set>
#include <span>

#include "device/card_counters.hpp"
#include "device/card_setup.hpp"
#include "device_tool/card_rig.hpp"

namespace tidemill::device_tool {
namespace {

namespace reg = abi::reg;
using abi::Counter;
using device::Card;

struct Writable {
  std::string name;
  uint32_t offset;
  uint32_t bits;
};

std::vector<Writable> writable_registers() {
  std::vector<Writable> all{{"hash_seed_low", reg::hash_seed_low, ~0u},
                            {"hash_seed_high", reg::hash_seed_high, ~0u},
                            {"interrupt_moderation", reg::interrupt_moderation, ~0u},
                            {"index_base_low", reg::index_base_low, ~63u},
                            {"index_base_high", reg::index_base_high, ~0u}};
  for (uint32_t r = 0; r < abi::kRingCount; ++r) {
    const std::string ring = abi::name_of(static_cast<abi::Ring>(r));
    all.push_back({"ring_base_low of ring " + ring, reg::ring_base_low + 0x20 * r, ~63u});
    all.push_back({"ring_base_high of ring " + ring, reg::ring_base_high + 0x20 * r, ~0u});
  }
  return all;
}

/// What has been written to the registers by way of trial never meets a card that runs.
struct ResetInTheEnd {
  Card& card;
  ~ResetInTheEnd() { reset_card(card); }
};

/// That the card has stopped with this value in register `failure`.
std::string stopped(Card& card, uint32_t failure) {
  const char* const name =
      failure < abi::kFailureCount ? abi::name_of(static_cast<abi::Failure>(failure)) : "unknown reason";
  return fmt::format("the card has stopped: {} at address {:#x}", name,
                     uint64_t{card.read(reg::failure_address_high)} << 32 | card.read(reg::failure_address_low));
}

/// What the card says of itself when it has stopped, to be put behind what was missed.
std::string trouble(Card& card) {
  if (const std::string why = card.removed(); !why.empty()) return fmt::format("; the card has gone: {}", why);
  const uint32_t failure = card.read(reg::failure);
  return failure == 0 ? std::string() : "; " + stopped(card, failure);
}

/// The tick, and between which times it was read: this process may be held up before and after.
struct TickReading {
  uint32_t tick;
  Nanoseconds after, before;
};

TickReading read_tick(Card& card) {
  const auto now = [&card] {
    return card.time().value_or(Nanoseconds(std::chrono::steady_clock::now().time_since_epoch()));
  };
  const Nanoseconds after = now();
  const uint32_t tick = card.read(reg::time);
  return {tick, after, now()};
}

constexpr double kTickNs = device::kTickNs;

/// How long ticks are, in ns, as far as two readings tell: each is of some time within a tick.
struct TickLength {
  TickLength() = default;
  TickLength(const TickReading& begin, const TickReading& end)
      : ticks(end.tick - begin.tick),
        shortest(static_cast<double>((end.after - begin.before).count())),
        longest(static_cast<double>((end.before - begin.after).count())) {}
  double least() const { return shortest / (ticks + 1.0); }
  double most() const { return longest / (ticks - 1.0); }
  double doubt() const { return most() - least(); }
  bool may_be_within(double ns) const { return least() <= kTickNs + ns && most() >= kTickNs - ns; }

  uint32_t ticks = 0;
  double shortest = 0, longest = 0;
};

/// How the transmit entries differ from the sends of one lane in their order.
Verdict compare(CardRig& rig, uint16_t lane, const std::vector<abi::Descriptor>& sends) {
  const auto& got = rig.transmits();
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (i == got.size())
      return fmt::format(
          "lane {}: {} of {} sends were transmitted, slot {} is missing ({} descriptors fetched, {} "
          "rejected by a bank){}",
          lane, got.size(), sends.size(), sends[i].slot(), rig.fetched(lane),
          rig.rejected(abi::Cause::stale_descriptor), trouble(rig.card()));
    if (got[i].slot() != sends[i].slot() || got[i].generation() != sends[i].generation())
      return fmt::format("lane {}: descriptor {} is slot {} generation {}, transmitted was slot {} generation {}", lane,
                         i, sends[i].slot(), sends[i].generation(), got[i].slot(), got[i].generation());
    if (got[i].port() != 1 || !got[i].qp() || got[i].tries() != 1)
      return fmt::format("lane {}: slot {} was transmitted as try {} on port {} QP{}, not as try 1 on port 1 QP1", lane,
                         got[i].slot(), got[i].tries(), got[i].port(), got[i].qp() ? 1 : 0);
  }
  if (got.size() > sends.size())
    return fmt::format("lane {}: {} sends were posted, {} transmitted", lane, sends.size(), got.size());
  return std::nullopt;
}

/// Posts `number` sends with one doorbell.
void post(CardRig& rig, uint16_t lane, unsigned number, std::vector<abi::Descriptor>& sends) {
  for (unsigned i = 0; i < number; ++i) {
    sends.push_back(rig.plain(lane));
    rig.put(lane, sends.back());
  }
  rig.ring(lane);
}

/// Every completion is of one of the sends, each of which has one.
Verdict compare_completions(CardRig& rig, const std::vector<abi::Descriptor>& sends) {
  std::set<uint32_t> open;
  for (const auto& d : sends) open.insert(d.slot());
  for (const abi::Completion& c : rig.completions()) {
    if (c.kind() != abi::CompletionKind::send || c.status() != abi::Status::success)
      return fmt::format("slot {} completed as {} with status {}", c.slot(), abi::name_of(c.kind()),
                         abi::name_of(c.status()));
    if (open.erase(c.slot()) == 0) return fmt::format("slot {} completed twice, or was never sent", c.slot());
  }
  if (!open.empty())
    return fmt::format("{} of {} completions did not come, first that of slot {}{}", open.size(), sends.size(),
                       *open.begin(), trouble(rig.card()));
  return std::nullopt;
}

}  // namespace

Verdict test_registers(Card& card, std::string& found) {
  if (const uint32_t magic = card.read(reg::magic); magic != abi::kMagicReset)
    return fmt::format("register magic is {:#010x}, not {:#010x}: no Tidemill card", magic, abi::kMagicReset);
  const uint32_t version = card.read(reg::version);
  if (version >> 16 != abi::kVersionMajor)
    return fmt::format(
        "register version says ABI {}.{}, this command speaks {}.{}: load a bitstream of the same major "
        "version",
        version >> 16, version & 0xffffu, abi::kVersionMajor, abi::kVersionMinor);
  const uint32_t slots = card.read(reg::slots), banks = card.read(reg::banks), lanes = card.read(reg::lanes),
                 khz = card.read(reg::clock_khz);
  if (!std::has_single_bit(slots) || slots > 65'536) return fmt::format("register slots says {}", slots);
  if (!std::has_single_bit(banks) || banks > slots) return fmt::format("register banks says {}", banks);
  if (lanes == 0 || lanes > 1024) return fmt::format("register lanes says {}", lanes);
  if (khz < 1'000 || khz > 1'000'000) return fmt::format("register clock_khz says {}", khz);

  // Addresses that are none go into the registers of a card that does nothing, and out again.
  if (!reset_card(card)) return "the card does not come out of reset" + trouble(card);
  const ResetInTheEnd reset_in_the_end{card};
  const auto registers = writable_registers();
  for (const uint32_t pattern : {0x00000000u, 0xffffffffu, 0xa5a5a5a5u, 0x5a5a5a5au, 0x12345678u}) {
    // All before any is read back, each with another value: two that are one would show.
    for (uint32_t i = 0; i < registers.size(); ++i)
      card.write(registers[i].offset, (pattern ^ (i << 8)) & registers[i].bits);
    for (uint32_t i = 0; i < registers.size(); ++i) {
      const uint32_t wrote = (pattern ^ (i << 8)) & registers[i].bits;
      if (const uint32_t got = card.read(registers[i].offset) & registers[i].bits; got != wrote)
        return fmt::format("register {} at {:#05x}: wrote {:#010x}, read {:#010x}", registers[i].name,
                           registers[i].offset, wrote, got);
    }
  }
  found = fmt::format("ABI {}.{}, {} slots in {} banks, {} lanes, {} MHz; {} registers read back", version >> 16,
                      version & 0xffffu, slots, banks, lanes, khz / 1000, registers.size());
  return std::nullopt;
}

Verdict test_reset(Card& card, std::string& found) {
  card.write(reg::hash_seed_low, 0xffffffff);
  card.write(reg::interrupt_moderation, 0xffffffff);
  const auto begin = std::chrono::steady_clock::now();
  if (!reset_card(card)) return "the card does not come out of reset" + trouble(card);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  if (card.read(reg::hash_seed_low) != 0 || card.read(reg::interrupt_moderation) != 0)
    return "registers keep their values over a reset";
  const device::CardCounters c = device::read_counters(card);
  if (c.failure != 0) return "after the reset " + stopped(card, c.failure);
  for (const auto& [name, counts] : {std::pair<const char*, std::span<const uint32_t>>{"count_dropped", c.dropped},
                                     {"count_rejected", c.rejected},
                                     {"count_completed", c.completed},
                                     {"count", c.counts}})
    for (std::size_t i = 0; i < counts.size(); ++i)
      // Banks have events of their own: the retry lanes open, the tick begins.
      if (counts[i] != 0 && (counts.data() != c.counts.data() || i != static_cast<std::size_t>(Counter::events)))
        return fmt::format("register {}[{}] is {} after a reset, not 0", name, i, counts[i]);
  found = fmt::format("done in {:.0f} us, counters at 0", took.count());
  return std::nullopt;
}

Verdict test_tick(Card& card, std::string& found) {
  CardRig rig(card, {});
  constexpr double kOff = 0.05 * kTickNs, kFine = 0.02 * kTickNs;
  constexpr uint32_t kTicks = 5000;
  constexpr unsigned kTries = 5;
  TickLength best;
  for (unsigned tries = 0; tries < kTries; ++tries) {
    const TickReading begin = read_tick(card);
    rig.pass(kTicks);
    const TickReading end = read_tick(card);
    const TickLength length(begin, end);
    if (length.ticks < kTicks)
      return fmt::format("the tick stands: {} ticks in {:.1f} ms{}", length.ticks, length.longest / 1e6, trouble(card));
    if (tries == 0 || length.doubt() < best.doubt()) best = length;
    if (best.doubt() < kFine && best.may_be_within(kOff)) break;
  }
  if (!best.may_be_within(kOff))
    return fmt::format("{} ticks in {:.3f} to {:.3f} ms: {:.1f} to {:.1f} ns each, not {:.0f}", best.ticks,
                       best.shortest / 1e6, best.longest / 1e6, best.least(), best.most(), kTickNs);
  found = best.doubt() < kFine ? fmt::format("{} ticks of {:.1f} ns", best.ticks, (best.least() + best.most()) / 2)
                               : fmt::format("{} ticks of {:.1f} to {:.1f} ns: this host is too busy to tell",
                                             best.ticks, best.least(), best.most());
  return std::nullopt;
}

Verdict test_command_ring(Card& card, std::string& found) {
  CardRig rig(card, {});
  rig.open(0);
  constexpr unsigned kBatches = 10, kBatch = 5;  // three laps and a bit
  for (unsigned b = 0; b < kBatches; ++b) {
    for (unsigned i = 0; i < kBatch; ++i) rig.weigh(0);
    if (!rig.until([&] { return rig.taken(abi::Ring::command) == rig.commands_told(); }))
      return fmt::format("{} commands were given, the card has taken {} (register ring_consumer: {}){}",
                         rig.commands_told(), rig.taken(abi::Ring::command),
                         rig.read(device::ring_register(reg::ring_consumer, abi::Ring::command)), trouble(card));
  }
  if (const uint32_t consumer = rig.read(device::ring_register(reg::ring_consumer, abi::Ring::command));
      consumer != rig.commands_told())
    return fmt::format("the index array says {} commands were taken, register ring_consumer {}", rig.commands_told(),
                       consumer);
  if (const uint32_t refused = rig.count(Counter::commands_refused); refused != 0)
    return fmt::format("{} of {} good commands were refused", refused, rig.commands_told());
  rig.weigh(1);  // closed
  if (!rig.until([&] { return rig.count(Counter::commands_refused) == 1; }))
    return "a command for a closed lane was not refused" + trouble(card);
  found = fmt::format("{} commands in a ring of {}, one of them refused as it should be", rig.commands_told(),
                      1u << CardRig::kHostBits);
  return std::nullopt;
}

Verdict test_doorbells(Card& card, std::string& found) {
  CardRig rig(card, {.completion_bits = 6, .transmit_bits = 8, .sent_bits = 4});
  const uint32_t lanes = card.read(reg::lanes);
  std::vector<uint16_t> chosen{0};
  for (uint32_t lane = 1; lane < lanes; lane *= 2) chosen.push_back(static_cast<uint16_t>(lane));
  if (chosen.back() != lanes - 1) chosen.push_back(static_cast<uint16_t>(lanes - 1));
  for (const uint16_t lane : chosen) {
    rig.open(lane);
    for (const unsigned number : {1u, 2u, 4u}) {
      std::vector<abi::Descriptor> sends;
      rig.transmits().clear();
      post(rig, lane, number, sends);
      const bool fetched =
          rig.until([&] { return rig.fetched(lane) == rig.posted(lane) && rig.transmits().size() >= number; });
      if (!fetched && rig.fetched(lane) != rig.posted(lane))
        return fmt::format("lane {}: a doorbell told of {} descriptors up to {}, the card has fetched up to {}{}", lane,
                           number, rig.posted(lane), rig.fetched(lane), trouble(card));
      if (auto wrong = compare(rig, lane, sends)) return wrong;
    }
  }
  rig.ring(0, rig.posted(0) + (1u << CardRig::kLaneBits) + 1);
  if (!rig.until([&] { return rig.count(Counter::doorbells_refused) == 1; }))
    return "a doorbell beyond the end of its ring was not refused" + trouble(card);
  found = fmt::format("{} lanes from 0 to {}; one beyond its ring refused as it should be", chosen.size(), lanes - 1);
  return std::nullopt;
}

Verdict test_send_ring(Card& card, std::string& found) {
  CardRig rig(card, {.completion_bits = 6, .transmit_bits = 8, .sent_bits = 4});
  rig.open(0);
  std::vector<abi::Descriptor> sends;
  constexpr unsigned kLaps = 3;
  while (sends.size() < kLaps << CardRig::kLaneBits) {
    post(rig, 0, 8, sends);
    rig.until([&] { return rig.transmits().size() >= sends.size() && rig.fetched(0) == rig.posted(0); });
    if (auto wrong = compare(rig, 0, sends)) return wrong;
  }
  found = fmt::format("{} laps of {} descriptors", kLaps, 1u << CardRig::kLaneBits);
  return std::nullopt;
}

Verdict test_card_rings(Card& card, std::string& found) {
  CardRig rig(card, {.completion_bits = 4, .transmit_bits = 4, .sent_bits = 4});
  rig.open(0);
  constexpr unsigned kLaps = 4, kBatch = 8;
  for (unsigned b = 0; b < (kLaps << 4) / kBatch; ++b) {
    std::vector<abi::Descriptor> sends;
    rig.transmits().clear();
    rig.completions().clear();
    post(rig, 0, kBatch, sends);
    rig.until([&] { return rig.transmits().size() >= kBatch; });
    if (auto wrong = compare(rig, 0, sends)) return "transmit ring: " + *wrong;
    for (const abi::Transmit& t : rig.transmits()) rig.sent(t);
    rig.until([&] { return rig.completions().size() >= kBatch; });
    if (auto wrong = compare_completions(rig, sends)) return "completion ring: " + *wrong;
  }
  found = fmt::format("{} laps of 16 transmit, sent and completion entries", kLaps);
  return std::nullopt;
}

Verdict test_completion_burst(Card& card, std::string& found) {
  constexpr unsigned kSends = 512, kBits = 10;
  CardRig rig(card, {.completion_bits = kBits, .transmit_bits = kBits, .sent_bits = kBits});
  rig.open(0, kBits);
  std::vector<abi::Descriptor> sends;
  post(rig, 0, kSends, sends);
  rig.until([&] { return rig.transmits().size() >= kSends; });
  if (auto wrong = compare(rig, 0, sends)) return "transmit entries: " + *wrong;
  for (const abi::Transmit& t : rig.transmits()) rig.sent(t);
  rig.flush_sent();
  rig.until([&] { return rig.completions().size() >= kSends; });
  if (auto wrong = compare_completions(rig, sends)) return "completion entries: " + *wrong;
  found = fmt::format("{} sends reported at once, {} completions", kSends, rig.completions().size());
  return std::nullopt;
}

}  // namespace tidemill::device_tool
