// SPDX-License-Identifier: Apache-2.0
/// Send arbiter: a grant, and the doorbell and wire credit that keep it busy, against the number of lanes with work.
#include <memory>

#include "hls/arbiter_memory.hpp"
#include "hls/send_arbiter.hpp"
#include "tb/bench/support/workload.hpp"

namespace tidemill::bench {
namespace {

using Arbiter = hls::SendArbiter<hls::ArbiterMemory<hls::ArbiterConfig<1024>>>;

abi::ArbiterEvent event(abi::ArbiterKind kind, uint32_t lane, uint16_t count) {
  abi::ArbiterEvent e;
  e.kind(kind);
  e.lane(static_cast<uint16_t>(lane));
  e.qp(true);
  e.weight(4);
  e.count(count);
  return e;
}

void ArbiterGrant(benchmark::State& state) {
  const auto lanes = static_cast<uint32_t>(state.range(0));
  const auto arbiter = std::make_unique<Arbiter>();
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    arbiter->step(event(abi::ArbiterKind::open_lane, lane, 0));
    arbiter->step(event(abi::ArbiterKind::doorbell, lane, 8));
  }
  arbiter->step(event(abi::ArbiterKind::wire_credit, 0, 64));
  uint64_t missed = 0;
  for (auto _ : state) {
    const abi::ArbiterAction a = arbiter->step(event(abi::ArbiterKind::grant, 0, 0));
    missed += !a.granted();
    arbiter->step(event(abi::ArbiterKind::doorbell, a.lane(), 1));
    arbiter->step(event(abi::ArbiterKind::wire_credit, 0, 1));
  }
  if (missed != 0) state.SkipWithError("a grant was missed");
}
BENCHMARK(ArbiterGrant)->Name("Arbiter/grant_doorbell_credit")->Arg(1)->Arg(16)->Arg(256)->Arg(1024);

}  // namespace
}  // namespace tidemill::bench
