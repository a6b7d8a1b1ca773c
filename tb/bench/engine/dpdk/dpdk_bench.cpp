// SPDX-License-Identifier: Apache-2.0
/// DPDK's rte_hash and rte_timer as rivals. Its environment is set up without huge pages and without devices.
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_timer.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "tb/bench/engine/turns.hpp"

namespace tidemill::bench {
namespace {

constexpr uint32_t kSlots = 65536;
/// DPDK's timers follow the machine's clock. A tick is long here, so that none expires while the benchmark runs.
constexpr uint64_t kTicksPerSecond = 100;

/// Once in a process; throws if DPDK does not run here.
void start_dpdk() {
  static const int started = [] {
    std::string lcores = "0@(0-" + std::to_string(std::thread::hardware_concurrency() - 1) + ")";
    std::vector<std::string> words{"bench", "--no-huge", "--no-shconf",       "--no-pci", "--no-telemetry",
                                   "-m",    "256",       "--log-level=error", "--lcores", lcores};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    const int result = rte_eal_init(static_cast<int>(arguments.size()), arguments.data());
    return result < 0 ? result : rte_timer_subsystem_init();
  }();
  if (started < 0) throw std::runtime_error("DPDK does not start here");
}

class RteHash {
 public:
  RteHash() {
    start_dpdk();
    rte_hash_parameters p{};
    p.name = "tids";
    p.entries = 2 * kSlots;
    p.key_len = sizeof(uint64_t);
    p.hash_func = rte_hash_crc;
    p.socket_id = SOCKET_ID_ANY;
    hash_ = rte_hash_create(&p);
    if (hash_ == nullptr) throw std::runtime_error(rte_strerror(rte_errno));
  }
  ~RteHash() { rte_hash_free(hash_); }
  RteHash(const RteHash&) = delete;
  RteHash& operator=(const RteHash&) = delete;

  void insert(uint64_t tid, uint32_t slot) {
    rte_hash_add_key_data(hash_, &tid, reinterpret_cast<void*>(static_cast<uintptr_t>(slot)));
  }
  uint32_t take(uint64_t tid) {
    void* data = nullptr;
    rte_hash_lookup_data(hash_, &tid, &data);
    rte_hash_del_key(hash_, &tid);
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(data));
  }

 private:
  rte_hash* hash_;
};

class RteTimers {
 public:
  RteTimers() : timers_(kSlots) {
    start_dpdk();
    for (rte_timer& t : timers_) rte_timer_init(&t);
    per_tick_ = rte_get_timer_hz() / kTicksPerSecond;
  }
  ~RteTimers() {
    for (rte_timer& t : timers_) rte_timer_stop(&t);
  }
  RteTimers(const RteTimers&) = delete;
  RteTimers& operator=(const RteTimers&) = delete;

  void arm(uint32_t slot, uint32_t due) {
    rte_timer_reset(
        &timers_[slot], due * per_tick_, SINGLE, rte_lcore_id(), [](rte_timer*, void*) {}, nullptr);
  }
  void disarm(uint32_t slot) { rte_timer_stop(&timers_[slot]); }

 private:
  std::vector<rte_timer> timers_;
  uint64_t per_tick_;
};

/// Runs a benchmark; says so where DPDK does not.
template <void (*run)(benchmark::State&)>
void Guarded(benchmark::State& state) {
  try {
    run(state);
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}
BENCHMARK(Guarded<Match<RteHash>>)->Name("Match/rte_hash")->Apply(outstanding);
BENCHMARK(Guarded<TimerCancel<RteTimers>>)->Name("TimerCancel/rte_timer")->Apply(outstanding);
BENCHMARK((Guarded<RivalTransaction<RteHash, RteTimers>>))->Name("Transaction/rte_hash_rte_timer")->Apply(outstanding);

}  // namespace
}  // namespace tidemill::bench
