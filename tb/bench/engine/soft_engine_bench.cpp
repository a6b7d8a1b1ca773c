// SPDX-License-Identifier: Apache-2.0
/// The whole engine in process, per transaction: doorbell, grant, transmit, sent report, response, completion. One bank
/// on one core, responses in random order. Either one transaction at a time, or in batches as from rings: one doorbell,
/// one received(span).
#include <memory>
#include <vector>

#include "host/soft/engine.hpp"
#include "tb/bench/support/workload.hpp"

namespace tidemill::bench {
namespace {

constexpr uint32_t kRing = 256;
constexpr uint32_t kTimeout = 400'000;  // ticks, about 400 ms: no send waits so long here
constexpr uint32_t kTurnsInATick = 10;  // 1.024 us at about 10 M/s

/// Wire and completion ring of a benchmark: keeps what the engine said last.
struct Sink {
  void transmit(const abi::Transmit& t) { transmitted[wire++ & (kRing - 1u)] = t; }
  void complete(const abi::Completion& c) { completed[done++ & (kRing - 1u)] = c; }
  void drop(const abi::Action&) { ++dropped; }

  std::vector<abi::Transmit> transmitted = std::vector<abi::Transmit>(kRing);
  std::vector<abi::Completion> completed = std::vector<abi::Completion>(kRing);
  uint32_t wire = 0, done = 0, dropped = 0;
};

using Engine = soft::Engine<hls::HostBankConfig, 0, 1024, Sink>;

struct Live {
  uint64_t tid;
  uint16_t slot, generation;
};

class Workload {
 public:
  Workload(uint32_t outstanding, uint32_t batch) : batch_(batch), live_(outstanding) {
    abi::Command open;
    open.kind(abi::CommandKind::open_lane);
    open.qp(true);
    open.weight(16);
    engine_->command(open, 0);
    engine_->set_ring(0, ring_);
    request_.agent(TidCounter::kAgent);
    request_.mgmt_class(3);
    request_.timeout(kTimeout);
    request_.peer(7);
    request_.retries(3);
    request_.port(1);
    request_.qp(true);
    abi::Received response;
    response.buffer(1);
    response.mgmt_class(3);
    response.method(0x81);
    response.peer(7);
    response.port(1);
    response.qp(true);
    response.response(true);
    responses_.assign(batch, response);
    for (uint32_t i = 0; i < outstanding; i += batch) {
      for (uint32_t j = i; j < i + batch; ++j) {
        live_[j] = {tids_.next(), static_cast<uint16_t>(j), 0};
        post(live_[j]);
      }
      send();
    }
  }
  /// Answers `batch` random sends and posts as many new ones in their slots. Those posted last stand at the end.
  void turn() {
    const auto waiting = static_cast<uint32_t>(live_.size()) - batch_;
    for (uint32_t i = 0; i < batch_; ++i) {
      Live& answered = live_[random_.below(waiting)];
      responses_[i].tid(answered.tid);
      const Live next{tids_.next(), answered.slot, static_cast<uint16_t>(answered.generation + 1u)};
      answered = live_[waiting + i];
      live_[waiting + i] = next;
    }
    if (batch_ == 1)
      engine_->received(responses_[0], now_);
    else
      engine_->received(responses_, now_);
    for (uint32_t i = 0; i < batch_; ++i) post(live_[waiting + i]);
    send();
  }
  bool failed() const { return sink_.dropped != 0 || sink_.done != static_cast<uint32_t>(engine_->counters().matched); }

 private:
  void post(const Live& live) {
    abi::Descriptor& d = ring_[posted_++ & (kRing - 1u)];
    d = request_;
    d.tid(live.tid);
    d.slot(live.slot);
    d.generation(live.generation);
  }
  void send() {
    for (until_tick_ += batch_; until_tick_ >= kTurnsInATick; until_tick_ -= kTurnsInATick) ++now_;
    const uint32_t from = sink_.wire;
    engine_->doorbell(0, static_cast<uint16_t>(batch_));
    engine_->step(now_);
    for (uint32_t i = from; i != sink_.wire; ++i) {
      const abi::Transmit& t = sink_.transmitted[i & (kRing - 1u)];
      abi::Sent s;
      s.slot(t.slot());
      s.generation(t.generation());
      engine_->sent(s, now_);
    }
  }

  uint32_t batch_;
  Sink sink_;
  std::unique_ptr<Engine> engine_ =
      std::make_unique<Engine>(sink_, Engine::Options{.seed = 0x243f6a8885a308d3, .wire_credit = {256, 256}});
  std::vector<abi::Descriptor> ring_ = std::vector<abi::Descriptor>(kRing);
  abi::Descriptor request_;
  std::vector<abi::Received> responses_;
  std::vector<Live> live_;
  TidCounter tids_;
  Random random_;
  uint32_t now_ = 0, posted_ = 0, until_tick_ = 0;
};

void run(benchmark::State& state, uint32_t batch) {
  Workload work(static_cast<uint32_t>(state.range(0)), batch);
  while (state.KeepRunningBatch(batch)) work.turn();
  if (work.failed()) state.SkipWithError("a transaction went another way");
}

void SoftEngine(benchmark::State& state) {
  run(state, 1);
}
BENCHMARK(SoftEngine)->Name("Transaction/tidemill_soft_engine")->Apply(outstanding);

void SoftEngineBatch(benchmark::State& state) {
  run(state, batch_of(static_cast<uint32_t>(state.range(0))));
}
BENCHMARK(SoftEngineBatch)->Name("Transaction/tidemill_soft_engine_batch")->Apply(outstanding);

}  // namespace
}  // namespace tidemill::bench
