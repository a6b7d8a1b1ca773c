// SPDX-License-Identifier: Apache-2.0
/// What the board sees on the wire: tries, their reports, what arrives; order, windows and fair shares.
#include <algorithm>
#include <cstring>

#include "runtime_board.hpp"
#include "tidemill/mad.hpp"

namespace tidemill::test {

Nanoseconds RuntimeBoard::wait_of_try(const Send& s) const {
  const Pace& pace = s.request.pace;
  Nanoseconds wait = pace.timeout;
  if (pace.backoff_cap.count() == 0) return wait;
  for (uint32_t i = 1; i < s.tries - s.resends && wait < pace.backoff_cap; ++i)
    wait = std::min(wait * 2, pace.backoff_cap);
  return std::max(wait, pace.timeout);
}

// ------------------------------------------------------------------ windows

/// Nothing that is known to the board can have freed its window slot.
bool RuntimeBoard::certainly_in_use(const Send& s) const {
  const Pace& pace = s.request.pace;
  if (!s.counted || s.tries == 0 || s.over || s.responding || s.responded || s.maybe_answered || s.cancel_called ||
      s.modified || s.agent->closing || removed_ || pace.deadline.count() != 0)
    return false;
  if (s.on_wire) return true;
  if (s.last == WireStatus::error || s.flushed_for_good) return false;
  return s.tries - s.resends <= pace.retries || now() < s.reported + pace.timeout;
}
bool RuntimeBoard::maybe_in_use(const Send& s) const {
  return s.counted && s.tries != 0 && !s.over;
}

bool RuntimeBoard::window_allows(const Agent& a) const {
  const uint32_t window =
      a.window == 0 || a.old_window == 0 ? std::max(a.window, a.old_window) : std::min(a.window, a.old_window);
  if (window == 0) return true;
  uint32_t used = 0;
  for (const auto& [serial, s] : live_) used += s->agent == &a && maybe_in_use(*s);
  return used < window;
}

// ------------------------------------------------------------------ first tries

void RuntimeBoard::leave_queue(Send& s) {
  Queue& queue = *s.agent->queues[s.counted ? 0 : 1];
  const auto place = std::find(queue.waiting.begin(), queue.waiting.end(), &s);
  if (place == queue.waiting.end()) return;
  queue.waiting.erase(place);
  ++queue.lost;
  if (queue.waiting.empty()) queue.able = false;
}

void RuntimeBoard::first_try(Send& s) {
  Agent& a = *s.agent;
  Queue& queue = *a.queues[s.counted ? 0 : 1];
  Group& group = this->group(a);
  const auto place = std::find(queue.waiting.begin(), queue.waiting.end(), &s);
  if (order_shows() && !s.request.tid) {
    for (auto ahead = queue.waiting.begin(); ahead != place; ++ahead) {
      const Send& o = **ahead;
      if (o.returned == 0 || o.returned > s.began || o.cancel_called || o.request.tid ||
          o.request.pace.deadline.count() != 0)
        continue;
      fail(s, "I24 order: handed down before send " + std::to_string(o.serial) + ", which was accepted earlier");
      break;
    }
  }
  // What is handed down while there is no window holds no slot of one that comes later.
  s.windowed = a.window != 0 && a.old_window != 0;
  if (s.counted) {
    const uint32_t window = passes_ >= a.window_pass             ? a.window
                            : a.window == 0 || a.old_window == 0 ? 0
                                                                 : std::max(a.window, a.old_window);
    uint32_t used = 0;
    if (window != 0)
      for (const auto& [serial, o] : live_) used += o->agent == &a && o != &s && o->windowed && certainly_in_use(*o);
    if (window != 0 && used >= window)
      fail(s, "I25 window: " + std::to_string(used + 1) + " in use, " + std::to_string(window) + " allowed");
  }
  if (order_shows() && queue.able && !a.closing) {
    const uint64_t waited = group.first_tries - queue.since,
                   bound = uint64_t{group.weights} * (1 + queue.lost) + options_.decided_ahead;
    if (waited > bound)
      fail(s, "I27 fair service: waited for " + std::to_string(waited) + " others, its share is one after at most " +
                  std::to_string(bound));
  }
  if (place != queue.waiting.end()) queue.waiting.erase(place);
  queue.lost = 0;
  queue.since = ++group.first_tries;
  // A front whose post has not returned may yet be refused, or stand still between board and runtime.
  queue.able =
      queue.able && !queue.waiting.empty() && queue.waiting.front()->returned != 0 && (!s.counted || window_allows(a));
}

// ------------------------------------------------------------------ passes

void RuntimeBoard::polling() {
  const std::lock_guard lock(mutex_);
  ++progress_;
  ++moment_;
  ++passes_;
  if (!order_shows()) return;
  for (auto i = listed_.begin(); i != listed_.end();) {
    Queue& queue = **i;
    if (queue.waiting.empty()) {
      queue.listed = queue.able = false;
      i = listed_.erase(i);
      continue;
    }
    Agent& a = *owner_.at(&queue);
    if (passes_ >= a.window_pass) a.old_window = a.window;
    const bool able = queue.waiting.front()->returned != 0 && (!queue.waiting.front()->counted || window_allows(a));
    if (able && !queue.able) queue.since = group(a).first_tries;
    queue.able = able;
    ++i;
  }
}

/// Called when a poll has found nothing more to do.
void RuntimeBoard::idle() {
  const std::lock_guard lock(mutex_);
  if (!order_shows() || removed_) return;
  for (Queue* queue : listed_) {
    if (queue->waiting.empty()) continue;
    const Send& s = *queue->waiting.front();
    const Agent& a = *s.agent;
    const auto qp = static_cast<unsigned>(a.rules.qp);
    if (s.returned == 0 || a.closing || depth_used_[qp] >= options_.wire.send_depth[qp]) continue;
    if (s.counted && !window_allows(a)) continue;
    fail(s, s.counted ? "I26 no stall: nothing holds it, and it is not handed down"
                      : "I28 replies are not blocked: it stands in no window, and is not handed down");
  }
}

// ------------------------------------------------------------------ the wire

void RuntimeBoard::transmitted(const WireSend& w, Serial serial) {
  const std::lock_guard lock(mutex_);
  ++progress_;
  ++moment_;
  ++counts_.transmitted;
  const auto qp = static_cast<unsigned>(w.qp);
  if (++depth_used_[qp] > options_.wire.send_depth[qp])
    fail("I23 queue conservation: " + std::to_string(depth_used_[qp]) + " tries on the wire, the queue holds " +
         std::to_string(options_.wire.send_depth[qp]));
  OnWire entry{serial, w.qp, w.mad, {}};
  std::copy_n(w.mad.begin(), std::min(w.mad.size(), kMadBytes), entry.bytes.begin());
  const MadView mad(entry.bytes);
  if (!on_wire_.emplace(w.token, entry).second) fail("I11 a try while another of the same send is on the wire");
  const auto found = sends_.find(serial);
  if (found == sends_.end()) return;  // none of the program's: an automatic answer, or too short for its number
  Send& s = found->second;
  if (s.refused) fail(s, "I2 none for a refused post: transmitted");
  if (s.over && !s.refused) fail(s, "I1 exactly one completion, and nothing after it: transmitted");
  silence(*s.agent, "transmission");
  if (s.responded || s.responding) fail(s, "I13 number of tries: a try after the response");
  if (s.on_wire) fail(s, "I11 a try while another is on the wire");
  if (w.qp != s.agent->rules.qp || !(w.to == s.request.to))
    fail(s, "I14 same bytes: a try on another QP, or to another address");
  if (s.tries == 0) {
    s.bytes = entry.bytes;
    s.tid = mad.tid();
    by_tid_[s.tid].push_back(&s);
    if (!s.response && static_cast<uint32_t>(s.tid >> 32) != s.agent->id && s.agent->id != 0)
      fail(s, "I20 the upper half of a request's TID is its agent's id");
    if (s.request.pace.timeout.count() != 0)
      for (const Send* o : by_tid_[s.tid])
        if (o != &s && certainly_in_use(*o) && o->mgmt_class == s.mgmt_class)
          fail(s, "transmitted while a live send has its TID and class");
    first_try(s);
  } else {
    if (s.bytes != entry.bytes) fail(s, "I14 same bytes: a later try carries others");
    const bool again = s.last == WireStatus::flushed;
    if (!again && s.request.pace.timeout.count() == 0) fail(s, "I13 number of tries: tried again without a timeout");
    if (!again && !s.modified && options_.clock && now() - s.reported < wait_of_try(s))
      fail(s, "I12 never early: tried again before its time");
    if (s.last == WireStatus::error) fail(s, "I31 error isolation: tried again after an error of the wire");
  }
  ++s.tries;
  s.on_wire = true;
  s.last.reset();
  if (s.tries - s.resends > s.request.pace.retries + 1)
    fail(s, "I13 number of tries: " + std::to_string(s.tries - s.resends) + " started, " +
                std::to_string(s.request.pace.retries + 1) + " allowed");
}

void RuntimeBoard::reported(uint64_t token, WireStatus status, uint8_t vendor, uint8_t recovery) {
  const std::lock_guard lock(mutex_);
  ++progress_;
  const auto entry = on_wire_.find(token);
  if (entry == on_wire_.end()) return;  // the wire's fault, not the runtime's
  const OnWire w = entry->second;
  on_wire_.erase(entry);
  --depth_used_[static_cast<unsigned>(w.qp)];
  const auto found = sends_.find(w.send);
  if (found == sends_.end()) return;
  Send& s = found->second;
  // Over, its slot may carry the next send's bytes; that it ended with a try out is a finding of its own.
  if (!s.over && !std::equal(w.mad.begin(), w.mad.end(), w.bytes.begin()))
    fail(s, "I14 same bytes: they changed while the wire had them");
  s.on_wire = false;
  s.last = status;
  s.vendor = vendor;
  s.reported = now();
  if (status == WireStatus::sent) s.left = true;
  if (status != WireStatus::flushed) return;
  if (recovery != 0 && recovery != s.recovery) {
    s.recovery = recovery;
    ++s.resends;
  } else {
    s.flushed_for_good = true;
  }
}

void RuntimeBoard::arrived(const WireReceived& r) {
  const std::lock_guard lock(mutex_);
  ++moment_;
  if (r.mad.size() != kMadBytes) return;
  std::string key(reinterpret_cast<const char*>(r.mad.data()), r.mad.size());
  key.push_back(static_cast<char>(r.qp));
  ++arrivals_[key];
  const MadView mad(r.mad.first<kMadBytes>());
  if (!mad.is_response()) return;
  const auto sends = by_tid_.find(mad.tid());
  if (sends == by_tid_.end()) return;
  for (Send* s : sends->second) {
    if (s->over) continue;
    const bool fits = mad.base_version() == 1 && mismatch(*s, mad, r.from, r.qp) == nullptr;
    // A tick or two before its time it may have been given up already.
    const bool waits = s->on_wire || (s->last == WireStatus::sent &&
                                      (now() + std::chrono::microseconds(10) < s->reported + wait_of_try(*s)));
    if (fits && waits && !s->maybe_answered && !s->cancel_called && !s->modified && !s->agent->closing && !removed_ &&
        s->agent->may_receive && s->request.pace.deadline.count() == 0)
      s->must_match = true;
    s->maybe_answered = true;
  }
}

void RuntimeBoard::event(PortEvent e) {
  const std::lock_guard lock(mutex_);
  if (e == PortEvent::device_removed) removed_ = true;
}

}  // namespace tidemill::test
