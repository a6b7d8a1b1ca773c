// SPDX-License-Identifier: Apache-2.0
/// A driver of the platform that does as it is told, right or wrong: rings, doorbells and registers by hand.
#pragma once
#include <memory>
#include <vector>

#include "device/card_ring.hpp"
#include "hls/tid_hash.hpp"
#include "sim/platform.hpp"
#include "tidemill/abi.hpp"

namespace tidemill::test {

class Bench {
 public:
  static constexpr uint64_t kSeed = 0x5eed;
  static constexpr unsigned kBits = 8, kLaneBits = 6;
  static constexpr uint32_t kIdle = 200'000;  ///< Cycles within which everything ends.

  explicit Bench(sim::Options options = {}) : platform_(std::move(options)), card_(platform_) { set_up(); }

  /// As after a reset.
  void set_up(unsigned ring_bits = 17) {
    platform_.write_register(abi::reg::hash_seed_low, static_cast<uint32_t>(kSeed));
    platform_.write_register(abi::reg::hash_seed_high, static_cast<uint32_t>(kSeed >> 32));
    indices_ = platform_.memory().allocate((1024 + 16) * 4);
    platform_.write_register(abi::reg::index_base_low, static_cast<uint32_t>(indices_->address()));
    platform_.write_register(abi::reg::index_base_high, static_cast<uint32_t>(indices_->address() >> 32));
    completions_ = std::make_unique<device::IncomingRing<abi::Completion, 3>>(card_, abi::Ring::completion, ring_bits);
    transmits_ = std::make_unique<device::IncomingRing<abi::Transmit, 0>>(card_, abi::Ring::transmit, 16);
    const auto& index = [this](abi::Ring r) -> const std::atomic<uint32_t>& {
      return reinterpret_cast<const std::atomic<uint32_t>*>(indices_->host())[1024 + static_cast<unsigned>(r)];
    };
    commands_ = std::make_unique<device::OutgoingRing<abi::Command>>(card_, abi::Ring::command, kBits, index(abi::Ring::command));
    sents_ = std::make_unique<device::OutgoingRing<abi::Sent>>(card_, abi::Ring::sent, kBits, index(abi::Ring::sent));
    headers_ = std::make_unique<device::OutgoingRing<abi::Received>>(card_, abi::Ring::received_gsi, kBits, index(abi::Ring::received_gsi));
    platform_.write_register(abi::reg::wire_credit, 64);
    platform_.write_register(abi::reg::wire_credit, 1u << 16 | 64u);
    platform_.write_register(abi::reg::tick_increment, 1u << 24);
    settle();
  }
  void reset() {
    platform_.write_register(abi::reg::reset, 1);
    while ((read(abi::reg::state) & 2u) != 0) continue;
    lanes_.clear();
  }

  /// Runs until nothing moves; false if that takes too long.
  bool settle(uint32_t cycles = kIdle) {
    const uint64_t end = platform_.cycles() + cycles;
    do platform_.run(64, 64);
    while (!platform_.quiet() && platform_.cycles() < end);
    return platform_.quiet();
  }
  uint32_t read(uint32_t offset) { return platform_.read_register(offset); }
  uint32_t count(abi::Counter c) { return read(abi::reg::count + 4 * static_cast<uint32_t>(c)); }
  uint32_t rejected(abi::Cause c) { return read(abi::reg::count_rejected + 4 * static_cast<uint32_t>(c)); }

  abi::Command lane_command(abi::CommandKind kind, uint16_t lane, unsigned bits = kLaneBits) {
    abi::Command c;
    c.kind(kind);
    c.lane(lane);
    c.weight(1);
    c.qp(true);
    c.ring_bits(static_cast<uint8_t>(bits));
    if (kind == abi::CommandKind::open_lane) {
      if (lanes_.size() <= lane) lanes_.resize(lane + 1u);
      lanes_[lane] = {platform_.memory().allocate(sizeof(abi::Descriptor) << bits), 0, bits};
      c.ring(lanes_[lane].memory->address());
    }
    return c;
  }
  void command(const abi::Command& c) {
    commands_->put(c);
    commands_->flush();
  }
  void open(uint16_t lane, unsigned bits = kLaneBits) { command(lane_command(abi::CommandKind::open_lane, lane, bits)); }

  /// A request whose slot is in the bank of its TID; `timeout` in ticks.
  abi::Descriptor request(uint32_t agent, uint32_t number, uint16_t slot_above, uint32_t timeout = 10'000) const {
    abi::Descriptor d;
    d.tid(uint64_t{agent} << 32 | number);
    d.slot(static_cast<uint16_t>(slot_above << 3 | bank(d.tid())));
    d.agent(agent);
    d.mgmt_class(0x04);
    d.timeout(timeout);
    d.port(1);
    d.qp(true);
    d.length(256);
    return d;
  }
  static uint32_t bank(uint64_t tid) { return hls::bank_of(hls::tid_hash(tid, kSeed), 3); }
  /// Into the lane's ring, without a doorbell.
  void put(uint16_t lane, const abi::Descriptor& d) {
    Lane& l = lanes_[lane];
    reinterpret_cast<abi::Descriptor*>(l.memory->host())[l.producer++ & ((1u << l.bits) - 1u)] = d;
  }
  void ring(uint16_t lane) { ring(lane, lanes_[lane].producer); }
  void ring(uint16_t lane, uint32_t producer) { platform_.write_register(abi::reg::lane_doorbell + 4u * lane, producer); }
  void post(uint16_t lane, const abi::Descriptor& d) {
    put(lane, d);
    ring(lane);
  }
  void sent(const abi::Transmit& t) {
    abi::Sent s;
    s.slot(t.slot());
    s.generation(t.generation());
    sents_->put(s);
    sents_->flush();
  }
  void answer(const abi::Descriptor& d, uint16_t buffer = 0) {
    abi::Received r;
    r.tid(d.tid());
    r.buffer(buffer);
    r.mgmt_class(d.mgmt_class());
    r.method(0x81);
    r.port(d.port());
    r.qp(true);
    r.response(true);
    headers_->put(r);
    headers_->flush();
  }
  std::vector<abi::Transmit> transmits() {
    std::vector<abi::Transmit> all;
    for (abi::Transmit t; transmits_->take(t);) all.push_back(t);
    return all;
  }
  std::vector<abi::Completion> completions() {
    std::vector<abi::Completion> all;
    for (abi::Completion c; completions_->take(c);) all.push_back(c);
    return all;
  }
  void flush_rings() {
    commands_->flush();
    sents_->flush();
    headers_->flush();
  }
  sim::Platform& platform() { return platform_; }

 private:
  /// Of a Card only what the rings use.
  class Registers final : public device::Card {
   public:
    explicit Registers(sim::Platform& platform) : platform_(platform) {}
    std::string kind() const override { return "bench"; }
    uint32_t read(uint32_t offset) override { return platform_.read_register(offset); }
    void write(uint32_t offset, uint32_t value) override { platform_.write_register(offset, value); }
    std::unique_ptr<device::CardMemory> memory(std::size_t bytes) override { return platform_.memory().allocate(bytes); }
    bool work(uint32_t) override { return false; }
    std::optional<uint32_t> wake(uint32_t) const override { return std::nullopt; }
    std::optional<Nanoseconds> time() const override { return std::nullopt; }
    bool failed() override { return platform_.failed(); }

   private:
    sim::Platform& platform_;
  };
  struct Lane {
    std::unique_ptr<device::CardMemory> memory;
    uint32_t producer = 0;
    unsigned bits = kLaneBits;
  };
  sim::Platform platform_;
  Registers card_;
  std::vector<Lane> lanes_;
  std::unique_ptr<device::CardMemory> indices_;
  std::unique_ptr<device::IncomingRing<abi::Completion, 3>> completions_;
  std::unique_ptr<device::IncomingRing<abi::Transmit, 0>> transmits_;
  std::unique_ptr<device::OutgoingRing<abi::Command>> commands_;
  std::unique_ptr<device::OutgoingRing<abi::Sent>> sents_;
  std::unique_ptr<device::OutgoingRing<abi::Received>> headers_;
};

}  // namespace tidemill::test
