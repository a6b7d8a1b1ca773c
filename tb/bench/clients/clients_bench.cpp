// SPDX-License-Identifier: Apache-2.0
/// Real programs on ibsim: through the drop-in libibumad, and through ibsim's own preloaded shim on the system's.
/// Wall time: programs, ibsim and library share the cores.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <thread>

#include "cores.hpp"
#include "ibsim_fabric/fabric.hpp"

namespace {

using namespace tidemill;
using namespace tidemill::ibsim_fabric;
using bench::Cores, bench::OnCore;
using namespace std::chrono_literals;

constexpr const char* kShims[] = {"/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so",
                                  "/usr/lib/umad2sim/libumad2sim.so"};

enum class Library { tidemill, cosim, umad2sim };

std::string shim() {
  for (const char* place : kShims)
    if (std::filesystem::exists(place)) return place;
  return {};
}

std::map<std::string, std::string> environment_of(Library library, const std::string& socket, const std::string& host) {
  if (library == Library::umad2sim) return {{"LD_PRELOAD", shim()}, {"IBSIM_SOCKNAME", socket}, {"SIM_HOST", host}};
  return environment({.socket = socket, .host = host, .device = library == Library::cosim ? "cosim:" : "soft:"},
                     TIDEMILL_UMAD_FOLDER);
}

/// A fabric with an opensm on its first host.
class Fabric {
 public:
  Fabric(unsigned hosts, unsigned radix) {
    std::ofstream(work_.file("fabric.net")) << fat_tree(hosts, radix).value();
    net_ = NetFile::read(work_.file("fabric.net")).value();
    auto started = IbsimProcess::start(net_, work_.file("ibsim.log"));
    if (started.ok()) ibsim_.emplace(std::move(started).value());
  }
  bool ok() const { return ibsim_.has_value(); }
  /// Seconds until the subnet is up, or nothing within `limit`.
  std::optional<double> manage(Library library, unsigned smps, std::chrono::seconds limit) {
    auto variables = environment_of(library, ibsim_->socket(), net_.hosts.front());
    if (library == Library::umad2sim) variables.emplace("SIM_SET_ISSM", "1");
    const auto start = std::chrono::steady_clock::now();
    auto opensm = SubnetManager::start(std::move(variables), work_, smps, work_.path());
    if (!opensm) return std::nullopt;
    opensm_.emplace(std::move(opensm).value());
    while (opensm_->running() && std::chrono::steady_clock::now() - start < limit) {
      if (opensm_->up()) return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      std::this_thread::sleep_for(1ms);
    }
    return std::nullopt;
  }
  Process launch(Library library, const std::string& host, std::vector<std::string> arguments,
                 const std::string& output) {
    auto variables = environment_of(library, ibsim_->socket(), host);
    auto started = Process::start({.arguments = std::move(arguments),
                                   .environment = variables,
                                   .output = work_.file(output),
                                   .folder = work_.path()});
    return started.ok() ? std::move(started).value() : Process();
  }
  std::string output(const std::string& name) const {
    std::ifstream in(work_.file(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  WorkFolder work_{"tidemill-bench"};
  NetFile net_;
  std::optional<IbsimProcess> ibsim_;
  std::optional<SubnetManager> opensm_;
};

/// Why there is nothing to measure with this library, or nullptr.
const char* missing(Library library) {
  if (library == Library::umad2sim && shim().empty()) return "SKIPPED: no umad2sim (Debian: libumad2sim0)";
#ifndef TIDEMILL_BENCH_COSIM
  if (library == Library::cosim) return "SKIPPED: no cosim: in this build (Debian: verilator libsystemc-dev)";
#endif
  return nullptr;
}

/// Seconds from the start of ibping to its end. What it says itself is no use: it divides nanoseconds by 10,000.
Result<double> flood(Fabric& fabric, Library library, const std::string& lid, int round_trips) {
  const auto start = std::chrono::steady_clock::now();
  auto client = fabric.launch(library, "H2", {"ibping", "-f", "-c", std::to_string(round_trips), lid}, "client.out");
  client.wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const std::string said = fabric.output("client.out");
  if (said.find(fmt::format(" {} received,", round_trips)) == std::string::npos)
    return Error{Errc::timed_out, fmt::format("ibping lost some: {}", said)};
  return took.count();
}

/// Round trips of ibping's flood, the library under the client; less what starting and ending ibping takes.
void ibping_flood(benchmark::State& state, Library library, int round_trips, Cores cores = Cores::all) {
  if (const char* why = missing(library)) return state.SkipWithError(why);
  std::optional<OnCore> one;
  if (cores == Cores::one) one.emplace(0);
  Fabric fabric(4, 8);
  if (!fabric.ok() || !fabric.manage(Library::tidemill, 0, 30s)) return state.SkipWithError("no fabric");
  // The server is always ours: under the shim ibping -S ends with a segmentation fault.
  auto server = fabric.launch(Library::tidemill, "H1", {"ibping", "-S"}, "server.out");
  std::this_thread::sleep_for(300ms);
  auto ask = fabric.launch(Library::tidemill, "H1", {"ibstat"}, "lid.out");  // its own LID, which the sweep chose
  ask.wait();
  std::smatch m;
  const std::string description = fabric.output("lid.out");
  if (!std::regex_search(description, m, std::regex("Base lid: (\\d+)")))
    return state.SkipWithError(("no LID: " + description).c_str());
  for (auto _ : state) {
    const auto one_trip = flood(fabric, library, m[1], 1), all = flood(fabric, library, m[1], round_trips);
    if (!one_trip || !all) return state.SkipWithError((one_trip ? all : one_trip).error().message.c_str());
    state.SetIterationTime((all.value() - one_trip.value()) / (round_trips - 1));
  }
  state.counters["round_trips/s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
  server.signal(SIGINT);
}

/// opensm's time to SUBNET UP on 560 nodes.
void subnet_up(benchmark::State& state, Library library, unsigned smps, Cores cores = Cores::all) {
  if (const char* why = missing(library)) return state.SkipWithError(why);
  std::optional<OnCore> one;
  if (cores == Cores::one) one.emplace(0);
  for (auto _ : state) {
    Fabric fabric(512, 32);
    const auto seconds = fabric.ok() ? fabric.manage(library, smps, 30s) : std::nullopt;
    if (!seconds)
      return state.SkipWithError(library == Library::umad2sim ? "umad2sim is not up after 30 s" : "not up within 30 s");
    state.SetIterationTime(*seconds);
  }
}

// Each iteration starts programs of its own: one, and repetitions for a median.
void once(benchmark::internal::Benchmark* b) {
  b->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);
}

BENCHMARK_CAPTURE(ibping_flood, tidemill, Library::tidemill, 5000)->Apply(once)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(ibping_flood, tidemill_one_core, Library::tidemill, 5000, Cores::one)
    ->Apply(once)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(ibping_flood, umad2sim, Library::umad2sim, 5000)->Apply(once)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(ibping_flood, umad2sim_one_core, Library::umad2sim, 5000, Cores::one)
    ->Apply(once)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(ibping_flood, cosim, Library::cosim, 500)->Apply(once)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(ibping_flood, cosim_one_core, Library::cosim, 500, Cores::one)
    ->Apply(once)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(subnet_up, tidemill_maxsmps_0, Library::tidemill, 0)->Apply(once);
BENCHMARK_CAPTURE(subnet_up, tidemill_maxsmps_0_one_core, Library::tidemill, 0, Cores::one)->Apply(once);
BENCHMARK_CAPTURE(subnet_up, tidemill_maxsmps_4, Library::tidemill, 4)->Apply(once);
BENCHMARK_CAPTURE(subnet_up, tidemill_maxsmps_4_one_core, Library::tidemill, 4, Cores::one)->Apply(once);
BENCHMARK_CAPTURE(subnet_up, umad2sim_maxsmps_4, Library::umad2sim, 4)->Apply(once);
BENCHMARK_CAPTURE(subnet_up, umad2sim_maxsmps_4_one_core, Library::umad2sim, 4, Cores::one)->Apply(once);
// Takes its 30 s.
BENCHMARK_CAPTURE(subnet_up, umad2sim_maxsmps_0, Library::umad2sim, 0)->Apply(once)->Repetitions(1);

}  // namespace
