// SPDX-License-Identifier: Apache-2.0
#include "device/card_device.hpp"

#include <algorithm>

#include "device/card_setup.hpp"
#include "device/gid_digest.hpp"
#include "fmt/format.h"
#include "hls/tid_hash.hpp"

namespace tidemill::device {
namespace {

constexpr unsigned kHostRingBits = 12;  ///< Entries of the rings host to card; what is more waits in the host.

/// What a slot and a lane are numbered with (docs/abi.md).
constexpr uint32_t kMostSlots = 65'536, kMostLanes = 1024;

/// Enough for one entry per slot, receive buffer (32,768 of each QP, on a few ports) and agent.
constexpr unsigned kCompletionBits = 19;

/// A card of this ABI but of other dimensions than this runtime was built for.
std::optional<Error> unfit(const std::string& kind, const Capabilities& c) {
  const auto not_within = [&](const char* what, uint32_t has, uint32_t most) {
    return Error{Errc::device_failed, fmt::format("{}: the card has {} {}, this runtime takes 1 to {}: load a bitstream of its version", kind, has, what, most)};
  };
  if (c.slots == 0 || c.slots > kMostSlots) return not_within("slots", c.slots, kMostSlots);
  if (c.lanes == 0 || c.lanes > kMostLanes) return not_within("lanes", c.lanes, kMostLanes);
  if (!std::has_single_bit(c.banks) || c.banks > c.slots)
    return Error{Errc::device_failed, fmt::format("{}: the card has {} banks for {} slots, this runtime takes a power of two up to the slots: load a "
                                                  "bitstream of its version", kind, c.banks, c.slots)};
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Backend>> CardDevice::open(std::unique_ptr<Card> card, uint64_t seed) {
  if (const uint32_t magic = card->read(abi::reg::magic); magic != abi::kMagicReset)
    return Error{Errc::device_failed, fmt::format("{}: the device is no Tidemill card: register magic is {:#010x}, not {:#010x}",
                                                  card->kind(), magic, abi::kMagicReset)};
  const uint32_t version = card->read(abi::reg::version);
  if (version >> 16 != abi::kVersionMajor)
    return Error{Errc::device_failed, fmt::format("{}: the card speaks ABI {}.{}, this runtime {}.{}: load a bitstream of the same major version",
                                                  card->kind(), version >> 16, version & 0xffffu, abi::kVersionMajor, abi::kVersionMinor)};
  card->write(abi::reg::reset, 1);
  for (unsigned tries = 0; (card->read(abi::reg::state) & 2u) != 0; ++tries)
    if (tries > 100'000) return Error{Errc::device_failed, fmt::format("{}: the card does not come out of reset", card->kind())};
  const Capabilities capabilities{.slots = card->read(abi::reg::slots),
                                  .banks = card->read(abi::reg::banks),
                                  .lanes = card->read(abi::reg::lanes),
                                  .tick_ns = kTickNs};
  if (auto wrong = unfit(card->kind(), capabilities)) return *wrong;
  return std::unique_ptr<Backend>(new CardDevice(std::move(card), seed, capabilities));
}

CardDevice::CardDevice(std::unique_ptr<Card> card, uint64_t seed, const Capabilities& capabilities)
    : card_(std::move(card)),
      seed_(seed),
      capabilities_(capabilities),
      bank_bits_(static_cast<unsigned>(std::countr_zero(capabilities.banks))),
      doorbells_(capabilities.lanes),
      commands_(4096),
      rings_(std::make_unique<SendRing[]>(capabilities.lanes)),
      index_memory_(card_->memory(index_bytes(capabilities.lanes))) {
  start_hash_and_indices(*card_, seed, index_memory_->address());
  const auto slot_bits = static_cast<unsigned>(std::bit_width(capabilities.slots - 1));
  completion_ring_ = std::make_unique<IncomingRing<abi::Completion, 3>>(*card_, abi::Ring::completion, kCompletionBits);
  transmit_ring_ = std::make_unique<IncomingRing<abi::Transmit, 0>>(*card_, abi::Ring::transmit, slot_bits);
  command_ring_ = std::make_unique<OutgoingRing<abi::Command>>(*card_, abi::Ring::command, kHostRingBits, taken(abi::Ring::command));
  sent_ring_ = std::make_unique<OutgoingRing<abi::Sent>>(*card_, abi::Ring::sent, kHostRingBits, taken(abi::Ring::sent));
  received_rings_[0] = std::make_unique<OutgoingRing<abi::Received>>(*card_, abi::Ring::received_smi, kHostRingBits, taken(abi::Ring::received_smi));
  received_rings_[1] = std::make_unique<OutgoingRing<abi::Received>>(*card_, abi::Ring::received_gsi, kHostRingBits, taken(abi::Ring::received_gsi));
  start_tick(*card_);
}

CardDevice::~CardDevice() {
  // The memory goes with this: the card must be through with it.
  card_->write(abi::reg::reset, 1);
  for (unsigned tries = 0; (card_->read(abi::reg::state) & 2u) != 0 && tries < 100'000; ++tries) continue;
}

std::span<abi::Descriptor> CardDevice::ring(uint32_t lane, uint32_t entries) {
  const std::lock_guard lock(rings_mutex_);
  SendRing& r = rings_[lane];
  if (r.entries != entries) {
    r.memory = card_->memory(entries * sizeof(abi::Descriptor));
    r.entries = entries;
  }
  return {reinterpret_cast<abi::Descriptor*>(r.memory->host()), entries};
}

void CardDevice::wire_credit(uint16_t smi, uint16_t gsi) {
  card_->write(abi::reg::wire_credit, smi);
  card_->write(abi::reg::wire_credit, 1u << 16 | gsi);
}

uint32_t CardDevice::bank_of(uint64_t tid) const { return hls::bank_of(hls::tid_hash(tid, seed_), bank_bits_); }

uint32_t CardDevice::digest(const Gid& gid) const { return gid_digest(gid, seed_); }

void CardDevice::take_commands(uint32_t) {
  for (abi::Command c; commands_.pop(c);) {
    if (c.kind() == abi::CommandKind::open_lane) {
      const std::lock_guard lock(rings_mutex_);
      SendRing& r = rings_[c.lane()];
      c.ring(r.memory->address());
      c.ring_bits(static_cast<uint8_t>(std::bit_width(r.entries - 1)));
      r.told = indices()[c.lane()].load(std::memory_order_relaxed);  // where its first send will stand
    }
    command_ring_->put(c);
  }
  // Between: what was posted before a command is in its lane before the card hears of the command. A lane that is closed
  // first would leave the rest of its sends behind.
  doorbells_.collect([this](uint32_t lane, uint32_t producer) {
    if (!card_->shares_memory()) posted_to_card(lane, producer);
    card_->write(abi::reg::lane_doorbell + 4 * lane, producer);
  });
  command_ring_->flush();
}

void CardDevice::posted_to_card(uint32_t lane, uint32_t producer) {
  const std::lock_guard lock(rings_mutex_);
  SendRing& r = rings_[lane];
  ring_to_card(*r.memory, r.told, producer, r.entries, sizeof(abi::Descriptor));
  r.told = producer;
}

void CardDevice::sent(const abi::Sent& s, uint32_t) { sent_ring_->put(s); }
void CardDevice::received(const abi::Received& r, uint32_t) { received_rings_[r.qp() ? 1 : 0]->put(r); }

bool CardDevice::progress(uint32_t now) {
  if (failed_) return false;
  index_memory_->from_card(0, index_bytes(capabilities_.lanes));
  take_commands(now);
  sent_ring_->flush();
  for (const auto& ring : received_rings_) ring->flush();
  bool more = card_->work(now);
  more |= collect();
  if (card_->failed()) fail();
  more |= sent_ring_->waiting() || command_ring_->waiting() || received_rings_[0]->waiting() || received_rings_[1]->waiting();
  more_.store(more, std::memory_order_relaxed);
  return more;
}

bool CardDevice::collect() {
  bool any = false;
  for (abi::Transmit t; transmit_ring_->take(t); any = true) {
    if (t.tries() > 1) ++retried_;
    runtime_->transmit(t);
  }
  for (abi::Completion c; completion_ring_->take(c); any = true) handle(c);
  return any;
}

void CardDevice::fail() {
  static constexpr const char* kReasons[abi::kFailureCount] = {"no reason", "a read of host memory failed", "a write of host memory failed",
                                                               "host memory does not answer"};
  if (const std::string why = card_->removed(); !why.empty()) {
    failed_ = true;
    more_.store(false, std::memory_order_relaxed);
    runtime_->failed(fmt::format("{}: the card has gone: {}", card_->kind(), why));
    return;
  }
  const uint32_t reason = card_->read(abi::reg::failure);
  const uint64_t address = uint64_t{card_->read(abi::reg::failure_address_high)} << 32 | card_->read(abi::reg::failure_address_low);
  failed_ = true;
  more_.store(false, std::memory_order_relaxed);
  runtime_->failed(fmt::format("{}: the card has stopped: {} (address {:#x})", card_->kind(),
                               reason < abi::kFailureCount ? kReasons[reason] : "unknown reason", address));
}

void CardDevice::handle(const abi::Completion& c) {
  if (c.kind() == abi::CompletionKind::dropped)
    runtime_->drop(c.cause(), c.port(), c.buffer());
  else
    runtime_->complete(c);
}

uint32_t CardDevice::wake(uint32_t now) const {
  // A card with a life of its own says by interrupt when it has something.
  return card_->wake(now).value_or(now + (1u << 30));
}

}  // namespace tidemill::device
