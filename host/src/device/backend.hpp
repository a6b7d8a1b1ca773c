// SPDX-License-Identifier: Apache-2.0
/// The device contract as the runtime sees it: send rings with doorbells, a command ring, the completion ring, and the
/// rings of the host wire. One implementation for each kind of device.
///
/// Threads: doorbell(), command(), consumed() from any thread; the rest from the one that makes progress.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/card_counters.hpp"
#include "tidemill/abi.hpp"
#include "tidemill/device.hpp"

namespace tidemill::device {

struct Capabilities {
  uint32_t slots = 0;   ///< At most 65,536.
  uint32_t banks = 0;   ///< A power of two; a slot's low bits are its bank.
  uint32_t lanes = 0;   ///< Lanes the host may open.
  uint32_t tick_ns = 0;
};

/// What a device tells the runtime, inside sent(), received() and progress(). An implementation must not call the
/// device back.
class BackendSink {
 public:
  virtual void transmit(const abi::Transmit& t) = 0;
  virtual void complete(const abi::Completion& c) = 0;
  /// A received MAD that went nowhere; its buffer is free again.
  virtual void drop(abi::Cause cause, unsigned port, uint16_t buffer) = 0;
  /// The device has stopped for good: it completes nothing any more.
  virtual void failed(const std::string& why) = 0;

 protected:
  ~BackendSink() = default;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Capabilities capabilities() const = 0;
  virtual std::string kind() const = 0;

  /// Memory of a lane's send ring, of `entries` (a power of two); kept until the lane gets another size.
  virtual std::span<abi::Descriptor> ring(uint32_t lane, uint32_t entries) = 0;
  /// Descriptors the device has fetched from the lane, modulo 2^32; up to there entries may be written again.
  virtual const std::atomic<uint32_t>& consumed(uint32_t lane) const = 0;
  /// Descriptors up to `producer` stand in the ring.
  virtual void doorbell(uint32_t lane, uint32_t producer) = 0;
  /// False if the command ring is full.
  virtual bool command(const abi::Command& c) = 0;
  /// Wire credit of both QPs over all ports, before the first send.
  virtual void wire_credit(uint16_t smi, uint16_t gsi) = 0;
  /// The bank of a TID: a send that expects a response must have a slot of this bank.
  virtual uint32_t bank_of(uint64_t tid) const = 0;
  /// Digest of a GID, for the peer field of descriptors and received headers.
  virtual uint32_t digest(const Gid& gid) const = 0;

  /// Where it reports; before anything else.
  virtual void attach(BackendSink& sink) = 0;
  /// Gathers what was posted so far, in each pass before the clock is read: no timer counts from a tick older than its
  /// post. A device that keeps time itself reads its clock when a command reaches it, and need do nothing.
  virtual void gather() {}
  /// Takes the gathered commands. Called before the host wire's reports, so that a cancel that has returned is known
  /// before a response that came after it.
  virtual void take_commands(uint32_t now) = 0;
  /// The host wire's reports. `now` is the current tick, as in progress().
  virtual void sent(const abi::Sent& s, uint32_t now) = 0;
  virtual void received(const abi::Received& r, uint32_t now) = 0;
  /// Reports to the sink what there is. Returns true if more is waiting already.
  virtual bool progress(uint32_t now) = 0;
  /// Something was posted that progress() has not seen. Any thread.
  virtual bool pending() const = 0;
  /// First tick at which progress() has timer work.
  virtual uint32_t wake(uint32_t now) const = 0;
  /// progress() is due again within this time, whatever else there is; nothing if wake() says it all.
  virtual std::optional<Nanoseconds> look_within() const { return std::nullopt; }
  /// Readable when progress() is due; -1 if there is no such descriptor. The same one always.
  virtual int event_fd() const { return -1; }
  /// Retries queued since opening.
  virtual uint64_t retried() const = 0;
  /// Device::counter().
  virtual uint64_t counter(std::string_view) const { return 0; }
  /// What a card has counted in its registers; nothing of a device without, or of a card that has gone. From the one that
  /// makes progress.
  virtual std::optional<CardCounters> card_counters() { return std::nullopt; }
  /// Time that has passed on a device that makes its own, since opening: a virtual clock keeps up with it.
  virtual std::optional<Nanoseconds> time() const { return std::nullopt; }
};

/// The device a URI names.
Result<std::unique_ptr<Backend>> open_backend(std::string_view uri, bool virtual_clock);

}  // namespace tidemill::device
