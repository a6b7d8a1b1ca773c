// SPDX-License-Identifier: Apache-2.0
/// What XRT wants to find before it looks for cards, and before it emulates a device: a mode, a folder with its
/// emulation library, a description of the device, settings, and names of its sockets that no other process has.
/// Opening an emulation xclbin prepares it all.
#pragma once
#include <array>
#include <csignal>
#include <memory>
#include <string>

#include "tidemill/error.hpp"

namespace tidemill::xrt_card {

/// The platform of emulated devices, and of the xclbin of sim/xrt.
inline constexpr char kEmulationPlatform[] = "tidemill_emulation_shell_1_0";

/// Once a process, before XRT's first call: sets XCL_EMULATION_MODE, XILINX_XRT, EMCONFIG_PATH, SDACCEL_EM_RUN_DIR and
/// XRT_INI_PATH where they are not set, to files in a private folder that goes when the program ends. SIGPIPE is
/// ignored where it has its default: XRT writes to the device process, and that may have died. Environment and signals
/// are the process's: open the device before other threads read them.
Result<std::monostate> prepare_emulation();

/// The same for cards of this machine, before XRT's first call: a distribution's XRT has no script that sets
/// XILINX_XRT.
Result<std::monostate> prepare_cards();

/// While it lives, USER is unique: XRT's sockets are in /tmp/$USER, and two processes of one user must not share them.
class UniqueUser {
 public:
  UniqueUser();
  ~UniqueUser();
  UniqueUser(const UniqueUser&) = delete;
  UniqueUser& operator=(const UniqueUser&) = delete;

 private:
  std::string before_;
  bool had_ = false;
};

/// While it lives, XRT may set signal handlers; then those from before are back. Its emulation's handler of a crash
/// sends the signal on to the whole process group.
class KeepSignals {
 public:
  KeepSignals();
  ~KeepSignals();
  KeepSignals(const KeepSignals&) = delete;
  KeepSignals& operator=(const KeepSignals&) = delete;

 private:
  static constexpr std::array kSignals{SIGSEGV, SIGFPE, SIGABRT};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace tidemill::xrt_card
