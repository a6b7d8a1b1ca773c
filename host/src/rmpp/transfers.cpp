// SPDX-License-Identifier: Apache-2.0
/// Messages on their way out, and the common part.
#include "rmpp/transfers.hpp"

#include <algorithm>

#include "runtime/agent_state.hpp"
#include "runtime/device_state.hpp"

namespace tidemill::rmpp {
namespace {

/// Without a timeout from the caller: how long an ACK may take at first, and how often a window is sent again.
constexpr Nanoseconds kFirstWait = std::chrono::milliseconds(200);
constexpr unsigned kRetries = 8;

constexpr uint32_t low(uint64_t tid) {
  return static_cast<uint32_t>(tid);
}

}  // namespace

// ------------------------------------------------------------------ any thread

Errc Transfers::post(const SendRequest& r, uint64_t tid, bool expects, detail::Waiter* waiter, Nanoseconds now,
                     SendId& id) {
  const std::lock_guard lock(posted_mutex_);
  const std::size_t limit = agent_.registration().message_limit;
  if (r.mad.size() > limit) return Errc::bad_length;
  if (outgoing_ + r.mad.size() > limit) return Errc::would_block;
  std::vector<std::byte> message(r.mad.begin(), r.mad.end());
  for (unsigned i = 0; i < 8; ++i) message[8 + i] = static_cast<std::byte>(tid >> (56 - 8 * i));
  const Number number = next_number_++;
  if (next_number_ == 0) next_number_ = 1;
  const bool paced = r.pace.timeout.count() > 0;
  posted_.emplace_back(number, Sending{.sender = Sender(std::move(message), paced ? r.pace.timeout : kFirstWait,
                                                        paced ? r.pace.retries : kRetries),
                                       .to = r.to,
                                       .pace = r.pace,
                                       .context = r.context,
                                       .waiter = waiter,
                                       .posted = now,
                                       .tid = tid,
                                       .tries = 0,
                                       .expects = expects,
                                       .last = {}});
  live_.emplace(number, Life::waiting);
  outgoing_ += r.mad.size();
  id = {.message = number};
  wake();
  return Errc::ok;
}

bool Transfers::cancel(uint32_t message) {
  const std::lock_guard lock(posted_mutex_);
  const auto found = live_.find(message);
  if (found == live_.end() || found->second != Life::waiting) return false;
  found->second = Life::cancelled;
  wake();
  return true;
}

void Transfers::stop(bool closing) {
  const std::lock_guard lock(posted_mutex_);
  stop_ = true;
  closing_ |= closing;
  wake();
}

void Transfers::wake() {
  woken_.store(true);  // in one order with unlist(): either sees the other
  if (!listed_.exchange(true)) agent_.device().queue_transfers(agent_.shared_from_this());
}

void Transfers::watch(Nanoseconds at) {
  due_ = std::min(due_, at);
  if (!listed_.exchange(true)) agent_.device().queue_transfers(agent_.shared_from_this());
}

bool Transfers::unlist() {
  if (!sending_.empty() || !receiving_.empty() || !finished_.empty() || woken_.load(std::memory_order_acquire))
    return false;
  listed_.store(false);
  // A post in between found it listed: it stays so.
  return !woken_.load() || listed_.exchange(true);
}

// ------------------------------------------------------------------ making progress

bool Transfers::step(Nanoseconds now) {
  bool moved = false;
  if (woken_.exchange(false, std::memory_order_acq_rel)) moved = take_posted(now);
  if (blocked_) {
    blocked_ = false;
    for (auto& [number, s] : sending_) transmit(number, s, now);
    moved |= !blocked_;
  }
  if (now >= due_) moved |= look_at_time(now);
  return moved;
}

bool Transfers::take_posted(Nanoseconds now) {
  std::vector<std::pair<Number, Sending>> posted;
  std::vector<Number> flushed;
  bool stop = false, closing = false;
  {
    const std::lock_guard lock(posted_mutex_);
    posted.swap(posted_);
    stop = std::exchange(stop_, false);
    closing = closing_;
    for (const auto& [number, life] : live_)
      if (stop || life == Life::cancelled) flushed.push_back(number);
  }
  for (auto& [number, s] : posted) sending_.emplace(number, std::move(s));
  for (const Number number : flushed) message_done(number, SendStatus::flushed);
  if (stop)
    while (!receiving_.empty()) give_up(receiving_.begin(), SendStatus::flushed, Reason::unspecified);
  if (closing) {
    // Nobody is answered any more, and what is remembered would keep the agent, and with it the device, alive.
    finished_.clear();
    finished_order_.clear();
  }
  for (const auto& [number, s] : posted)
    if (const auto found = sending_.find(number); found != sending_.end()) transmit(number, found->second, now);
  return true;
}

bool Transfers::look_at_time(Nanoseconds now) {
  due_ = Nanoseconds::max();
  std::vector<Number> late;
  for (auto& [number, s] : sending_) {
    if (s.pace.deadline.count() > 0) {
      if (now >= s.posted + s.pace.deadline) {
        late.push_back(number);
        continue;
      }
      watch(s.posted + s.pace.deadline);
    }
    if (s.sender.acknowledged()) continue;  // the engine waits for the response
    if (now >= s.sender.due()) {
      if (!s.sender.on_time(now)) {
        late.push_back(number);
        continue;
      }
      transmit(number, s, now);
    }
    watch(s.sender.due());
  }
  for (const Number number : late) {
    const Sending& s = sending_.at(number);
    const bool deadline = s.sender.reason() == Reason::none;
    if (!s.sender.acknowledged())
      answer(s.sender.headers(), s.to, Type::abort, deadline ? Reason::too_long : Reason::too_many_retries, 0, 0);
    message_done(number, deadline ? SendStatus::deadline : SendStatus::timeout);
  }
  for (auto at = receiving_.begin(); at != receiving_.end();) {
    const auto next = std::next(at);
    const Nanoseconds due = std::min(at->second.due, at->second.end);
    if (now >= due)
      give_up(at, SendStatus::timeout, Reason::too_long);
    else
      watch(due);
    at = next;
  }
  while (!finished_order_.empty()) {
    const auto found = finished_.find(finished_order_.front());
    if (found != finished_.end() && found->second.forget > now) {
      watch(found->second.forget);
      break;
    }
    if (found != finished_.end()) finished_.erase(found);
    finished_order_.pop_front();
  }
  return true;
}

void Transfers::transmit(Number number, Sending& s, Nanoseconds now) {
  while (const uint32_t next = s.sender.next()) {
    const Mad segment = s.sender.segment(next);
    SendRequest r{.mad = segment.bytes(), .to = s.to, .pace = {}, .tid = low(s.tid), .context = number};
    const bool asks = s.expects && next == s.sender.segments() && !s.last;
    // Its timer proper begins with the last ACK; until then the window's own runs.
    if (asks) r.pace.timeout = s.pace.timeout + 2 * Sender::kLongestWait;
    SendId id;
    const BatchResult posted = agent_.post({&r, 1}, {&id, 1}, &segments_, true);
    if (posted.accepted == 0) {
      // Closing ends all messages by stop(); so does a removed device, but this one came after that.
      if (posted.refused == Errc::device_failed) stop(false);
      blocked_ |= posted.refused == Errc::would_block;
      break;
    }
    if (asks) s.last = id;
    if (next == 1) ++s.tries;
    s.sender.sent(now);
  }
  watch(s.sender.due());
  if (s.pace.deadline.count() > 0) watch(s.posted + s.pace.deadline);
  if (blocked_) watch(now + std::chrono::milliseconds(1));
}

void Transfers::segment_completed(const SendCompletion& c) {
  const auto number = static_cast<Number>(c.context);
  const auto found = sending_.find(number);
  if (found == sending_.end()) return;
  Sending& s = found->second;
  const bool asked = s.last == c.id;
  if (asked) s.last.reset();
  switch (c.status) {
    case SendStatus::success:
      if (asked) message_done(number, SendStatus::success);
      break;
    case SendStatus::timeout:
      if (asked && s.sender.acknowledged()) message_done(number, SendStatus::timeout);
      break;
    default:
      message_done(number, c.status, static_cast<Reason>(c.vendor));
      break;
  }
}

void Transfers::message_done(Number number, SendStatus status, Reason reason) {
  const auto found = sending_.find(number);
  if (found == sending_.end()) return;
  const Sending s = std::move(found->second);
  sending_.erase(found);
  if (s.last) agent_.cancel(*s.last);
  {
    const std::lock_guard lock(posted_mutex_);
    const auto life = live_.find(number);
    if (life->second == Life::cancelled) status = SendStatus::flushed;
    live_.erase(life);
    outgoing_ -= s.sender.length();
  }
  const SendCompletion done{.id = {.message = number},
                            .status = status,
                            .tries = s.tries,
                            .elapsed = agent_.device().now() - s.posted,
                            .context = s.context,
                            .vendor = static_cast<uint8_t>(reason)};
  agent_.complete(done, s.waiter);
}

std::map<Transfers::Number, Transfers::Sending>::iterator Transfers::find_sending(const Received& r) {
  return std::find_if(sending_.begin(), sending_.end(), [&r](const auto& entry) {
    const Sending& s = entry.second;
    const MadView sent = s.sender.headers();
    return s.tid == r.mad.tid() && sent.mgmt_class() == r.mad.mgmt_class() &&
           sent.method() == (r.mad.method() ^ mad_method::response_bit) && (s.to.grh || s.to.lid == r.from.lid);
  });
}

void Transfers::on_ack(const Received& r) {
  const auto found = find_sending(r);
  if (found == sending_.end()) return;
  auto& [number, s] = *found;
  if (s.sender.acknowledged()) return;  // once more; it waits for the response, as long as it was told to
  if (r.mad.rmpp_version() != 1) {
    answer(r.mad, r.from, Type::abort, Reason::unsupported_version, 0, 0);
    message_done(number, SendStatus::error, Reason::unsupported_version);
    return;
  }
  const Nanoseconds now = agent_.device().now();
  switch (s.sender.on_ack(r.mad.rmpp_segment(), r.mad.rmpp_length(), now)) {
    case Sender::Step::ignored:
      break;
    case Sender::Step::progress:
      transmit(number, s, now);
      break;
    case Sender::Step::refused:
      answer(r.mad, r.from, Type::abort, s.sender.reason(), 0, 0);
      message_done(number, SendStatus::error, s.sender.reason());
      break;
    case Sender::Step::acknowledged:
      if (!s.expects)
        message_done(number, SendStatus::success);
      else if (s.last)
        agent_.modify(*s.last, s.pace.timeout);
      else
        message_done(number, SendStatus::timeout);
      break;
  }
}

void Transfers::answer(MadView to, const Address& at, Type type, Reason reason, uint32_t segment, uint32_t length) {
  const Mad mad = make_answer(to, type, reason, segment, length);
  const SendRequest r{.mad = mad.bytes(), .to = at, .pace = {}, .tid = low(to.tid()), .context = 0};
  // One that finds no room is lost like any on the wire: what it answers comes again.
  agent_.post({&r, 1}, {}, &segments_, true);
}

}  // namespace tidemill::rmpp
