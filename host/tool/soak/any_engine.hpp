// SPDX-License-Identifier: Apache-2.0
/// The soft engine behind an interface, so that the run is compiled once for engines of all sizes, and so that a test
/// can put something faulty in its place.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/soft/engine.hpp"
#include "options.hpp"

namespace tidemill::soak {

/// What an engine talks to. It must not call back.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void transmit(const abi::Transmit& t) = 0;
  virtual void complete(const abi::Completion& c) = 0;
  virtual void drop(const abi::Action& a) = 0;
};

/// Tries on the wire at a time, of each QP.
inline constexpr uint16_t kWireCredit = 128;
/// Lanes the host may open.
inline constexpr uint32_t kLanes = kMaxAgents * 2;

/// See soft::Engine for what the functions do.
class AnyEngine {
 public:
  virtual ~AnyEngine() = default;
  virtual uint32_t slots() const = 0;
  virtual uint32_t bank_of(uint64_t tid) const = 0;
  virtual void set_ring(uint32_t lane, std::span<const abi::Descriptor> ring) = 0;
  virtual bool doorbell(uint32_t lane, uint16_t count) = 0;
  virtual uint32_t consumed(uint32_t lane) const = 0;
  virtual bool command(const abi::Command& c, uint32_t now) = 0;
  virtual void sent(const abi::Sent& s, uint32_t now) = 0;
  virtual void received(const abi::Received& r, uint32_t now) = 0;
  virtual bool step(uint32_t now, unsigned budget) = 0;
  virtual uint32_t wake(uint32_t now) const = 0;
  virtual const soft::EngineCounters& counters() const = 0;
  /// What is not as it must be once every send has completed: slots in use, credits abroad.
  virtual std::vector<std::string> left_over() const = 0;
};

using EngineMaker = std::function<std::unique_ptr<AnyEngine>(const Options& options, Sink& sink)>;

/// The soft engine in the size that the options ask for.
std::unique_ptr<AnyEngine> make_soft_engine(const Options& options, Sink& sink);

}  // namespace tidemill::soak
