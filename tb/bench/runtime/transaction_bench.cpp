// SPDX-License-Identifier: Apache-2.0
/// Full transactions of the runtime on one core: post, transmit, report, response, both callbacks, against the number
/// of sends outstanding. Once over the simulated fabric, whose responders answer at once and in order, so that sends
/// beyond the wire's depth of 128 stand in queues; once over a wire on which all of them wait and a random one is
/// answered.
#include <algorithm>
#include <memory>

#include "clients.hpp"
#include "tb/bench/support/workload.hpp"
#include "waiting_wire.hpp"

namespace tidemill::bench {
namespace {

constexpr uint64_t kStep = 64;        ///< Transactions between looks at the benchmark's clock.
constexpr double kLongestWarmUp = 2;  ///< Seconds.

SimulatedFabric fabric(double loss = 0) {
  return value(SimulatedFabric::create(
      {.nodes = 2, .faults = {.loss = loss, .delay = Nanoseconds(0), .delay_jitter = Nanoseconds(0)}}));
}

/// Sends are posted anew from their callbacks. Before the clock runs every send has completed once on average, or two
/// seconds have passed: the baseline takes minutes for its 65,536.
template <class Client>
void run(benchmark::State& state, std::unique_ptr<Wire> wire, const Request& request) {
  const auto count = static_cast<uint32_t>(state.range(0));
  Client client(std::move(wire), count, request.get());
  client.again(true);
  client.post(count);
  uint64_t target = 0;
  bool alive = true;
  for (const Stopwatch watch; alive && target < count && watch.seconds() < kLongestWarmUp;)
    alive = poll_until(client, target += batch_of(count));
  const Outcome before = client.outcome();
  while (state.KeepRunningBatch(kStep)) alive = alive && poll_until(client, target += kStep);
  const Outcome& now = client.outcome();
  const auto done = static_cast<double>(now.completed - before.completed);
  state.counters["tries"] = static_cast<double>(now.tries - before.tries) / done;
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
  if (!alive || !client.faultless()) state.SkipWithError("a transaction went another way");
}

template <class Client>
void OverFabric(benchmark::State& state) {
  SimulatedFabric f = fabric();
  const Request request(f.lid(1));
  run<Client>(state, value(f.attach(0)), request);
}
BENCHMARK(OverFabric<TidemillClient>)->Name("Fabric/tidemill")->Apply(outstanding);
BENCHMARK(OverFabric<KernelLikeClient>)->Name("Fabric/kernel_like")->Apply(outstanding);

/// What has completed in a poll is posted after it, in one call: one lock and one doorbell for many.
void InBatches(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  SimulatedFabric f = fabric();
  const Request request(f.lid(1));
  TidemillClient client(value(f.attach(0)), count, request.get());
  client.post(count);
  uint64_t posted = count, idle = 0;
  for (uint64_t target = count; state.KeepRunningBatch(kStep); target += kStep) {
    while (client.outcome().completed < target && ++idle < 200'000'000) {
      client.poll();
      client.post(client.outcome().completed + count - posted);
      posted = client.outcome().completed + count;
    }
    idle = idle < 200'000'000 ? 0 : idle;
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
  if (idle != 0 || !client.faultless()) state.SkipWithError("a transaction went another way");
}
BENCHMARK(InBatches)->Name("Fabric/tidemill_batch")->Apply(outstanding);

/// A MAD in a hundred is lost on each way; its send is tried again after 5 ms.
template <class Client>
void OverLossyFabric(benchmark::State& state) {
  SimulatedFabric f = fabric(0.01);
  const Request request(f.lid(1), {.timeout = std::chrono::milliseconds(5), .retries = 20});
  run<Client>(state, value(f.attach(0)), request);
}
BENCHMARK(OverLossyFabric<TidemillClient>)->Name("Loss/tidemill")->Arg(65536);
BENCHMARK(OverLossyFabric<KernelLikeClient>)->Name("Loss/kernel_like")->Arg(65536);

template <class Client>
void Waiting(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const Request request(2);
  run<Client>(state, std::make_unique<WaitingWire>(count - std::min<std::size_t>(WaitingWire::kAtOnce, count / 2)),
              request);
}
BENCHMARK(Waiting<TidemillClient>)->Name("Waiting/tidemill")->Apply(outstanding);
BENCHMARK(Waiting<KernelLikeClient>)->Name("Waiting/kernel_like")->Apply(outstanding);

}  // namespace
}  // namespace tidemill::bench
