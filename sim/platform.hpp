// SPDX-License-Identifier: Apache-2.0
/// The simulated system: the Verilated shell, its kernels, host memory behind PCIe, and the host's register accesses, under
/// SystemC. Every cycle goes the same way: the models set the shell's inputs, combinational logic settles, handshakes are
/// looked at, the clock rises, the models hear of what was handed over. No model sees another one within a cycle.
///
/// One thread at a time over all platforms of a process: SystemC has one current simulation.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <systemc>
#include <vector>

#include "sim/host_memory.hpp"
#include "sim/kernels.hpp"
#include "sim/options.hpp"
#include "sim/pcie_link.hpp"
#include "sim/probe.hpp"

class Vshell;
class VerilatedContext;
class VerilatedFstC;

namespace tidemill::sim {

class Platform {
 public:
  explicit Platform(Options options, std::shared_ptr<HostMemory> memory = std::make_shared<HostMemory>());
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  HostMemory& memory() { return *memory_; }

  /// Posted: done in order with other accesses.
  void write_register(uint32_t offset, uint32_t value, uint8_t strobe = 0xf);
  /// Runs until the register has been read.
  uint32_t read_register(uint32_t offset);
  /// How the last access was answered.
  Response last_response() const { return last_response_; }

  /// Runs up to `cycles`, but no longer than until nothing moves, or, after `patience`, until something was written for the host.
  void run(uint64_t cycles, uint64_t patience);
  /// Nothing moves but timers.
  bool quiet() const;
  /// Nothing moves until the host does something or time passes.
  bool idle() const;

  uint64_t cycles() const { return cycles_; }
  double now_ns() const { return static_cast<double>(cycles_) * options_.period_ns; }
  uint32_t tick() const;
  uint32_t wake() const;  ///< First tick at which a bank has timer work.
  bool interrupt() const;
  bool failed() const;
  /// What stands in queue `i` of the shell's output `waiting_o`.
  uint64_t waiting(unsigned i) const;

  const PcieLink& link() const { return link_; }
  const Probe& probe() const { return probe_; }
  uint64_t bank_cycles(unsigned bank) const { return banks_[bank]->busy_cycles(); }
  uint64_t arbiter_cycles() const { return arbiter_->busy_cycles(); }
  unsigned banks() const { return static_cast<unsigned>(banks_.size()); }
  const Options& options() const { return options_; }

 private:
  class Clock;
  struct Access {
    bool is_write;
    uint32_t offset;
    uint32_t value;
    uint8_t strobe;
  };
  void cycle();
  void drive();
  void hand_over();
  bool stalled() { return options_.stall > 0 && std::uniform_real_distribution<>()(random_) < options_.stall; }

  const Options options_;
  std::shared_ptr<HostMemory> memory_;
  PcieLink link_;
  Probe probe_;
  std::mt19937_64 random_;

  std::unique_ptr<sc_core::sc_simcontext> context_;
  std::unique_ptr<VerilatedContext> verilated_;
  std::unique_ptr<Vshell> shell_;
  std::unique_ptr<VerilatedFstC> trace_;
  std::vector<std::unique_ptr<BankKernel>> banks_;
  std::unique_ptr<ArbiterKernel> arbiter_;
  std::unique_ptr<Clock> clock_;

  uint64_t cycles_ = 0, run_until_ = 0, patience_until_ = 0;
  uint64_t lines_seen_ = 0;
  std::deque<Access> accesses_;
  enum class Mmio { idle, address, answer } mmio_ = Mmio::idle;
  bool address_sent_ = false, data_sent_ = false;
  std::optional<uint32_t> read_value_;
  Response last_response_ = Response::okay;
  bool kernels_in_reset_ = true;
};

}  // namespace tidemill::sim
