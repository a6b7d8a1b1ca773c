// SPDX-License-Identifier: Apache-2.0
/// Whole transactions with the kernel's lists and with the standard library.
#include "rivals.hpp"
#include "turns.hpp"

namespace tidemill::bench {
namespace {

BENCHMARK(RivalTransaction<LinearList, SortedListTimers>)->Name("Transaction/linear_lists")->Apply(outstanding);
BENCHMARK(RivalTransaction<HashMap, MultimapTimers>)->Name("Transaction/unordered_map_multimap")->Apply(outstanding);
BENCHMARK(RivalTransaction<HashMap, HeapTimers>)->Name("Transaction/unordered_map_priority_queue")->Apply(outstanding);

}  // namespace
}  // namespace tidemill::bench
