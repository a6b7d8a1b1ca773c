// SPDX-License-Identifier: Apache-2.0
/// Messages on their way in.
#include <algorithm>

#include "rmpp/transfers.hpp"
#include "runtime/agent_state.hpp"
#include "runtime/device_state.hpp"

namespace tidemill::rmpp {
namespace {

/// IBA 13.6.3.2; how long a message may take as a whole, and an ended one is answered for.
constexpr Nanoseconds kWhole = std::chrono::seconds(40), kRemember = std::chrono::seconds(10);
/// Between segments, for a message nobody asked for.
constexpr Nanoseconds kIdle = std::chrono::seconds(10);
constexpr std::size_t kMostIncoming = 4096, kMostRemembered = 1024;

std::pair<uint16_t, uint16_t> name(SendId id) {
  return {id.slot, id.generation};
}

}  // namespace

Transfers::Key Transfers::key_of(const Received& r) {
  return {r.mad.tid(),
          r.from.qpn,
          r.from.lid,
          r.mad.mgmt_class(),
          r.mad.class_version(),
          r.mad.method(),
          r.from.grh ? r.from.grh->gid : Gid{}};
}

bool Transfers::begin_response(const Received& r, SendId engine_send, detail::Waiter* waiter, Nanoseconds timeout) {
  if (!r.mad.rmpp_active()) {
    if (waiter != &segments_) return false;
    deliver(r, waiter);  // a short answer to a message
    return true;
  }
  Answered answered;
  {
    const std::lock_guard lock(posted_mutex_);
    if (closing_) answered.status = SendStatus::flushed;
  }
  if (answered.status == SendStatus::success) {
    const Key key = key_of(r);
    // A new transaction by an old name: what is left of the old one goes.
    if (const auto old = receiving_.find(key); old != receiving_.end())
      give_up(old, SendStatus::timeout, Reason::unspecified);
    finished_.erase(key);
    const auto at = begin(key, r, timeout);
    at->second.answers = engine_send;
    at->second.context = r.context;
    at->second.waiter = waiter;
    answered.reason = r.mad.rmpp_version() == 1 ? Reason::none : Reason::unsupported_version;
    if (answered.reason == Reason::none)
      answered.reason = feed(at, r);
    else
      give_up(at, SendStatus::error, answered.reason);
    if (answered.reason != Reason::none) answered.status = SendStatus::error;
    if (receiving_.contains(key)) answered.key = key;
  }
  // A message that is whole already needs nothing more: its completion passes.
  if (answered.key || answered.status != SendStatus::success) answered_[name(engine_send)] = answered;
  return true;
}

bool Transfers::keep(const SendCompletion& done, detail::Waiter* waiter) {
  const auto found = answered_.find(name(done.id));
  if (found == answered_.end()) return false;
  const Answered answered = found->second;
  answered_.erase(found);
  if (answered.key && done.status == SendStatus::success) {
    Receiving& r = receiving_.at(*answered.key);
    r.completion = done;
    r.completed = agent_.device().now();
    return true;
  }
  if (answered.key) {
    // The send fails after all: what has come of its response goes, and its bytes count no more.
    const auto at = receiving_.find(*answered.key);
    at->second.answers.reset();
    give_up(at, SendStatus::flushed, Reason::unspecified);
  }
  SendCompletion ended = done;
  if (ended.status == SendStatus::success) {
    ended.status = answered.status;
    ended.vendor = static_cast<uint8_t>(answered.reason);
  }
  agent_.complete(ended, waiter);
  return true;
}

void Transfers::received(const Received& r) {
  {
    // All transfers of a closing agent end; a new one would outlive it.
    const std::lock_guard lock(posted_mutex_);
    if (closing_) return;
  }
  switch (static_cast<Type>(r.mad.rmpp_type())) {
    case Type::data:
      on_data(r);
      break;
    case Type::ack:
      on_ack(r);
      break;
    case Type::stop:
    case Type::abort:
      on_end(r);
      break;
    default:
      // Of a transfer that lives it is the end, for both sides; from anybody else it is nothing.
      if (const auto sending = find_sending(r); sending != sending_.end()) {
        answer(r.mad, r.from, Type::abort, Reason::bad_type, 0, 0);
        message_done(sending->first, SendStatus::error, Reason::bad_type);
      } else if (const auto at = receiving_.find(key_of(r)); at != receiving_.end()) {
        give_up(at, SendStatus::error, Reason::bad_type);
      }
      break;
  }
}

void Transfers::on_end(const Received& r) {
  const auto reason = static_cast<Reason>(r.mad.rmpp_status());
  if (const auto sending = find_sending(r); sending != sending_.end()) {
    message_done(sending->first, SendStatus::error, reason);
  } else if (const auto at = receiving_.find(key_of(r)); at != receiving_.end()) {
    at->second.silent = true;
    give_up(at, SendStatus::error, reason);
  }
}

void Transfers::on_data(const Received& r) {
  const Key key = key_of(r);
  if (const auto at = receiving_.find(key); at != receiving_.end()) {
    if (r.mad.rmpp_version() == 1)
      feed(at, r);
    else
      give_up(at, SendStatus::error, Reason::unsupported_version);
    return;
  }
  if (const auto done = finished_.find(key); done != finished_.end()) {
    if (r.mad.rmpp_segment() == done->second.last)
      answer(r.mad, r.from, Type::ack, Reason::none, done->second.last, done->second.window);
    return;
  }
  if (r.mad.is_response() || r.mad.rmpp_segment() > 1) return;
  Reason refused = r.mad.rmpp_version() == 1 ? Reason::none : Reason::unsupported_version;
  if (receiving_.size() >= kMostIncoming) refused = Reason::resources_exhausted;
  if (refused != Reason::none) {
    answer(r.mad, r.from, refused == Reason::resources_exhausted ? Type::stop : Type::abort, refused, 0, 0);
    return;
  }
  feed(begin(key, r, kIdle), r);
}

Transfers::Incoming Transfers::begin(const Key& key, const Received& r, Nanoseconds idle) {
  const Nanoseconds now = agent_.device().now();
  Receiving& to = receiving_[key];
  to.first = Mad(r.mad);
  to.from = r.from;
  to.qp = r.qp;
  to.port = r.port;
  to.idle = idle;
  to.due = now + idle;
  to.end = now + kWhole;
  return receiving_.find(key);
}

Reason Transfers::feed(Incoming at, const Received& r) {
  Receiving& to = at->second;
  const std::size_t before = to.message.bytes(), room = agent_.registration().message_limit -
                                                        std::min(incoming_, agent_.registration().message_limit);
  const Reassembly::Outcome outcome = to.message.on_data(r.mad, before + room);
  incoming_ += to.message.bytes() - before;
  if (outcome.refused != Reason::none) {
    give_up(at, SendStatus::error, outcome.refused);
    return outcome.refused;
  }
  if (outcome.acknowledge)
    answer(r.mad, r.from, Type::ack, Reason::none, to.message.acknowledged(), to.message.window_last());
  const Nanoseconds now = agent_.device().now();
  to.due = now + to.idle;
  watch(std::min(to.due, to.end));
  if (outcome.whole) whole(at);
  return Reason::none;
}

void Transfers::deliver(const Received& r, detail::Waiter* waiter) {
  Received to_user{.mad = r.mad,
                   .from = r.from,
                   .qp = r.qp,
                   .port = r.port,
                   .matched = r.matched,
                   .context = r.context,
                   .message = r.message};
  if (waiter == &segments_) {
    // The answer to a message: it goes by the message's name, unless that has been cancelled.
    const auto number = static_cast<Number>(r.context);
    const auto found = sending_.find(number);
    if (found == sending_.end()) return;
    {
      const std::lock_guard lock(posted_mutex_);
      Life& life = live_.at(number);
      if (life == Life::cancelled) return;
      life = Life::answering;
    }
    to_user.matched = SendId{.message = number};
    to_user.context = found->second.context;
    waiter = found->second.waiter;
  }
  if (!agent_.deliver(to_user, waiter))
    agent_.port().dropped(DropCause::no_handler);
  else if (!to_user.matched)
    agent_.port().count_unsolicited();
}

void Transfers::whole(Incoming at) {
  Receiving r = std::move(at->second);
  remember(at->first, r.message, agent_.device().now());
  incoming_ -= r.message.bytes();
  receiving_.erase(at);
  const std::vector<std::byte> message = r.message.take();
  if (r.answers) answered_.erase(name(*r.answers));
  deliver({.mad = r.first.view(),
           .from = r.from,
           .qp = r.qp,
           .port = r.port,
           .matched = r.answers,
           .context = r.context,
           .message = message},
          r.waiter);
  if (!r.completion) return;
  r.completion->elapsed += agent_.device().now() - r.completed;
  agent_.complete(*r.completion, r.waiter);
}

void Transfers::give_up(Incoming at, SendStatus status, Reason reason) {
  Receiving r = std::move(at->second);
  incoming_ -= r.message.bytes();
  receiving_.erase(at);
  if (!r.silent) {
    const bool full = reason == Reason::resources_exhausted;
    answer(r.first.view(), r.from, full ? Type::stop : Type::abort, reason, 0, 0);
  }
  if (!r.answers) return;
  if (const auto answered = answered_.find(name(*r.answers)); answered != answered_.end())
    answered->second = {.key = {}, .status = status, .reason = reason};
  if (!r.completion) return;
  r.completion->elapsed += agent_.device().now() - r.completed;
  r.completion->status = status;
  r.completion->vendor = static_cast<uint8_t>(reason);
  agent_.complete(*r.completion, r.waiter);
}

void Transfers::remember(const Key& key, const Reassembly& message, Nanoseconds now) {
  while (finished_order_.size() >= kMostRemembered) {
    finished_.erase(finished_order_.front());
    finished_order_.pop_front();
  }
  finished_[key] = {message.acknowledged(), message.window_last(), now + kRemember};
  finished_order_.push_back(key);
  watch(now + kRemember);
}

}  // namespace tidemill::rmpp
