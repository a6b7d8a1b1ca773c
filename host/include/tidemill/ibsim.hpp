// SPDX-License-Identifier: Apache-2.0
/// A place on a fabric simulated by ibsim (Debian: ibsim-utils): one port of one of its nodes. Speaks ibsim's datagrams
/// itself; no preloaded library.
///
/// Threads: any; the wire is its port's. A query waits for ibsim's answer, at most two seconds.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "error.hpp"
#include "wire.hpp"

namespace tidemill {

struct IbsimOptions {
  /// ibsim's IBSIM_SOCKNAME.
  std::string socket = "sim";
  /// Node description as the net file has it; empty: ibsim takes its first.
  std::string host{};
  /// Receives unsolicited MADs from the start; else from listen() or set_issm(true) on. ibsim gives those of a port to the
  /// first of its clients that wants any, whatever their class.
  bool unsolicited = false;

  /// IBSIM_SOCKNAME, SIM_HOST and SIM_SET_ISSM.
  static IbsimOptions from_environment();
};

struct IbsimCounters {
  uint64_t sent = 0, received = 0;
  uint64_t returned = 0;  ///< Own requests that ibsim gave back: no route, nobody there, or lost on purpose.
  uint64_t waited = 0;    ///< Sends that found ibsim's queue full and went later.
};

class Ibsim {
 public:
  /// An attribute's 64 bytes of data, as in the MAD. IBA 14.2.5.
  using Attribute = std::array<std::byte, 64>;

  static Result<Ibsim> connect(const IbsimOptions& options);
  Ibsim(Ibsim&&) noexcept;
  Ibsim& operator=(Ibsim&&) noexcept;
  ~Ibsim();

  /// The port's wire; once. If ibsim ends, it reports device_removed.
  Result<std::unique_ptr<Wire>> wire();

  Result<Attribute> node_info() const;
  /// `port` 0: the one this is.
  Result<Attribute> port_info(unsigned port = 0) const;
  /// 32 P_Keys, each in network order.
  Result<Attribute> pkeys() const;
  /// From now on unsolicited MADs come to the wire, over a connection more of ibsim's ten. Does nothing the second time.
  Error listen();
  /// Sets the port's IsSM capability and sends unsolicited MADs here.
  Errc set_issm(bool on);
  IbsimCounters counters() const;

 private:
  struct State;
  explicit Ibsim(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemill
