// SPDX-License-Identifier: Apache-2.0
/// The wire contract: what carries MADs for a port. The engine decides what is sent and when; the wire transmits,
/// reports each try once, and hands received MADs over.
///
/// All calls of a wire come from the one thread that makes progress on its port. A wire never calls back except into
/// the WireSink given to poll().
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "address.hpp"
#include "clock.hpp"
#include "mad.hpp"

namespace tidemill {

/// One try. The bytes stay where they are, unchanged, until the wire has reported it: no copy is needed.
struct WireSend {
  uint64_t token = 0;  ///< Comes back with the report.
  Qp qp = Qp::gsi;
  Address to;
  std::span<const std::byte> mad;
};

enum class WireStatus : uint8_t {
  sent,     ///< It has left.
  error,    ///< This try failed; `vendor` says why.
  flushed,  ///< Never tried: the queue pair failed before its turn.
};

enum class PortEvent : uint8_t {
  wire_lost,        ///< Nothing can be sent or received for now.
  wire_back,        ///< It works again.
  address_changed,  ///< LID, GID or P_Key table.
  device_removed,   ///< For good: outstanding sends complete as flushed.
};

/// What the wire knows of a received MAD besides its bytes.
struct WireReceived {
  Qp qp = Qp::gsi;
  Address from;  ///< `path_bits` and `grh->gid_index` are those of the destination: our own.
  std::span<const std::byte> mad;
};

/// Where poll() reports.
class WireSink {
 public:
  /// `recovery`: with flushed, the number (1 to 255, cyclic) of the recovery the queue pair made; 0 if it did not
  /// recover.
  virtual void sent(uint64_t token, WireStatus status, uint8_t vendor = 0, uint8_t recovery = 0) = 0;
  /// Copies the MAD into a receive buffer. False if none is free: the wire keeps the MAD or drops it, as its kind does.
  virtual bool received(const WireReceived& mad) = 0;
  virtual void event(PortEvent event) = 0;

 protected:
  ~WireSink() = default;
};

struct WireAttributes {
  uint16_t lid = 1;
  uint8_t lmc = 0;
  bool has_smi = true;
  bool has_gsi = true;
  /// Tries on the wire at a time, by QP: the depth of the send queue. 1 to 65,535.
  std::array<uint16_t, 2> send_depth{128, 128};
  uint64_t port_guid = 0;
  /// False: global routes are left out when sending, and nothing arrives with one.
  bool carries_grh = true;
};

class Wire {
 public:
  virtual ~Wire() = default;
  virtual WireAttributes attributes() const = 0;
  /// Where the bytes of every try will lie, told once before the first transmit(), so that a wire whose hardware reads them
  /// can register it; it outlives the wire. A wire that is never told takes every try's bytes from anywhere.
  virtual void memory(std::span<const std::byte> region) { (void)region; }
  /// Takes a try; never blocks. The runtime keeps to `send_depth`.
  virtual void transmit(const WireSend& send) = 0;
  /// Gives up every try not reported yet: reports each as flushed at the next poll() and reads its bytes no more.
  /// Called when the runtime must finish while the wire is lost or has said nothing for two seconds. A wire whose
  /// reports never stay out need do nothing.
  virtual void abandon() {}
  /// Reports what has happened since. Returns true if it reported anything.
  virtual bool poll(WireSink& sink) = 0;
  /// When poll() will next have something for sure; nothing if only the outside world knows. Asked after the last poll()
  /// before a sleep: a wire whose descriptor costs something to arm does it here.
  virtual std::optional<Nanoseconds> next_event() const { return std::nullopt; }
  /// Readable when poll() has something that it had not when next_event() was asked last; -1 if the wire has none: then it is asked every millisecond.
  virtual int event_fd() const { return -1; }
};

}  // namespace tidemill
