// SPDX-License-Identifier: Apache-2.0
/// The soft device: the HLS engine in this process. It makes progress inside progress(), on the caller's thread.
#pragma once
#include <vector>

#include "device/backend.hpp"
#include "device/doorbells.hpp"
#include "device/gid_digest.hpp"
#include "device/mpsc_ring.hpp"
#include "host/soft/engine.hpp"

namespace tidemill::device {

template <class BankConfig, unsigned BankBits>
class SoftDevice final : public Backend {
 public:
  static constexpr uint32_t kTickNs = 1024;
  static constexpr uint32_t kLanes = 65024;  ///< With the retry lanes still 16 bits.

  explicit SoftDevice(uint64_t seed)
      : seed_(seed),
        engine_(std::make_unique<Engine>(*this, typename Engine::Options{.seed = seed, .wire_credit = {0, 0}})),
        doorbells_(kLanes),
        commands_(4096),
        rings_(std::make_unique<Ring[]>(kLanes)) {}

  Capabilities capabilities() const override { return {Engine::kSlots, Engine::kBanks, kLanes, kTickNs}; }
  std::string kind() const override { return "soft"; }

  std::span<abi::Descriptor> ring(uint32_t lane, uint32_t entries) override {
    Ring& r = rings_[lane];
    if (r.entries != entries) {
      r.memory = std::make_unique<abi::Descriptor[]>(entries);
      r.entries = entries;
    }
    return {r.memory.get(), entries};
  }
  const std::atomic<uint32_t>& consumed(uint32_t lane) const override { return rings_[lane].consumed; }
  void doorbell(uint32_t lane, uint32_t producer) override { doorbells_.ring(lane, producer); }
  bool command(const abi::Command& c) override { return commands_.push(c); }
  void wire_credit(uint16_t smi, uint16_t gsi) override {
    engine_->add_wire_credit(false, smi);
    engine_->add_wire_credit(true, gsi);
  }
  uint32_t bank_of(uint64_t tid) const override { return engine_->bank_of(tid); }
  uint32_t digest(const Gid& gid) const override { return gid_digest(gid, seed_); }

  void attach(BackendSink& sink) override { runtime_ = &sink; }
  void gather() override {
    // Commands after the bells: a lane is open before its first descriptor is told of.
    doorbells_.collect([this](uint32_t lane, uint32_t producer) { rung_.push_back({lane, producer}); });
    for (abi::Command c; commands_.pop(c);) gathered_.push_back(c);
  }
  void take_commands(uint32_t now) override {
    for (const abi::Command& c : gathered_) execute(c, now);
    gathered_.clear();
  }
  void sent(const abi::Sent& s, uint32_t now) override { engine_->sent(s, now); }
  void received(const abi::Received& r, uint32_t now) override { engine_->received(r, now); }

  bool progress(uint32_t now) override {
    std::erase_if(rung_, [this](const Rung& r) { return tell(r); });
    const bool more = engine_->step(now);
    return more || !commands_.empty();
  }
  bool pending() const override { return doorbells_.any() || !commands_.empty(); }
  uint32_t wake(uint32_t now) const override { return engine_->wake(now); }
  uint64_t retried() const override { return engine_->counters().retried; }

  // Sink of the engine.
  void transmit(const abi::Transmit& t) { runtime_->transmit(t); }
  void complete(const abi::Completion& c) { runtime_->complete(c); }
  void drop(const abi::Action& a) { runtime_->drop(a.cause(), a.port(), a.buffer()); }

 private:
  using Engine = soft::Engine<BankConfig, BankBits, kLanes, SoftDevice>;
  struct Ring {
    std::unique_ptr<abi::Descriptor[]> memory;
    uint32_t entries = 0;
    uint32_t told = 0;  ///< Producer index the engine knows.
    std::atomic<uint32_t> consumed{0};
  };
  struct Rung {
    uint32_t lane, producer;
  };
  /// False if the lane is not open yet: another thread stands between claiming its place in the command ring, ahead of
  /// the lane's opening, and filling it. The bell is kept until that command is through.
  bool tell(const Rung& r) {
    Ring& ring = rings_[r.lane];
    for (uint32_t count = r.producer - ring.told; count != 0;) {
      const auto part = static_cast<uint16_t>(count < 0x8000u ? count : 0x8000u);
      if (!engine_->doorbell(r.lane, part)) return false;
      ring.told += part;
      count -= part;
    }
    return true;
  }
  void execute(const abi::Command& c, uint32_t now) {
    if (c.kind() == abi::CommandKind::open_lane) {
      Ring& r = rings_[c.lane()];
      engine_->set_ring(c.lane(), {r.memory.get(), r.entries}, &r.consumed);
    }
    engine_->command(c, now);
  }
  uint64_t seed_;
  BackendSink* runtime_ = nullptr;
  std::unique_ptr<Engine> engine_;
  Doorbells doorbells_;
  MpscRing<abi::Command> commands_;
  std::unique_ptr<Ring[]> rings_;
  // Taken in this pass and not told to the engine yet.
  std::vector<Rung> rung_;
  std::vector<abi::Command> gathered_;
};

}  // namespace tidemill::device
