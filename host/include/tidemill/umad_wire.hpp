// SPDX-License-Identifier: Apache-2.0
/// A wire through the kernel's own MAD layer (ib_umad, by the system's libibumad): QP0 and QP1 of a plain host, beside
/// its subnet manager and its kernel clients.
///
/// The engine keeps its timers and retries; the kernel is only told to wait long enough for each request's response.
/// What differs from other wires: the kernel puts its own number into the upper half of a request's TID, so the TID on
/// the wire is not the engine's (it is put back); *sent* means that the kernel took the MAD, it tells no more; it
/// delivers only the unsolicited MADs asked for in `served`; and transmit() blocks while it resolves a GID that is not
/// link-local.
///
/// In the library `tidemill_umad_wire`. Threads: as wire.hpp says; counters() may be read anywhere.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent.hpp"
#include "error.hpp"
#include "wire.hpp"

namespace tidemill {

struct UmadOptions {
  std::string device{};  ///< As `ibstat -l` lists it; empty: the first that has a port.
  uint8_t port = 1;
  std::vector<MadFilter> served{};  ///< Unsolicited MADs the kernel shall deliver; it gives each to one program only.
  /// How long the kernel knows of a request. A response that comes later is dropped there.
  Nanoseconds response_wait = std::chrono::seconds(20);
};

struct UmadCounters {
  std::atomic<uint64_t> sent{0}, received{0};
  std::atomic<uint64_t> send_errors{0};
  std::atomic<uint64_t> given_up{0};  ///< Requests of which the kernel has said that no response came.
  std::atomic<uint64_t> unknown{0};   ///< Responses to none of ours.
};

class UmadWire : public Wire {
 public:
  /// Errors name the device and the fix: no umad, no such port, no rights, a class another program has.
  static Result<std::unique_ptr<UmadWire>> open(UmadOptions options = {});
  /// Stay readable after the wire has gone.
  virtual std::shared_ptr<const UmadCounters> counters() const = 0;
};

}  // namespace tidemill
