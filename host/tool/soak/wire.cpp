// SPDX-License-Identifier: Apache-2.0
#include "wire.hpp"

#include <algorithm>

#include "hls/classify.hpp"

namespace tidemill::soak {
namespace {

constexpr uint32_t kPast = 4096;
constexpr uint32_t kNumbers = 1u << 22;  ///< More arrivals than can be planned at a time.
constexpr uint8_t kGetResponse = 0x81;
constexpr double kUnsolicited = 0.01;    ///< MADs that are no responses, for each try.
constexpr double kDeadQueuePair = 0.05;  ///< Share of wire errors after which no recovery comes.
constexpr double kLateFlush = 0.1;       ///< Share of flushed tries that have left all the same.

}  // namespace

Wire::Wire(const Options& options, Dice& dice, WatchedEngine& engine, const Traffic& traffic, Tally& tally)
    : options_(options),
      dice_(dice),
      engine_(engine),
      traffic_(traffic),
      tally_(tally),
      called_off_(kNumbers),
      past_(kPast) {
  for (uint16_t buffer = 0; buffer < 2 * kHalf; ++buffer) buffer_back(buffer);
}

void Wire::transmit(const abi::Transmit& t, uint32_t now) {
  ++tally_.mads_out;
  Try next;
  next.report.slot(t.slot());
  next.report.generation(t.generation());
  std::deque<Try>& tries = tries_[t.qp()];
  next.leaves = std::max(now + dice_.between(1, 3), tries.empty() ? 0 : tries.back().leaves);
  const abi::Descriptor& d = traffic_.descriptor(t.slot());
  if (dice_.chance(options_.rates.wire_error)) {
    ++tally_.faults.wire_errors;
    next.report.status(abi::Status::error);
    next.report.vendor(static_cast<uint8_t>(dice_.between(1, 255)));
  } else if (d.timeout() != 0) {
    answer(d, next);
  }
  tries.push_back(next);
  if (dice_.chance(options_.rates.forged)) forge(d);
  if (dice_.chance(options_.rates.stale) && responses_ != 0) {
    ++tally_.faults.stale;
    const uint64_t kept = std::min<uint64_t>(responses_, kPast);
    arrivals_.add(dice_.between(1, 500), {past_[dice_.below(static_cast<uint32_t>(kept))], 0});
  }
  if (dice_.chance(kUnsolicited)) {
    abi::Received mad;
    mad.tid(dice_.bits());
    mad.mgmt_class(d.mgmt_class());
    mad.method(0x01);
    mad.qp(dice_.chance(0.5));
    mad.port(1);
    mad.length(256);
    arrivals_.add(dice_.between(1, 20), {mad, 0});
  }
}

abi::Received Wire::response_to(const abi::Descriptor& d) {
  abi::Received mad;
  mad.tid(d.tid());
  mad.mgmt_class(d.mgmt_class());
  mad.method(kGetResponse);
  mad.response(hls::is_response(d.mgmt_class(), kGetResponse, 0));
  mad.own_address(d.own_address());
  // Anyone may answer, unless the agent asked for more.
  mad.peer(!d.match_source() && dice_.chance(0.05) ? d.peer() + 1 : d.peer());
  mad.grh(d.grh());
  mad.port(d.port());
  mad.qp(d.qp());
  mad.length(256);
  return mad;
}

/// The peer's response to a try, if it comes to that.
void Wire::answer(const abi::Descriptor& d, Try& t) {
  if (dice_.chance(options_.rates.loss)) {
    ++tally_.faults.lost;
    return;
  }
  const abi::Received mad = response_to(d);
  past_[responses_++ % kPast] = mad;
  uint32_t after = dice_.between(1, 30);
  if (dice_.chance(options_.rates.reorder)) {
    ++tally_.faults.reordered;
    after += dice_.between(10, 60);
  }
  if (dice_.chance(options_.rates.delay)) {
    ++tally_.faults.delayed;
    after += dice_.between(200, 3000);
  }
  last_number_ = last_number_ % (kNumbers - 1) + 1;
  called_off_[last_number_] = false;
  t.response = last_number_;
  arrivals_.add(after, {mad, last_number_});
  if (dice_.chance(options_.rates.dup)) {
    ++tally_.faults.duplicated;
    arrivals_.add(after + dice_.below(40), {mad, last_number_});
  }
}

/// A response like the right one but for one thing, or to a TID that is nobody's or has not left yet.
void Wire::forge(const abi::Descriptor& d) {
  ++tally_.faults.forged;
  abi::Received mad = response_to(d);
  mad.response(true);
  mad.rmpp(dice_.chance(0.2));
  switch (dice_.below(7)) {
    case 0: mad.mgmt_class(static_cast<uint8_t>(mad.mgmt_class() + 1)); break;
    case 1: mad.port(2); break;
    case 2: mad.qp(!mad.qp()); break;
    case 3: mad.own_address(static_cast<uint16_t>(mad.own_address() + 1)); break;
    case 4: mad.grh(!mad.grh()); break;
    case 5: mad.tid(mad.tid() ^ (uint64_t{1} << dice_.below(64))); break;
    default: mad.tid(traffic_.any_tid()); break;
  }
  arrivals_.add(dice_.between(1, 12), {mad, 0});
}

void Wire::act(uint32_t now) {
  const bool first = dice_.chance(0.5);
  if (first) arrivals_.advance(now, [&](const Arrival& a) { arrive(a, now); });
  report(false, now);
  report(true, now);
  if (!first) arrivals_.advance(now, [&](const Arrival& a) { arrive(a, now); });
}

void Wire::report(bool qp, uint32_t now) {
  std::deque<Try>& tries = tries_[qp];
  while (!tries.empty() && tries.front().leaves <= now) {
    const Try done = tries.front();
    tries.pop_front();
    if (done.report.status() == abi::Status::error) flush_behind(qp, now);
    engine_.sent(done.report, now);
    if (dice_.chance(options_.rates.stale)) {
      // A queue pair that reports a try twice: the second report names a try that is on no wire.
      abi::Sent again = done.report;
      again.generation(static_cast<uint16_t>(again.generation() - 1));
      engine_.sent(again, now);
    }
  }
}

/// After an error the queue pair flushes the tries behind it, recovers (or not), and takes new ones.
void Wire::flush_behind(bool qp, uint32_t now) {
  uint8_t number = 0;
  if (!dice_.chance(kDeadQueuePair)) number = recovery_[qp] = static_cast<uint8_t>(recovery_[qp] % 255 + 1);
  for (Try& t : tries_[qp]) {
    if (t.report.status() == abi::Status::error) continue;
    ++tally_.faults.flushed_tries;
    t.report.status(abi::Status::flushed);
    t.report.recovery(number);
    t.leaves = std::max(t.leaves, now + 1);
    if (t.response != 0 && !dice_.chance(kLateFlush)) called_off_[t.response] = true;
  }
}

void Wire::arrive(const Arrival& a, uint32_t now) {
  if (a.number != 0 && called_off_[a.number]) return;
  std::vector<uint16_t>& buffers = buffers_[a.mad.qp()];
  abi::Received mad = a.mad;
  mad.buffer(buffers.back());
  buffers.pop_back();
  const size_t left = buffers.size();
  ++tally_.mads_in;
  engine_.received(mad, now);
  if (buffers.size() != left + 1)
    engine_.violation("I29: receive buffer " + std::to_string(mad.buffer()) + " did not come back exactly once");
}

uint32_t Wire::quiet(uint32_t now) const {
  uint32_t ticks = arrivals_.distance();
  for (const auto& tries : tries_) {
    if (!tries.empty()) ticks = std::min(ticks, tries.front().leaves > now ? tries.front().leaves - now : 0);
  }
  return ticks;
}

}  // namespace tidemill::soak
