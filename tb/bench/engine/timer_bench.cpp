// SPDX-License-Identifier: Apache-2.0
/// Timers.
#include "blocks.hpp"
#include "rivals.hpp"
#include "turns.hpp"

namespace tidemill::bench {
namespace {

BENCHMARK(TimerCancel<EngineWheel>)->Name("TimerCancel/tidemill")->Apply(outstanding);
BENCHMARK(TimerCancel<SortedListTimers>)->Name("TimerCancel/sorted_list")->Apply(outstanding);
BENCHMARK(TimerCancel<MultimapTimers>)->Name("TimerCancel/multimap")->Apply(outstanding);
BENCHMARK(TimerCancel<HeapTimers>)->Name("TimerCancel/priority_queue")->Apply(outstanding);
BENCHMARK(TimerExpire<EngineWheel>)->Name("TimerExpire/tidemill")->Apply(outstanding);
BENCHMARK(TimerExpire<SortedListTimers>)->Name("TimerExpire/sorted_list")->Apply(outstanding);
BENCHMARK(TimerExpire<MultimapTimers>)->Name("TimerExpire/multimap")->Apply(outstanding);
BENCHMARK(TimerExpire<HeapTimers>)->Name("TimerExpire/priority_queue")->Apply(outstanding);

}  // namespace
}  // namespace tidemill::bench
