// SPDX-License-Identifier: Apache-2.0
#include "device_tool/card_rig.hpp"

#include <chrono>

#include "device/card_setup.hpp"

namespace tidemill::device_tool {
namespace {

namespace reg = abi::reg;

constexpr uint32_t kPatienceTicks = 20'000;
constexpr auto kPatience = std::chrono::seconds(2);
/// Ticks a simulated card may go on in one turn.
constexpr uint32_t kStep = 16;

}  // namespace

bool reset_card(device::Card& card) {
  card.write(reg::reset, 1);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while ((card.read(reg::state) & 2u) != 0 || card.read(reg::reset) != 0)
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

CardRig::CardRig(device::Card& card, Sizes sizes)
    : card_(card), card_lanes_(card.read(reg::lanes)), lanes_(card_lanes_) {
  reset_card(card_);
  indices_ = card_.memory(device::index_bytes(card_lanes_));
  device::start_hash_and_indices(card_, kSeed, indices_->address());
  completion_ring_ =
      std::make_unique<device::IncomingRing<abi::Completion, 3>>(card_, abi::Ring::completion, sizes.completion_bits);
  transmit_ring_ =
      std::make_unique<device::IncomingRing<abi::Transmit, 0>>(card_, abi::Ring::transmit, sizes.transmit_bits);
  commands_ = std::make_unique<device::OutgoingRing<abi::Command>>(card_, abi::Ring::command, kHostBits,
                                                                   taken_by_card(abi::Ring::command));
  sents_ = std::make_unique<device::OutgoingRing<abi::Sent>>(card_, abi::Ring::sent, sizes.sent_bits,
                                                             taken_by_card(abi::Ring::sent));
  constexpr uint32_t kCredit = 4096;
  card_.write(reg::wire_credit, kCredit);
  card_.write(reg::wire_credit, 1u << 16 | kCredit);
  device::start_tick(card_);
}

CardRig::~CardRig() {
  // The memory goes with this: the card must be through with it.
  reset_card(card_);
}

void CardRig::collect() {
  indices_->from_card(0, device::index_bytes(card_lanes_));
  for (abi::Transmit t; transmit_ring_->take(t);) transmits_.push_back(t);
  for (abi::Completion c; completion_ring_->take(c);) completions_.push_back(c);
}

bool CardRig::until(const std::function<bool()>& done) {
  const uint32_t begin = read(reg::time);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    collect();
    if (done()) return true;
    const uint32_t now = read(reg::time);
    if (card_.failed() || now - begin > kPatienceTicks || std::chrono::steady_clock::now() > end) return false;
    commands_->flush();
    sents_->flush();
    card_.work(now + kStep);
  }
}

void CardRig::pass(uint32_t ticks) {
  const uint32_t begin = read(reg::time);
  until([&] { return read(reg::time) - begin >= ticks; });
}

void CardRig::command(const abi::Command& c) {
  commands_->put(c);
  commands_->flush();
  ++commands_told_;
}

void CardRig::open(uint16_t lane, unsigned bits) {
  lanes_[lane] = {card_.memory(sizeof(abi::Descriptor) << bits), 0, bits};
  abi::Command c;
  c.kind(abi::CommandKind::open_lane);
  c.lane(lane);
  c.weight(1);
  c.qp(true);
  c.ring_bits(static_cast<uint8_t>(bits));
  c.ring(lanes_[lane].memory->address());
  command(c);
}

void CardRig::weigh(uint16_t lane) {
  abi::Command c;
  c.kind(abi::CommandKind::weigh_lane);
  c.lane(lane);
  c.weight(2);
  c.qp(true);
  command(c);
}

abi::Descriptor CardRig::plain(uint16_t lane) {
  const uint32_t slot = next_slot_++;
  abi::Descriptor d;
  d.tid(uint64_t{1} << 32 | slot);
  d.slot(static_cast<uint16_t>(slot));
  d.agent(1);
  d.mgmt_class(0x04);
  d.lane(lane);
  d.port(1);
  d.qp(true);
  d.length(256);
  return d;
}

void CardRig::put(uint16_t lane, const abi::Descriptor& d) {
  Lane& l = lanes_[lane];
  reinterpret_cast<abi::Descriptor*>(l.memory->host())[l.producer++ & ((1u << l.bits) - 1u)] = d;
}

void CardRig::sent(const abi::Transmit& t) {
  abi::Sent s;
  s.slot(t.slot());
  s.generation(t.generation());
  sents_->put(s);
}

}  // namespace tidemill::device_tool
