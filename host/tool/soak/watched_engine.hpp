// SPDX-License-Identifier: Apache-2.0
/// An engine with a scoreboard that sees everything going in and coming out.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "any_engine.hpp"
#include "tb/support/scoreboard.hpp"

namespace tidemill::soak {

class WatchedEngine final : private Sink {
 public:
  WatchedEngine(const Options& options, const EngineMaker& make, Sink& sink);

  uint32_t slots() const { return engine_->slots(); }
  uint32_t bank_of(uint64_t tid) const { return engine_->bank_of(tid); }
  const soft::EngineCounters& counters() const { return engine_->counters(); }
  uint32_t consumed(uint32_t lane) const { return engine_->consumed(lane); }
  uint32_t wake() const { return engine_->wake(now_); }

  // The host. A send counts as accepted when its descriptor stands in the ring.
  void set_ring(uint32_t lane, std::span<const abi::Descriptor> ring) { engine_->set_ring(lane, ring); }
  void accepted(const abi::Descriptor& d, uint32_t now);
  void doorbell(uint32_t lane, uint16_t count);
  bool command(const abi::Command& c, uint32_t now);
  void registered(uint32_t agent) { board_.registered(agent); }
  void closing(uint32_t agent) { board_.closing(agent); }
  void deregistered(uint32_t agent, uint32_t now) { board_.deregistered(agent, now); }

  // The wire.
  void sent(const abi::Sent& s, uint32_t now);
  void received(const abi::Received& r, uint32_t now);

  /// Lets the engine work at a tick; false if it still has something to do.
  bool settle(uint32_t now);
  /// Everything should be over: is it?
  void finish(uint32_t now);

  /// Rules that were broken, in order; the first is the one to look at.
  const std::vector<std::string>& violations() const { return violations_; }
  void violation(std::string text);

 private:
  void transmit(const abi::Transmit& t) override;
  void complete(const abi::Completion& c) override;
  void drop(const abi::Action& a) override;

  Sink& sink_;
  test::Scoreboard board_;
  std::unique_ptr<AnyEngine> engine_;
  std::vector<std::string> violations_;
  uint32_t now_ = 0;
  uint32_t settled_ = 0;
};

}  // namespace tidemill::soak
