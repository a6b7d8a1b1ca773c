// SPDX-License-Identifier: Apache-2.0
/// TID tables.
#include "blocks.hpp"
#include "rivals.hpp"
#include "turns.hpp"

namespace tidemill::bench {
namespace {

BENCHMARK(Match<EngineMatcher>)->Name("Match/tidemill")->Apply(outstanding);
BENCHMARK(Match<LinearList>)->Name("Match/linear_list")->Apply(outstanding);
BENCHMARK(Match<HashMap>)->Name("Match/unordered_map")->Apply(outstanding);

}  // namespace
}  // namespace tidemill::bench
