// SPDX-License-Identifier: Apache-2.0
/// The full transaction of one bank: descriptor, sent, response, against the number of sends outstanding, whose
/// responses come in random order. Tick events are issued whenever the bank asks for one.
#include <array>
#include <vector>

#include "bank_shell.hpp"

namespace tidemill::bench {
namespace {

struct Live {
  uint64_t tid;
  uint16_t slot, generation;
};

/// What is outstanding: `wire` has left and is not reported yet, `waiting` waits for responses.
struct Sends {
  Sends(BankShell& bank, uint32_t count, uint32_t on_wire) : wire(on_wire), waiting(count - on_wire) {
    for (uint32_t i = 0; i < count; ++i) {
      Live& live = i < on_wire ? wire[i] : waiting[i - on_wire];
      live = {tids.next(), static_cast<uint16_t>(i), 0};
      bank.descriptor(live.slot, 0, live.tid, BankShell::hash(live.tid));
      if (i >= on_wire) bank.sent(live.slot, 0);
    }
  }
  Live& any() { return waiting[random.below(static_cast<uint32_t>(waiting.size()))]; }
  /// The next use of a slot.
  Live after(const Live& done) { return {tids.next(), done.slot, static_cast<uint16_t>(done.generation + 1u)}; }

  std::vector<Live> wire, waiting;
  TidCounter tids;
  Random random;
};

/// One event after another: every cache miss is waited for.
void BankTransaction(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  const uint32_t on_wire = batch_of(count);
  BankShell bank;
  Sends sends(bank, count, on_wire);
  uint64_t failed = 0;
  uint32_t turn = 0, until_tick = 0;
  for (auto _ : state) {
    Live& done = sends.any();
    Live& on_its_way = sends.wire[turn];
    failed += bank.received(done.tid, BankShell::hash(done.tid)) != abi::ActionKind::respond_complete;
    const Live next = sends.after(done);
    failed +=
        bank.descriptor(next.slot, next.generation, next.tid, BankShell::hash(next.tid)) != abi::ActionKind::transmit;
    failed += bank.sent(on_its_way.slot, on_its_way.generation) != abi::ActionKind::none;
    done = on_its_way;
    on_its_way = next;
    turn = turn + 1 == on_wire ? 0 : turn + 1;
    if (++until_tick == 10) {
      until_tick = 0;
      bank.advance();
    }
  }
  if (failed != 0) state.SkipWithError("a transaction went another way");
}
BENCHMARK(BankTransaction)->Name("Transaction/tidemill_bank")->Apply(outstanding);

/// The same events in batches, as from rings, and what each will touch is fetched a batch ahead: how the soft engine
/// does it.
void BankTransactionAhead(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  const uint32_t batch = batch_of(count);
  BankShell bank;
  Sends sends(bank, count, batch);
  std::array<Live, kBatch> done, next;
  std::array<uint64_t, kBatch> hash;
  uint64_t failed = 0;
  uint32_t until_tick = 0;
  while (state.KeepRunningBatch(batch)) {
    for (uint32_t i = 0; i < batch; ++i) {
      Live& answered = sends.any();
      done[i] = answered;
      next[i] = sends.after(answered);
      answered = sends.wire[i];
      hash[i] = BankShell::hash(done[i].tid);
      bank.expect_search(hash[i]);
      // Reported before anything of this batch is received, or its response might come first.
      failed += bank.sent(answered.slot, answered.generation) != abi::ActionKind::none;
    }
    for (uint32_t i = 0; i < batch; ++i) bank.expect_match(hash[i]);
    for (uint32_t i = 0; i < batch; ++i)
      failed += bank.received(done[i].tid, hash[i]) != abi::ActionKind::respond_complete;
    for (uint32_t i = 0; i < batch; ++i) {
      hash[i] = BankShell::hash(next[i].tid);
      bank.expect_search(hash[i]);
    }
    for (uint32_t i = 0; i < batch; ++i) {
      failed += bank.descriptor(next[i].slot, next[i].generation, next[i].tid, hash[i]) != abi::ActionKind::transmit;
      sends.wire[i] = next[i];
    }
    for (until_tick += batch; until_tick >= 10; until_tick -= 10) bank.advance();
  }
  if (failed != 0) state.SkipWithError("a transaction went another way");
}
BENCHMARK(BankTransactionAhead)->Name("Transaction/tidemill_bank_prefetched")->Apply(outstanding);

}  // namespace
}  // namespace tidemill::bench
