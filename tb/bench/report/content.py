# SPDX-License-Identifier: Apache-2.0
"""What docs/numbers.md shows: the charts, and the goals with the figures that decide them."""
from collections.abc import Callable
from dataclasses import dataclass

from charts import Chart
from results import Results

OUTSTANDING = [16, 256, 4096, 65536]
BANK, BANK_AHEAD = "Transaction/tidemill_bank", "Transaction/tidemill_bank_prefetched"

ENGINE = [
    Chart("transaction", "Engine: a transaction (new send, sent, response), responses in random order", "transaction",
          {BANK_AHEAD: "Tidemill bank, prefetched", BANK: "Tidemill bank, one at a time",
           "Transaction/tidemill_soft_engine_batch": "Tidemill soft engine, batches"},
          {"Transaction/linear_lists": "linear list, sorted list", "Transaction/rte_hash_rte_timer": "DPDK rte_hash, rte_timer",
           "Transaction/unordered_map_multimap": "unordered_map, multimap",
           "Transaction/unordered_map_priority_queue": "unordered_map, priority_queue"}),
    Chart("match", "Matching: find a TID and take it out, enter a new one", "match and insert",
          {"Match/tidemill": "Tidemill matcher"},
          {"Match/linear_list": "linear list", "Match/rte_hash": "DPDK rte_hash", "Match/unordered_map": "unordered_map"}),
    Chart("timer-cancel", "Timers: stop a random one and start it anew", "cancel and arm",
          {"TimerCancel/tidemill": "Tidemill wheel"},
          {"TimerCancel/sorted_list": "sorted list", "TimerCancel/rte_timer": "DPDK rte_timer",
           "TimerCancel/multimap": "multimap", "TimerCancel/priority_queue": "priority_queue"}),
    Chart("timer-expire", "Timers: the first one expires and is started anew (waits up to 100,000 ticks)", "expiry and arm",
          {"TimerExpire/tidemill": "Tidemill wheel"},
          {"TimerExpire/sorted_list": "sorted list", "TimerExpire/multimap": "multimap",
           "TimerExpire/priority_queue": "priority_queue"}),
]
RUNTIME = [
    Chart("runtime-fabric", "Runtime: full transactions, responses at once and in order", "transaction",
          {"Fabric/tidemill": "Tidemill runtime", "Fabric/tidemill_batch": "Tidemill runtime, batch sends"},
          {"Fabric/kernel_like": "one lock and lists"}),
    Chart("runtime-waiting", "Runtime: full transactions, all sends wait, a random one is answered", "transaction",
          {"Waiting/tidemill": "Tidemill runtime"}, {"Waiting/kernel_like": "one lock and lists"}),
    Chart("runtime-post", "Runtime: post", "post", {"Post/tidemill": "Tidemill runtime"},
          {"Post/kernel_like": "one lock and lists"}),
    Chart("runtime-complete", "Runtime: response to callback, in random order", "completion",
          {"Complete/tidemill": "Tidemill runtime"}, {"Complete/kernel_like": "one lock and lists"}),
]


@dataclass(frozen=True)
class Goal:
    what: str
    limit: str
    figure: Callable[[Results], float]
    show: Callable[[float], str]
    met: Callable[[float], bool]


def _spread(name: str) -> Callable[[Results], float]:
    def ratio(r: Results) -> float:
        costs = [r.ns(name, n) for n in r.arguments(name)]
        return max(costs) / min(costs)
    return ratio


def _bank(name: str, how: str) -> list[Goal]:
    return [Goal(f"engine: transaction of a bank, {how}, 4,096 outstanding", "at most 60 ns", lambda r: r.ns(name, 4096),
                 lambda v: f"{v:.0f} ns", lambda v: v <= 60),
            Goal("engine: the same from 16 to 65,536 outstanding, dearest to cheapest", "within 3 x", _spread(name),
                 lambda v: f"{v:.1f} x", lambda v: v <= 3)]


def _runtime(outstanding: int) -> Goal:
    return Goal(f"runtime: full transactions a second on one core, {outstanding:,} outstanding", "at least 10 M/s",
                lambda r: 1e3 / r.ns("Fabric/tidemill", outstanding), lambda v: f"{v:.1f} M/s", lambda v: v >= 10)


def _threads(kind: str, cost: Callable[[Results, int], float]) -> Goal:
    return Goal(f"runtime: a post by four threads on four agents, to one by one thread, {kind}", "at most 2 x",
                lambda r: cost(r, 4) / cost(r, 1), lambda v: f"{v:.2f} x", lambda v: v <= 2)


GOALS = [*_bank(BANK_AHEAD, "prefetched"), *_bank(BANK, "one event at a time"), _runtime(64), _runtime(4096),
         _threads("wall time", lambda r, n: r.ns("PostByThreads/tidemill", n)),
         _threads("CPU time", lambda r, n: r.counter("PostByThreads/tidemill", n, "cpu_ns"))]
