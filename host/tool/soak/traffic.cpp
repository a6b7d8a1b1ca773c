// SPDX-License-Identifier: Apache-2.0
#include "traffic.hpp"

#include <algorithm>

namespace tidemill::soak {
namespace {

constexpr uint32_t kAgentIds = 0xffffffu;  ///< 24 bits, and 0 is never used.
constexpr double kPlain = 0.2;             ///< Share of sends that expect no response.
constexpr double kLongWait = 0.0005;       ///< Share of requests that wait far up in the wheel.
constexpr uint32_t kPostsPerTick = 256;

constexpr std::array<uint8_t, 2> kSmiClasses{0x01, 0x81};
constexpr std::array<uint8_t, 4> kGsiClasses{0x03, 0x04, 0x06, 0x32};

}  // namespace

Traffic::Traffic(const Options& options, Dice& dice, WatchedEngine& engine, Tally& tally)
    : options_(options),
      dice_(dice),
      engine_(engine),
      tally_(tally),
      sends_(engine.slots()),
      free_(options.banks),
      agents_(options.agents),
      lanes_(size_t{options.agents} * 2) {
  for (uint32_t slot = engine.slots(); slot-- > 0;) free_[slot % options.banks].push_back(static_cast<uint16_t>(slot));
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) engine_.set_ring(lane, lanes_[lane].ring);
  closing_ = options.agents;
  for (Agent& agent : agents_) agent.closing = agent.flushed = true;  // not registered yet
}

void Traffic::act(uint32_t now, bool stopping) {
  plans_.advance(now, [&](const Plan& plan) { engine_.command(plan.command, now); });
  if (closing_ != 0) {
    for (uint32_t number = 0; number < agents_.size(); ++number) {
      const Agent& agent = agents_[number];
      if (agent.closing && agent.flushed && agent.outstanding == 0) register_agent(number, now);
    }
  }
  if (now >= load_until_) {
    load_until_ = now + dice_.between(200, 2000);
    load_ = std::max(1u, options_.outstanding * dice_.between(1, 8) / 8);
  }
  if (!stopping && outstanding_ < load_) {
    // The end is cut off after the dice, so that a shorter run does the same up to there.
    const uint64_t posts = dice_.between(1, std::min(kPostsPerTick, load_ - outstanding_));
    for (uint64_t i = 0; i < posts && tally_.posted < options_.transactions; ++i) post(dice_.below(options_.agents), now);
  }
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) announce(lane);
  tally_.outstanding.add(now, outstanding_);
}

/// Posts a send unless something is full: then the caller of a real runtime would wait, and ours comes again.
void Traffic::post(uint32_t number, uint32_t now) {
  Agent& agent = agents_[number];
  if (agent.closing) return;
  const bool plain = dice_.chance(kPlain);
  const uint32_t lane_number = lane_of(number, plain);
  Lane& lane = lanes_[lane_number];
  if (lane.produced - engine_.consumed(lane_number) == kRing) return;

  abi::Descriptor d = plain ? plain_send(agent) : request(agent);
  if (!take_slot(d, !plain)) return;
  d.agent(agent.id);
  d.lane(static_cast<uint16_t>(lane_number));
  d.qp(agent.qp);
  d.port(1);
  d.length(256);
  const bool timed = dice_.chance(options_.rates.deadline);
  if (timed) {
    ++tally_.faults.deadlines;
    d.deadline(dice_.between(1, 800));
  }

  Send& send = sends_[d.slot()];
  send.descriptor = d;
  send.agent = number;
  send.posted = now;
  send.live = true;
  if (!plain) agent.requests[dice_.below(4)] = d.slot();
  recent_[++posts_ % recent_.size()] = d.tid();
  ++agent.outstanding;
  ++outstanding_;
  ++tally_.posted;
  tally_.last_post = now;

  engine_.accepted(d, now);
  lane.ring[lane.produced % kRing] = d;
  ++lane.produced;
  ++lane.unannounced;
  // A deadline that must count in the lane too is announced ahead of the descriptor.
  if (timed && dice_.chance(0.5)) {
    abi::Command announced = name(abi::CommandKind::deadline, d);
    announced.ticks(d.deadline());
    engine_.command(announced, now);
  }
  trouble(d, now);
  if (dice_.chance(0.5)) announce(lane_number);
  if (dice_.chance(options_.rates.flush)) deregister(number, now);
}

abi::Descriptor Traffic::request(Agent& agent) {
  abi::Descriptor d;
  d.tid((uint64_t{agent.id} << 32) | ++agent.next_tid);
  d.mgmt_class(agent.qp ? kGsiClasses[dice_.below(4)] : kSmiClasses[dice_.below(2)]);
  d.timeout(dice_.chance(kLongWait) ? dice_.between(600, 60'000) : dice_.between(40, 400));
  d.retries(static_cast<uint8_t>(dice_.below(4)));
  d.backoff_cap(dice_.chance(0.25) ? d.timeout() * 4 : 0);
  d.own_address(static_cast<uint16_t>(dice_.below(8)));
  d.peer(1 + dice_.below(0xbfff));
  d.grh(dice_.chance(0.1));
  d.match_source(dice_.chance(0.1));
  if (dice_.chance(options_.rates.clash)) {
    const Send& other = sends_[agent.requests[dice_.below(4)]];
    if (other.live && &agents_[other.agent] == &agent) {
      ++tally_.faults.clashes;
      d.tid(other.descriptor.tid());
      // Half of them under another class: such a one is a send like any other.
      if (dice_.chance(0.5)) d.mgmt_class(other.descriptor.mgmt_class());
    }
  }
  return d;
}

abi::Descriptor Traffic::plain_send(const Agent& agent) {
  abi::Descriptor d;
  d.tid(dice_.bits());
  d.mgmt_class(agent.qp ? kGsiClasses[dice_.below(4)] : kSmiClasses[dice_.below(2)]);
  d.peer(1 + dice_.below(0xbfff));
  d.own_address(static_cast<uint16_t>(dice_.below(8)));
  return d;
}

/// A slot of the bank that the TID of a request belongs to; any bank will do for others.
bool Traffic::take_slot(abi::Descriptor& d, bool request) {
  auto& slots = free_[request ? engine_.bank_of(d.tid()) : dice_.below(options_.banks)];
  if (slots.empty()) return false;
  // Now and then one that has rested longest, so that all of them get their share of use.
  if (dice_.chance(0.1)) std::swap(slots[dice_.below(static_cast<uint32_t>(slots.size()))], slots.back());
  d.slot(slots.back());
  slots.pop_back();
  d.generation(sends_[d.slot()].generation);
  return true;
}

/// Cancels or modifies the send at once, while its descriptor may not even have been announced, or later.
void Traffic::trouble(const abi::Descriptor& d, uint32_t now) {
  const auto plan = [&](const abi::Command& c) {
    if (dice_.chance(0.2)) {
      engine_.command(c, now);
    } else {
      plans_.add(dice_.between(1, 300), {c});
    }
  };
  if (dice_.chance(options_.rates.cancel)) {
    ++tally_.faults.cancels;
    plan(name(abi::CommandKind::cancel, d));
  }
  if (dice_.chance(options_.rates.modify)) {
    ++tally_.faults.modifies;
    abi::Command c = name(abi::CommandKind::modify, d);
    c.ticks(dice_.between(1, 1000));
    plan(c);
  }
}

void Traffic::announce(uint32_t lane) {
  if (lanes_[lane].unannounced == 0) return;
  engine_.doorbell(lane, lanes_[lane].unannounced);
  lanes_[lane].unannounced = 0;
}

abi::Command Traffic::name(abi::CommandKind kind, const abi::Descriptor& d) const {
  abi::Command c;
  c.kind(kind);
  c.slot(d.slot());
  c.generation(d.generation());
  c.agent(d.agent());
  c.lane(d.lane());
  return c;
}

/// Opens both lanes; one that has not drained yet is tried again at the next tick.
void Traffic::register_agent(uint32_t number, uint32_t now) {
  Agent& agent = agents_[number];
  if (!agent.solicited_open && !agent.plain_open) agent.qp = !dice_.chance(0.25);
  agent.solicited_open = agent.solicited_open || open(number, false, now);
  agent.plain_open = agent.plain_open || open(number, true, now);
  if (!agent.solicited_open || !agent.plain_open) return;
  if (agent.id != 0) engine_.deregistered(agent.id, now);
  agent.id = next_id_;
  next_id_ = next_id_ == kAgentIds ? 1 : next_id_ + 1;
  engine_.registered(agent.id);
  agent.closing = agent.flushed = false;
  --closing_;
}

bool Traffic::open(uint32_t number, bool plain, uint32_t now) {
  abi::Command c;
  c.kind(abi::CommandKind::open_lane);
  c.lane(static_cast<uint16_t>(lane_of(number, plain)));
  c.qp(agents_[number].qp);
  c.service_class(static_cast<uint8_t>(dice_.below(4)));
  c.weight(static_cast<uint8_t>(dice_.between(1, 255)));
  c.window(static_cast<uint16_t>(plain || dice_.chance(0.25) ? 0 : dice_.between(4, 1024)));
  return engine_.command(c, now);
}

void Traffic::deregister(uint32_t number, uint32_t now) {
  Agent& agent = agents_[number];
  ++tally_.faults.deregistrations;
  ++closing_;
  agent.closing = true;
  engine_.closing(agent.id);
  agent.solicited_open = agent.plain_open = false;
  abi::Command c;
  c.agent(agent.id);
  c.kind(abi::CommandKind::close_lane);
  for (const bool plain : {false, true}) {
    c.lane(static_cast<uint16_t>(lane_of(number, plain)));
    engine_.command(c, now);
  }
  c.kind(abi::CommandKind::flush);
  engine_.command(c, now);
}

void Traffic::on_completion(const abi::Completion& c, uint32_t now) {
  if (c.kind() == abi::CompletionKind::flush_done) {
    for (Agent& agent : agents_) agent.flushed = agent.flushed || (agent.closing && agent.id == c.agent());
    return;
  }
  if (c.kind() != abi::CompletionKind::send && c.kind() != abi::CompletionKind::response_send) return;
  Send& send = sends_[c.slot() % sends_.size()];
  if (!send.live || send.generation != c.generation()) return;  // the scoreboard has said what this is
  send.live = false;
  ++send.generation;
  free_[c.slot() % options_.banks].push_back(c.slot());
  --agents_[send.agent].outstanding;
  --outstanding_;
  ++tally_.completed;
  ++tally_.by_status[static_cast<size_t>(c.status())];
  (c.status() == abi::Status::success ? tally_.answered : tally_.given_up).add(now - send.posted);
}

}  // namespace tidemill::soak
