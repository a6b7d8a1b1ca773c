// SPDX-License-Identifier: Apache-2.0
/// The two halves of a transaction, each for itself: posting alone, and what is left once responses are there; and the
/// end of an agent.
#include <chrono>
#include <memory>

#include "clients.hpp"
#include "tb/bench/support/workload.hpp"
#include "waiting_wire.hpp"

namespace tidemill::bench {
namespace {

/// Timed: `count` sends are posted one by one. Not timed: they leave, are answered (in order, which even a list finds
/// at once) and complete.
template <class Client>
void Post(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  const Request request(2);
  Client client(std::make_unique<WaitingWire>(0, WaitingWire::Order::oldest), count, request.get());
  bool alive = true;
  for (uint64_t target = count; state.KeepRunningBatch(count); target += count) {
    const Stopwatch watch;
    for (uint32_t i = 0; i < count; ++i) client.post();
    state.SetIterationTime(watch.seconds());
    alive = alive && poll_until(client, target);
  }
  if (!alive || !client.faultless()) state.SkipWithError("a transaction went another way");
}
BENCHMARK(Post<TidemillClient>)->Name("Post/tidemill")->Apply(outstanding)->UseManualTime();
BENCHMARK(Post<KernelLikeClient>)->Name("Post/kernel_like")->Apply(outstanding)->UseManualTime();

/// Not timed: `count` sends leave and wait. Timed: they are answered in random order, matched, called back.
template <class Client>
void Complete(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  const Request request(2);
  auto owned = std::make_unique<WaitingWire>(count);
  WaitingWire& wire = *owned;
  Client client(std::move(owned), count, request.get());
  bool alive = true;
  for (uint64_t target = count; state.KeepRunningBatch(count); target += count) {
    wire.keep(count);
    client.post(count);
    while (wire.waiting() != count) client.poll();
    wire.keep(0);
    const Stopwatch watch;
    alive = alive && poll_until(client, target);
    state.SetIterationTime(watch.seconds());
  }
  if (!alive || !client.faultless()) state.SkipWithError("a transaction went another way");
}
BENCHMARK(Complete<TidemillClient>)->Name("Complete/tidemill")->Apply(outstanding)->UseManualTime();
// Not with 65,536: walking the list of so many for each of so many takes minutes.
BENCHMARK(Complete<KernelLikeClient>)
    ->Name("Complete/kernel_like")
    ->RangeMultiplier(4)
    ->Range(16, 16384)
    ->UseManualTime();

/// How long deregister() takes with `count` sends waiting for responses: all complete as flushed, in their callbacks.
void Deregister(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  const Request request(2);
  bool right = true;
  for (auto _ : state) {
    auto owned = std::make_unique<WaitingWire>(count);
    const WaitingWire& wire = *owned;
    TidemillClient client(std::move(owned), count, request.get());
    client.post(count);
    while (wire.waiting() != count) client.poll();
    const Stopwatch watch;
    right = right && client.deregister() == Errc::ok;
    state.SetIterationTime(watch.seconds());
    right = right && client.outcome().failed == count;
  }
  if (!right) state.SkipWithError("a send did not complete");
}
BENCHMARK(Deregister)->Name("Deregister/tidemill")->Apply(outstanding)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tidemill::bench
