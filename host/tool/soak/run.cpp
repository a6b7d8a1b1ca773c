// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <algorithm>
#include <utility>

#include "dice.hpp"
#include "traffic.hpp"
#include "watched_engine.hpp"
#include "wire.hpp"

namespace tidemill::soak {
namespace {

constexpr uint32_t kAskEvery = 32;         ///< Ticks between calls of the hooks.
constexpr uint32_t kLongest = 2'000'000;   ///< Ticks that no send can outlive: longest wait, with back-off and all tries.

class Run final : private Sink {
 public:
  Run(const Options& options, const Hooks& hooks)
      : hooks_(hooks),
        options_(options),
        dice_(options.seed),
        engine_(options, hooks.make_engine, *this),
        traffic_(options, dice_, engine_, tally_),
        wire_(options, dice_, engine_, traffic_, tally_) {}

  Result operator()() {
    bool stopping = false;
    uint32_t rounds = 0, last_completion = 0;
    uint64_t completed = 0;
    for (;;) {
      stopping = stopping || tally_.posted >= options_.transactions;
      if (rounds++ % kAskEvery == 0) {
        stopping = stopping || hooks_.stop();
        hooks_.progress(tally_, now_);
      }
      wire_.act(now_);
      traffic_.act(now_, stopping);
      const bool settled = engine_.settle(now_);
      if (!engine_.violations().empty()) break;
      if (stopping && settled && traffic_.at_rest() && wire_.at_rest()) {
        finish();
        break;
      }
      if (completed != tally_.completed || traffic_.outstanding() == 0) last_completion = now_;
      completed = tally_.completed;
      if (now_ - last_completion > kLongest) {
        engine_.violation("I1: " + std::to_string(traffic_.outstanding()) + " sends never complete");
        break;
      }
      now_ += stopping && settled && traffic_.settled() ? quiet() : 1;
    }
    hooks_.progress(tally_, now_);
    return {options_, std::move(tally_), engine_.counters(), now_, engine_.violations()};
  }

 private:
  /// Ticks in which nothing happens.
  uint32_t quiet() const {
    const uint32_t timers = hls::Tracker::reached(now_, engine_.wake()) ? 1 : engine_.wake() - now_;
    return std::max(1u, std::min({timers, traffic_.quiet(), wire_.quiet(now_)}));
  }

  void finish() {
    engine_.finish(now_);
    if (tally_.completed != tally_.posted)
      engine_.violation("I1: accepted " + std::to_string(tally_.posted) + " sends, completed " + std::to_string(tally_.completed));
  }

  void transmit(const abi::Transmit& t) override { wire_.transmit(t, now_); }
  void complete(const abi::Completion& c) override {
    tally_.mix(c.w0);
    tally_.mix(c.w1);
    tally_.mix(c.w2);
    tally_.mix(c.w3);
    if (c.kind() == abi::CompletionKind::unsolicited) ++tally_.delivered;
    if (has_mad(c.kind())) wire_.buffer_back(c.buffer());
    traffic_.on_completion(c, now_);
  }
  void drop(const abi::Action& a) override {
    ++tally_.dropped[static_cast<size_t>(a.cause())];
    wire_.buffer_back(a.buffer());
  }
  static bool has_mad(abi::CompletionKind kind) {
    return kind == abi::CompletionKind::response || kind == abi::CompletionKind::response_send ||
           kind == abi::CompletionKind::unsolicited;
  }

  const Hooks& hooks_;
  Options options_;
  Dice dice_;
  Tally tally_;
  uint32_t now_ = 0;
  WatchedEngine engine_;
  Traffic traffic_;
  Wire wire_;
};

}  // namespace

Result run(const Options& options, const Hooks& hooks) { return Run(options, hooks)(); }

}  // namespace tidemill::soak
