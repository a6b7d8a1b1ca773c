// SPDX-License-Identifier: Apache-2.0
/// What a process has behind its umad calls: a place on a fabric, a device, a port. Opened by the first call that needs
/// it, from the environment:
///
///   TIDEMILL_DEVICE  device URI, by default soft:
///   TIDEMILL_WIRE    ibsim: (by default), a node of a simulated fabric; IBSIM_SOCKNAME and SIM_HOST say which
///
///   TIDEMILL_TRACE   a prefix: at the end <prefix>.json (timeline) and <prefix>.pcapng (every MAD) are written
///
///   TIDEMILL_STATS   a file: at the end the counts of the port and its agents as JSON
///   TIDEMILL_METRICS a file: once a second everything counted (Device::metrics())
///
/// Threads: any.
#pragma once
#include <memory>
#include <string>

#include "tidemill.hpp"

namespace tidemill::umad {

/// The attributes that sysfs would show of a real adapter; IBA 14.2.5.
struct Adapter {
  static constexpr char kName[] = "tidemill0";

  uint8_t node_type = 1;  ///< 1 channel adapter, 2 switch.
  unsigned ports = 1;     ///< A switch manages itself through port 0 and counts none here.
  unsigned port = 1;      ///< The one whose wire this is.
  uint64_t node_guid = 0, system_guid = 0;
  uint32_t vendor_id = 0, hardware = 0;
};

class Session {
 public:
  /// The process's session; null, with a line on stderr, if it cannot be opened. A forked child opens its own.
  static Session* get();

  const Adapter& adapter() const { return adapter_; }
  Ibsim& ibsim() { return ibsim_; }
  Port& port() { return port_; }
  /// A file whose opening sets the port's IsSM bit and whose closing clears it.
  Result<std::string> issm_path();
  ~Session();

 private:
  Session(Ibsim ibsim, Adapter adapter, Device device, std::shared_ptr<Trace> trace);
  static Result<std::unique_ptr<Session>> open();
  void write_trace() const;
  void write_stats_file() const;

  class IssmFile;
  Ibsim ibsim_;
  const Adapter adapter_;
  Device device_;
  std::shared_ptr<Trace> trace_;
  Port port_;
  std::unique_ptr<IssmFile> issm_;
};

}  // namespace tidemill::umad
