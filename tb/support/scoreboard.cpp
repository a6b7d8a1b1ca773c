// SPDX-License-Identifier: Apache-2.0
#include "scoreboard.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tidemill::test {
namespace {

using abi::CommandKind;
using abi::CompletionKind;
using abi::Status;

constexpr uint8_t kDirectedRouteClass = 0x81;
/// Longest wait a device counts.
constexpr uint32_t kMaxTicks = 1u << 30;

uint32_t clamp(uint32_t ticks) {
  return std::min(ticks, kMaxTicks);
}
/// True if tick a is after tick b.
bool later(uint32_t a, uint32_t b) {
  return static_cast<int32_t>(a - b) > 0;
}
uint32_t earlier(uint32_t a, uint32_t b) {
  return later(a, b) ? b : a;
}

}  // namespace

Scoreboard::Scoreboard(ScoreboardOptions options)
    : options_(std::move(options)), lanes_(options_.wire_credit, exact()) {}

void Scoreboard::reset() {
  Scoreboard fresh(options_);
  fresh.counts_ = counts_;
  *this = std::move(fresh);
}

void Scoreboard::fail(const std::string& what, uint32_t now) {
  ++counts_.violations;
  if (options_.report) options_.report(what + " (tick " + std::to_string(now) + ")");
}
void Scoreboard::fail(const Send& s, const std::string& what, uint32_t now) {
  char who[96];
  std::snprintf(who, sizeof who, ": slot %u generation %u agent %u tid 0x%llx class 0x%02x lane %u", s.d.slot(),
                s.d.generation(), s.d.agent(), static_cast<unsigned long long>(s.d.tid()), s.d.mgmt_class(),
                s.d.lane());
  fail(what + who, now);
}

Scoreboard::Send* Scoreboard::live(uint16_t slot, uint16_t generation) {
  if (slot >= sends_.size()) return nullptr;
  Send& s = sends_[slot];
  return s.outstanding && s.d.generation() == generation ? &s : nullptr;
}

Scoreboard::Send* Scoreboard::named(uint16_t slot, uint16_t generation, const char* output,
                                    const char* after_completion, uint32_t now) {
  if (Send* s = live(slot, generation)) {
    if (agents_[s->d.agent()].gone) fail(*s, std::string("I15 silence after deregistration: ") + output, now);
    return s;
  }
  const bool over = slot < sends_.size() && sends_[slot].known &&
                    static_cast<int16_t>(static_cast<uint16_t>(generation - sends_[slot].d.generation())) <= 0;
  const char* broken = over ? after_completion : "I2 nothing for what was not accepted";
  fail(std::string(broken) + ": " + output + ": slot " + std::to_string(slot) + " generation " +
           std::to_string(generation),
       now);
  return nullptr;
}

void Scoreboard::accepted(const abi::Descriptor& d, uint32_t now, uint64_t digest) {
  ++counts_.accepted;
  if (d.slot() >= sends_.size()) sends_.resize(d.slot() + 1u);
  Send& s = sends_[d.slot()];
  if (s.outstanding) fail(s, "contract: posted again before its completion", now);
  if (s.known && d.generation() != static_cast<uint16_t>(s.d.generation() + 1u))
    fail(s, "contract: not the next generation", now);
  s = Send{};
  s.d = d;
  s.digest = digest;
  s.known = s.outstanding = true;
  s.phase = Phase::lane;
  s.accepted_seq = ++seq_;
  s.wait = d.timeout();
  s.deadline = now + clamp(d.deadline());
  ++outstanding_;
  by_tid_.emplace(d.tid(), d.slot());
  const Agent& agent = agents_[d.agent()];
  if (agent.gone || agent.closing) fail(s, "I17 closing is closed: accepted", now);
  lanes_.accepted(d.lane(), name(s));
}

void Scoreboard::command(const abi::Command& c, uint32_t now) {
  ++seq_;
  switch (c.kind()) {
    case CommandKind::open_lane:
      lanes_.open(c.lane(), {c.qp(), c.service_class(), c.weight(), c.window()});
      return;
    case CommandKind::close_lane:
      lanes_.close(c.lane());
      return;
    case CommandKind::weigh_lane:
      lanes_.weigh(c.lane(), c.weight(), c.window());
      return;
    case CommandKind::flush: {
      Agent& agent = agents_[c.agent()];
      ++agent.flushing;
      agent.flush_seq = seq_;
      flushes_.push_back({c.agent(), seq_});
      for (Send& s : sends_) {
        if (!s.outstanding || s.d.agent() != c.agent() || s.window != Window::held) continue;
        s.window = Window::unsure;
        lanes_.window_unsure(s.d.lane(), true);
      }
      return;
    }
    default:
      break;
  }
  Send* s = live(c.slot(), c.generation());
  if (s == nullptr || s->responded || s->cancelled) return;
  if (c.kind() == CommandKind::modify) modify(*s, clamp(c.ticks()), now);
  if (c.kind() == CommandKind::deadline) announce(*s, clamp(c.ticks()), now);
  if (c.kind() == CommandKind::cancel) cancel(*s);
}

void Scoreboard::modify(Send& s, uint32_t ticks, uint32_t now) {
  if (s.d.timeout() == 0) return;
  // Past its time a send may wait for its next try already, and then it is that wait which changes.
  const bool sure = options_.in_order && !(s.phase == Phase::waiting && later(now, s.due));
  if (s.phase == Phase::waiting) {
    s.due = sure ? now + ticks : earlier(s.due, now + ticks);
    s.due_exact = sure;
    if (sure) return;
  }
  s.override_wait = sure ? ticks : std::min(ticks, s.wait);
  s.modified = true;
  s.modified_exactly = sure;
}

void Scoreboard::announce(Send& s, uint32_t ticks, uint32_t now) {
  // Announced before the descriptor is handed down it replaces the descriptor's own, later the nearer one counts.
  const bool arrived = s.timed || (s.d.deadline() != 0 && !exact());
  s.deadline = arrived ? earlier(s.deadline, now + ticks) : now + ticks;
  s.timed = true;
  s.timed_exactly = options_.in_order && (options_.matcher_has_room || s.d.deadline() == 0);
}

void Scoreboard::cancel(Send& s) {
  s.cancelled = true;
  if (options_.in_order) free_window(s);
}

void Scoreboard::free_window(Send& s) {
  if (s.window == Window::held) lanes_.window_freed(s.d.lane());
  if (s.window == Window::unsure) lanes_.window_sure(s.d.lane());
  s.window = Window::none;
}

void Scoreboard::transmitted(const abi::Transmit& t, uint32_t now, uint64_t digest) {
  ++seq_;
  ++counts_.transmitted;
  Send* found = named(t.slot(), t.generation(), "transmitted", "I1 exactly one completion: and nothing after it", now);
  if (found == nullptr) return;
  Send& s = *found;
  if (s.phase == Phase::on_wire) fail(s, "I11 no timer before the wire: a try while another is on the wire", now);
  if (s.responded) fail(s, "I13 number of tries: a try after the response", now);
  if (s.cancelled && options_.in_order) fail(s, "I6 cancelled never matches: transmitted after its cancel", now);
  if (s.phase == Phase::waiting) {
    if (s.d.timeout() == 0) fail(s, "I13 number of tries: tried again without a timeout", now);
    if (!later(now, s.due))
      fail(s, "I12 never early: tried again at tick " + std::to_string(now) + ", waits until " + std::to_string(s.due),
           now);
    if (s.d.backoff_cap() != 0)
      s.wait = std::max(s.wait, std::min(s.d.backoff_cap(), s.wait > kMaxTicks ? s.wait : s.wait * 2));
  }
  if (s.phase == Phase::lane) {
    s.first_try_seq = seq_;
    if (options_.in_order && s.d.timeout() != 0 && agents_[s.d.agent()].flushing == 0 && same_live(s, true))
      fail(s, "policy 7: transmitted while a live send has the same TID and class", now);
    if (const Finding f = lanes_.handed_down(s.d.lane(), name(s)); !f.empty()) fail(s, f, now);
    if (lanes_.windowed(s.d.lane())) {
      const bool unsure = agents_[s.d.agent()].flushing != 0;
      s.window = unsure ? Window::unsure : Window::held;
      unsure ? lanes_.window_unsure(s.d.lane(), false) : lanes_.window_taken(s.d.lane());
    }
    if (!s.timed && s.d.deadline() != 0) {
      s.deadline = exact() ? now + clamp(s.d.deadline()) : s.deadline;
      s.timed = true;
      s.timed_exactly = exact();
    }
  }
  if (s.timed_exactly && later(now, s.deadline)) fail(s, "policy 3: transmitted after its deadline", now);
  s.phase = Phase::on_wire;
  ++s.tries;
  if (s.tries - s.resends > s.d.retries() + 1u)
    fail(s,
         "I13 number of tries: " + std::to_string(s.tries - s.resends) + " started, " +
             std::to_string(s.d.retries() + 1u) + " allowed",
         now);
  if (t.tries() != static_cast<uint8_t>(s.tries - s.resends))
    fail(s,
         "I13 number of tries: try " + std::to_string(s.tries - s.resends) + " says it is " + std::to_string(t.tries()),
         now);
  if (t.port() != s.d.port() || t.qp() != s.d.qp() || digest != s.digest)
    fail(s, "I14 same bytes: a try on another port, QP, or with other bytes", now);
  if (const Finding f = lanes_.wire_taken(s.d.qp()); !f.empty()) fail(s, f, now);
}

void Scoreboard::sent(const abi::Sent& report, uint32_t now) {
  ++seq_;
  Send* found = live(report.slot(), report.generation());
  if (found == nullptr || found->phase != Phase::on_wire) return;  // stale: the device must take no notice
  Send& s = *found;
  lanes_.wire_returned(s.d.qp());
  s.phase = Phase::waiting;
  s.wire = report.status();
  s.vendor = report.vendor();
  const bool resend = s.wire == Status::flushed && report.recovery() != 0 && report.recovery() != s.recovery;
  if (s.cancelled || s.responded) {
    s.ending = true;
  } else if (s.wire == Status::success && s.d.timeout() != 0) {
    s.due = now + clamp(s.modified ? s.override_wait : s.wait);
    s.due_exact = !s.modified || s.modified_exactly;
    s.modified = false;
    s.left = true;
  } else if (resend) {
    s.phase = Phase::resend;
    s.recovery = report.recovery();
    ++s.resends;
  } else {
    s.ending = true;
  }
}

void Scoreboard::received(const abi::Received& r, uint32_t now) {
  ++seq_;
  if (r.buffer() >= buffers_.size()) buffers_.resize(r.buffer() + 1u);
  if (buffers_[r.buffer()])
    fail("contract: a MAD received into buffer " + std::to_string(r.buffer()) + ", which is in use", now);
  buffers_[r.buffer()] = r;
}

void Scoreboard::buffer_back(uint16_t buffer, uint32_t now) {
  if (buffer >= buffers_.size() || !buffers_[buffer])
    fail("I29 receive credits: buffer " + std::to_string(buffer) + " comes back twice or was never filled", now);
  else
    buffers_[buffer].reset();
}

void Scoreboard::dropped(uint16_t buffer, uint32_t now) {
  ++counts_.dropped;
  unmatched(buffer, now);
  buffer_back(buffer, now);
}

/// A response was given to no send: was there one for it?
void Scoreboard::unmatched(uint16_t buffer, uint32_t now) {
  if (!options_.in_order || buffer >= buffers_.size() || !buffers_[buffer] || !buffers_[buffer]->response()) return;
  const abi::Received& r = *buffers_[buffer];
  const auto [begin, end] = by_tid_.equal_range(r.tid());
  const bool others = std::distance(begin, end) > 1;
  for (auto i = begin; i != end; ++i) {
    const Send& s = sends_[i->second];
    const bool flushed = agents_[s.d.agent()].flushing != 0 || s.maybe_cancelled;
    if (!s.cancelled && !s.responded && !s.ending && !flushed && mismatch(s, r) == nullptr)
      fail(s,
           others ? "I8 dead entries do not hide live ones: a response was given to no send"
                  : "I10 completeness of matching: a response was given to no send",
           now);
  }
}

/// Why this MAD is not the response of this send; null if it is.
const char* Scoreboard::mismatch(const Send& s, const abi::Received& r) {
  if (!r.response()) return "the MAD is no response";
  if (r.tid() != s.d.tid()) return "another TID";
  if (r.mgmt_class() != s.d.mgmt_class()) return "another class";
  if (r.port() != s.d.port() || r.qp() != s.d.qp()) return "another port or QP";
  if (s.d.timeout() == 0) return "the send expects none";
  if (s.tries == 0 || (s.phase == Phase::resend && !s.left)) return "the send never left";
  if (r.mgmt_class() == kDirectedRouteClass) return nullptr;
  if (r.grh() != s.d.grh() || r.own_address() != s.d.own_address()) return "another address";
  if (s.d.match_source() && r.peer() != s.d.peer()) return "another responder";
  return nullptr;
}

void Scoreboard::completion(const abi::Completion& c) {
  ++seq_;
  switch (c.kind()) {
    case CompletionKind::send:
      completed(c);
      break;
    case CompletionKind::response:
      responded(c);
      break;
    case CompletionKind::response_send:
      responded(c);
      completed(c);
      break;
    case CompletionKind::unsolicited:
      ++counts_.unsolicited;
      if (c.buffer() < buffers_.size() && buffers_[c.buffer()] && buffers_[c.buffer()]->response() &&
          !buffers_[c.buffer()]->rmpp())
        fail("I10 completeness of matching: a response without RMPP was handed up as unsolicited", c.now());
      unmatched(c.buffer(), c.now());
      buffer_back(c.buffer(), c.now());
      break;
    case CompletionKind::flush_done:
      flush_done(c.agent(), c.now());
      break;
    case CompletionKind::port_event:
      break;
  }
}

void Scoreboard::responded(const abi::Completion& c) {
  ++counts_.responded;
  Send* s = named(c.slot(), c.generation(), "response", "I5 no response after completion", c.now());
  if (s != nullptr) {
    if (s->responded) fail(*s, "I4 at most one response", c.now());
    if (s->cancelled && options_.in_order) fail(*s, "I6 cancelled never matches", c.now());
    const bool filled = c.buffer() < buffers_.size() && buffers_[c.buffer()];
    const char* why = filled ? mismatch(*s, *buffers_[c.buffer()]) : "no such MAD was received";
    if (why != nullptr) fail(*s, std::string("I9 match implies all fields: ") + why, c.now());
    s->responded = true;
    free_window(*s);
  }
  buffer_back(c.buffer(), c.now());
}

void Scoreboard::completed(const abi::Completion& c) {
  ++counts_.completed;
  ++counts_.by_status[static_cast<unsigned>(c.status()) % abi::kStatusCount];
  Send* found = named(c.slot(), c.generation(), "completed", "I1 exactly one completion", c.now());
  if (found == nullptr) return;
  Send& s = *found;
  judge(s, c);
  free_window(s);
  if (s.tries == 0) lanes_.never_handed_down(s.d.lane(), name(s));
  if (s.phase == Phase::on_wire) {
    fail(s, "I23 queue conservation: completed while a try is on the wire", c.now());
    lanes_.wire_returned(s.d.qp());
  }
  s.outstanding = false;
  s.phase = Phase::none;
  --outstanding_;
  const auto [begin, end] = by_tid_.equal_range(s.d.tid());
  const auto entry = std::find_if(begin, end, [&](const auto& e) { return e.second == c.slot(); });
  if (entry != end) by_tid_.erase(entry);
}

/// Is this completion the truth about the send?
void Scoreboard::judge(const Send& s, const abi::Completion& c) {
  const uint32_t now = c.now(), tries = s.tries - s.resends;
  const Status status = c.status();
  const bool failed = s.ending && s.wire == Status::error;
  const std::string ends = std::string("ends as ") + abi::name_of(status);
  // A flushed try that its agent's flush had cancelled already was not taken back.
  const bool taken_back =
      s.phase == Phase::resend && flush_explains(s) && c.tries() == static_cast<uint8_t>(tries + 1u);
  if (c.tries() != static_cast<uint8_t>(tries) && !taken_back)
    fail(s, "I13 number of tries: completion says " + std::to_string(c.tries()) + ", it was " + std::to_string(tries),
         now);
  if (c.agent() != s.d.agent() || (s.tries != 0 && (c.tid() != s.d.tid() || c.lane() != s.d.lane())))
    fail(s, "I14 same TID: the completion carries another agent, TID or lane", now);
  if (s.responded && status != Status::success && !(failed && status == Status::error))
    return fail(s, "I7 cancel loses cleanly: answered, " + ends, now);
  if (s.cancelled && options_.in_order && status != Status::flushed)
    return fail(s, "I6 cancelled never matches: cancelled, " + ends, now);
  const bool flushed = status == Status::flushed && flush_explains(s);
  if (failed && !s.cancelled && !flushed && status != Status::error)
    return fail(s, "I31 error isolation: the wire failed it, " + ends, now);

  switch (status) {
    case Status::success:
      if (s.d.timeout() != 0 && !s.responded) fail(s, "I3 response before completion: success without a response", now);
      if (s.d.timeout() == 0 && !s.ending) fail(s, "I1 exactly one completion: success before the wire said so", now);
      break;
    case Status::timeout:
      judge_timeout(s, c);
      break;
    case Status::deadline:
      if (!s.timed && (s.d.deadline() == 0 || exact()))
        fail(s, "policy 3: ends by a deadline it does not have", now);
      else if (!later(now, s.deadline))
        fail(s, "I12 never early: deadline is after tick " + std::to_string(s.deadline), now);
      break;
    case Status::flushed:
      if (!s.cancelled && !flush_explains(s) && !(s.tries == 0 && lanes_.closing(s.d.lane())) &&
          !(s.ending && s.wire == Status::flushed))
        fail(s, "I16 deregistration completes: flushed, and nobody asked for it", now);
      break;
    case Status::error:
      if (!failed)
        fail(s, "I31 error isolation: the wire failed another send", now);
      else if (c.vendor() != s.vendor)
        fail(s, "I31 error isolation: another vendor code", now);
      break;
    case Status::duplicate:
      if (s.tries != 0 || (options_.in_order && !same_live(s, false)))
        fail(s, "policy 7: a duplicate of no live send", now);
      break;
  }
}

void Scoreboard::judge_timeout(const Send& s, const abi::Completion& c) {
  if (s.d.timeout() == 0) return fail(s, "I13 number of tries: timed out without a timeout", c.now());
  if (s.phase != Phase::waiting)
    return fail(s, "I11 no timer before the wire: timed out while no try had left", c.now());
  if (!later(c.now(), s.due)) fail(s, "I12 never early: timed out, waits until " + std::to_string(s.due), c.now());
  if (s.tries - s.resends != s.d.retries() + 1u)
    fail(s,
         "I13 number of tries: timed out after " + std::to_string(s.tries - s.resends) + " of " +
             std::to_string(s.d.retries() + 1u),
         c.now());
  if (s.timed_exactly && later(c.now(), s.deadline)) fail(s, "policy 3: timed out, its deadline had passed", c.now());
}

/// A flush of its agent was asked for after it was accepted.
bool Scoreboard::flush_explains(const Send& s) {
  const Agent& agent = agents_[s.d.agent()];
  return agent.flushing != 0 || s.accepted_seq < agent.flush_seq || s.maybe_cancelled;
}

/// Is there a live send of the same TID and class? After a flush some may be live or not.
bool Scoreboard::same_live(const Send& s, bool certainly) const {
  const auto [begin, end] = by_tid_.equal_range(s.d.tid());
  return std::any_of(begin, end, [&](const auto& e) {
    const Send& o = sends_[e.second];
    return &o != &s && o.d.mgmt_class() == s.d.mgmt_class() && o.d.timeout() != 0 && o.tries != 0 && !o.responded &&
           !o.cancelled && !o.ending && !(certainly && o.maybe_cancelled);
  });
}

void Scoreboard::flush_done(uint32_t agent, uint32_t now) {
  const auto flush = std::find_if(flushes_.begin(), flushes_.end(), [&](const Flush& f) { return f.agent == agent; });
  if (flush == flushes_.end())
    return fail("I16 deregistration completes: flush done of agent " + std::to_string(agent) + " twice or unasked",
                now);
  const uint64_t seq = flush->seq;
  flushes_.erase(flush);
  --agents_[agent].flushing;
  for (Send& s : sends_) {
    const bool visited = s.outstanding && s.d.agent() == agent && s.first_try_seq != 0 && s.first_try_seq < seq;
    // Handed down while the flush went on: it may have been met or not.
    if (s.outstanding && s.d.agent() == agent && s.phase == Phase::on_wire && !visited) s.maybe_cancelled = true;
    if (!visited || s.responded || s.cancelled) continue;
    if (s.phase != Phase::on_wire && options_.in_order)
      fail(s, "I16 deregistration completes: outstanding after the flush of its agent", now);
    cancel(s);
  }
}

void Scoreboard::deregistered(uint32_t agent, uint32_t now) {
  agents_[agent].closing = agents_[agent].gone = true;
  for (const Send& s : sends_) {
    if (s.outstanding && s.d.agent() == agent)
      fail(s, "I16 deregistration completes: outstanding when it returned", now);
  }
}

void Scoreboard::idle(uint32_t now) {
  if (!options_.in_order) return;
  for (const Finding& f : lanes_.idle()) fail(f, now);
  if (!flushes_.empty()) fail("I16 deregistration completes: idle with a flush to do", now);
  if (outstanding_ == 0) return;
  for (const Send& s : sends_) {
    if (!s.outstanding) continue;
    if (s.ending)
      fail(s,
           s.wire == Status::error ? "I31 error isolation: not completed at once"
                                   : "I1 exactly one completion: overdue after its last report",
           now);
    if (s.phase == Phase::on_wire) continue;
    if (s.cancelled) fail(s, "I1 exactly one completion: overdue after its cancel", now);
    if (s.timed_exactly && later(now, s.deadline + options_.lateness))
      fail(s, "I12 boundedly late: outstanding after its deadline", now);
    const bool expired = s.phase == Phase::waiting && s.due_exact && later(now, s.due + options_.lateness);
    const bool last = s.tries - s.resends == s.d.retries() + 1u;
    if (expired && last)
      fail(s, "I12 boundedly late: still waits, its time was up after " + std::to_string(s.due), now);
    if (((expired && !last) || s.phase == Phase::resend) && lanes_.wire_free(s.d.qp()))
      fail(s, "I26 stall: its next try is not handed down", now);
  }
}

void Scoreboard::finish(uint32_t now) {
  for (const Send& s : sends_) {
    if (s.outstanding) fail(s, "I1 exactly one completion: none came", now);
  }
  for (size_t buffer = 0; buffer < buffers_.size(); ++buffer) {
    if (buffers_[buffer]) fail("I29 receive credits: buffer " + std::to_string(buffer) + " never came back", now);
  }
  for (const Finding& f : lanes_.finish()) fail(f, now);
}

}  // namespace tidemill::test
