// SPDX-License-Identifier: Apache-2.0
/// One native program, unchanged, on the soft device, the co-simulated card and XRT's emulation: round trips on a
/// simulated fabric whose responders answer at once, as many on their way as the argument says. The device's own
/// thread makes progress, time is the steady clock. Wall time: on the simulated cards the simulation is what it costs.
#include <benchmark/benchmark.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "tidemill.hpp"

namespace tidemill::bench {
namespace {

using namespace std::chrono_literals;

struct Place {
  const char* uri;      ///< Nullptr: not in this build.
  const char* missing;  ///< What the benchmark says then.
};
constexpr Place kSoft{"soft:", ""};
#ifdef TIDEMILL_BENCH_COSIM
constexpr Place kCosim{"cosim:", ""};
#else
constexpr Place kCosim{nullptr, "SKIPPED: no cosim: in this build (Debian: verilator libsystemc-dev)"};
#endif
#ifdef TIDEMILL_BENCH_XCLBIN
constexpr Place kXrt{"xrt:0?xclbin=" TIDEMILL_BENCH_XCLBIN, ""};
#else
constexpr Place kXrt{nullptr, "SKIPPED: no xrt: in this build (XRT, protobuf and what cosim: needs)"};
#endif

/// The value, or the end of this benchmark.
template <class T>
T value(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

constexpr FabricFaults kNoDelay{.delay = Nanoseconds(0), .delay_jitter = Nanoseconds(0)};

/// Keeps `depth` echo requests on their way: each completion posts the next.
class Program {
 public:
  Program(const char* uri, uint32_t depth)
      : device_(value(Device::open(uri))), fabric_(value(SimulatedFabric::create({.nodes = 2, .faults = kNoDelay}))) {
    echo_.oui(kEchoOui);
    request_.mad = echo_.bytes();
    request_.to.lid = fabric_.lid(1);
    request_.pace = {.timeout = 100s, .retries = 0};
    port_ = value(device_.open_port(1, value(fabric_.attach(0))));
    agent_ = value(port_.register_agent({.on_send = [this](const SendCompletion& c) { completed(c); },
                                         .on_receive = [](const Received&) {},
                                         .window = 0}));
    for (; depth != 0; --depth) post();
  }
  ~Program() {
    const std::lock_guard lock(mutex_);
    again_ = false;
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Sleeps until `count` more round trips have ended; false if one failed or none ends for a minute.
  bool wait(uint64_t count) {
    std::unique_lock lock(mutex_);
    target_ = completed_ + count;
    for (uint64_t seen = completed_; !reached_.wait_for(lock, 60s, [&] { return completed_ >= target_ || failed_; });
         seen = completed_)
      if (seen == completed_) return false;
    return !failed_;
  }
  uint64_t cycles() const { return device_.counter("cycles"); }

 private:
  void post() {
    if (agent_.send(request_).ok()) return;
    const std::lock_guard lock(mutex_);
    failed_ = true;
    reached_.notify_one();
  }
  void completed(const SendCompletion& c) {
    bool again = false;
    {
      const std::lock_guard lock(mutex_);
      ++completed_;
      again = again_;
      failed_ = failed_ || (again_ && c.status != SendStatus::success);
      if (completed_ == target_ || failed_) reached_.notify_one();
    }
    if (again) post();
  }

  std::mutex mutex_;  ///< Of what follows.
  std::condition_variable reached_;
  uint64_t completed_ = 0, target_ = 0;
  bool again_ = true, failed_ = false;

  Mad echo_ = Mad::make(kEchoClass, 1, mad_method::get, 0x0001);
  SendRequest request_;
  Device device_;
  SimulatedFabric fabric_;
  Port port_;
  Agent agent_;  ///< Goes first: nothing above is called back after that.
};

void round_trips(benchmark::State& state, const Place& place) try {
  if (place.uri == nullptr) return state.SkipWithError(place.missing);
  const auto depth = static_cast<uint32_t>(state.range(0));
  Program program(place.uri, depth);
  bool well = program.wait(2 * depth);
  const uint64_t cycles = program.cycles();
  while (state.KeepRunningBatch(state.max_iterations)) well = well && program.wait(state.max_iterations);
  state.counters["round_trips/s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
  if (const auto simulated = static_cast<double>(program.cycles() - cycles); simulated > 0) {
    state.counters["cycles/s"] = benchmark::Counter(simulated, benchmark::Counter::kIsRate);
    state.counters["cycles"] = benchmark::Counter(simulated, benchmark::Counter::kAvgIterations);
  }
  if (!well) state.SkipWithError("a round trip failed");
} catch (const std::exception& e) {
  state.SkipWithError(e.what());
}

void depths(benchmark::internal::Benchmark* b) {
  b->Arg(1)->Arg(64)->UseRealTime()->Unit(benchmark::kMicrosecond)->MinTime(0.5);
}

BENCHMARK_CAPTURE(round_trips, soft, kSoft)->Apply(depths);
BENCHMARK_CAPTURE(round_trips, cosim, kCosim)->Apply(depths);
BENCHMARK_CAPTURE(round_trips, xrt, kXrt)->Apply(depths);

}  // namespace
}  // namespace tidemill::bench
