// SPDX-License-Identifier: Apache-2.0
/// Watches a device at its contract and says which invariant broke, for which send. It knows nothing of how the device
/// works: it keeps what was put in and judges what comes out, in constant time an event. Any test can hold it.
///
///     Scoreboard board({.report = [](const std::string& what) { ADD_FAILURE() << what; }, .wire_credit = {64, 64}});
///     board.command(open_lane, now);      engine.command(open_lane, now);     // inputs: first the board, then the
///     device board.accepted(descriptor, now);    engine.doorbell(lane, 1); void Sink::transmit(t) {
///     board.transmitted(t, now); }                   // outputs: in the order they come void Sink::complete(c) {
///     board.completion(c); } void Sink::drop(a)     { board.dropped(a.buffer(), now); } if (!engine.step(now))
///     board.idle(now);                                 // whenever the device has no more to do board.finish(now); //
///     when everything should be over
///
/// Tell it only of input that keeps the host's side of the contract (a slot is posted when free, with its next
/// generation); stale and forged `sent` reports, responses and commands are fine. `closing` and `deregistered` are for
/// those who deregister agents. Times are ticks. Not thread safe.
///
/// Checked: I1 to I17 and I23 to I31 as far as they show here, and the truth of every status.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lane_watch.hpp"
#include "tidemill/abi.hpp"

namespace tidemill::test {

struct ScoreboardOptions {
  std::function<void(const std::string&)> report;
  std::array<uint32_t, 2> wire_credit{};  ///< Tries on the wire at a time, by QP; 0 is not watched.
  uint32_t lateness = 0;                  ///< Ticks by which an idle device may be late.
  /// The device takes input at once and its outputs are told in the order in which they were decided, as of an engine
  /// in process. False for a device behind rings: order across rings is then not judged.
  bool in_order = true;
  /// No try is ever put off because the TID matcher is full; false leaves order and fairness of lanes unjudged.
  bool matcher_has_room = true;
};

class Scoreboard {
 public:
  struct Counts {
    uint64_t accepted = 0, transmitted = 0, responded = 0, completed = 0, dropped = 0, unsolicited = 0, violations = 0;
    std::array<uint64_t, abi::kStatusCount> by_status{};
  };

  explicit Scoreboard(ScoreboardOptions options);

  // What the host and the wire do, told before the device gets it.
  void accepted(const abi::Descriptor& d, uint32_t now,
                uint64_t digest = 0);  ///< `digest` of the MAD's bytes, if known.
  void command(const abi::Command& c, uint32_t now);
  void sent(const abi::Sent& s, uint32_t now);
  void wire_grown(bool qp, uint32_t count) { lanes_.wire_grown(qp, count); }  ///< More tries may be on the wire.
  void received(const abi::Received& r, uint32_t now);
  void closing(uint32_t agent) { agents_[agent].closing = true; }
  void deregistered(uint32_t agent, uint32_t now);
  void registered(uint32_t agent) { agents_[agent] = {}; }  ///< An agent id comes to a new life.
  void reset();                                             ///< The device was reset: nothing of before may come.

  // What the device answers.
  void transmitted(const abi::Transmit& t, uint32_t now, uint64_t digest = 0);
  void completion(const abi::Completion& c);
  void dropped(uint16_t buffer, uint32_t now);

  // Moments.
  void idle(uint32_t now);
  void finish(uint32_t now);

  const Counts& counts() const { return counts_; }
  uint32_t outstanding() const { return outstanding_; }

 private:
  enum class Phase : uint8_t { none, lane, on_wire, waiting, resend };
  enum class Window : uint8_t { none, held, unsure };
  /// A send, from its acceptance to the next acceptance of its slot.
  struct Send {
    abi::Descriptor d;
    uint64_t digest = 0;
    uint64_t accepted_seq = 0, first_try_seq = 0;
    Phase phase = Phase::none;
    Window window = Window::none;
    bool known = false;  ///< The slot was ever accepted.
    bool outstanding = false, responded = false, cancelled = false, left = false;
    bool maybe_cancelled = false;  ///< A flush went on when it was handed down.
    bool timed = false, timed_exactly = false, due_exact = false;
    bool modified = false, modified_exactly = false;
    abi::Status wire = abi::Status::success;  ///< Of the last sent report.
    uint8_t vendor = 0, recovery = 0;
    bool ending = false;  ///< The last sent report ends it.
    uint32_t tries = 0, resends = 0;
    uint32_t due = 0;  ///< While waiting: it may expire after this tick.
    uint32_t wait = 0, override_wait = 0;
    uint32_t deadline = 0;
  };
  struct Agent {
    bool closing = false, gone = false;
    uint32_t flushing = 0;
    uint64_t flush_seq = 0;  ///< Of the newest flush.
  };
  struct Flush {
    uint32_t agent;
    uint64_t seq;
  };

  /// Hand-downs are seen as they happen.
  bool exact() const { return options_.in_order && options_.matcher_has_room; }
  void fail(const std::string& what, uint32_t now);
  void fail(const Send& s, const std::string& what, uint32_t now);
  /// The outstanding send that an output names; reports and returns null if there is none.
  Send* named(uint16_t slot, uint16_t generation, const char* output, const char* after_completion, uint32_t now);
  Send* live(uint16_t slot, uint16_t generation);
  static LaneWatch::Name name(const Send& s) { return {s.d.slot(), s.d.generation()}; }

  void responded(const abi::Completion& c);
  void completed(const abi::Completion& c);
  void judge(const Send& s, const abi::Completion& c);
  void judge_timeout(const Send& s, const abi::Completion& c);
  bool flush_explains(const Send& s);
  bool same_live(const Send& s, bool certainly) const;
  void buffer_back(uint16_t buffer, uint32_t now);
  void unmatched(uint16_t buffer, uint32_t now);
  void flush_done(uint32_t agent, uint32_t now);
  void modify(Send& s, uint32_t ticks, uint32_t now);
  void announce(Send& s, uint32_t ticks, uint32_t now);
  void cancel(Send& s);
  void free_window(Send& s);
  static const char* mismatch(const Send& s, const abi::Received& r);

  ScoreboardOptions options_;
  LaneWatch lanes_;
  std::vector<Send> sends_;
  std::unordered_multimap<uint64_t, uint16_t> by_tid_;  ///< Outstanding sends.
  std::vector<std::optional<abi::Received>> buffers_;   ///< Received and not given back.
  std::unordered_map<uint32_t, Agent> agents_;
  std::vector<Flush> flushes_;
  uint64_t seq_ = 0;
  uint32_t outstanding_ = 0;
  Counts counts_;
};

}  // namespace tidemill::test
