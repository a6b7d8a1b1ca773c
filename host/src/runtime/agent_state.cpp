// SPDX-License-Identifier: Apache-2.0
#include "runtime/agent_state.hpp"

#include <algorithm>
#include <cstring>

#include "big_endian.hpp"
#include "hls/classify.hpp"
#include "runtime/device_state.hpp"
#include "runtime/waiter.hpp"

namespace tidemill::detail {
namespace {

/// The window of an agent that asked for none: what ib_mad gives by the class it registered, out of its receive depth.
uint16_t default_window(const Registration& r, uint16_t depth) {
  if (r.window) return *r.window;
  if (!r.on_receive) return 0;
  if (!r.unsolicited) return static_cast<uint16_t>(depth / 4);
  switch (r.unsolicited->mgmt_class) {
    case mad_class::com_mgt:
      return static_cast<uint16_t>(depth / 4);
    case mad_class::subn_adm:
      return static_cast<uint16_t>(std::max(depth / 32, 1));
    case mad_class::subn_lid:
    case mad_class::subn_directed:
      return static_cast<uint16_t>(std::min<int>(depth, 512) / 4);
    default:
      return 0;
  }
}

/// How many slots of other banks are tried, and TIDs to find one of a slot's bank.
constexpr unsigned kTidSearch = 256;

constexpr std::size_t kTidAt = 8;

}  // namespace

AgentState::AgentState(std::shared_ptr<DeviceState> device, std::shared_ptr<PortState> port, uint32_t id,
                       Registration registration)
    : device_(std::move(device)),
      port_(std::move(port)),
      id_(id),
      registration_(std::move(registration)),
      transfers_(registration_.rmpp_version == 1 ? std::make_unique<rmpp::Transfers>(*this) : nullptr),
      window_(default_window(registration_, port_->receive_buffers())),
      weight_(registration_.weight) {}

bool AgentState::is_counted(uint8_t c) const {
  // An explicit window counts every request; the default one those the kernel counts.
  return registration_.window || c == mad_class::com_mgt || c == mad_class::subn_adm || c == mad_class::subn_lid ||
         c == mad_class::subn_directed;
}

BatchResult AgentState::post(std::span<const SendRequest> requests, std::span<SendId> ids, Waiter* waiter,
                             bool segments) {
  BatchResult result;
  {
    const std::lock_guard lock(mutex_);
    for (; result.accepted < requests.size(); ++result.accepted) {
      SendId id;
      result.refused = closing_ ? Errc::closing : post_one(requests[result.accepted], waiter, segments, id);
      if (result.refused != Errc::ok) break;
      if (result.accepted < ids.size()) ids[result.accepted] = id;
    }
    if (result.refused != Errc::ok) bump(refused_);
    for (Lane& lane : lanes_) {
      if (lane.producer == lane.told) continue;
      device_->backend().doorbell(lane.number, lane.producer);
      lane.told = lane.producer;
    }
  }
  if (result.accepted != 0) device_->kick();
  return result;
}

Errc AgentState::check(const SendRequest& r, const Waiter* waiter, uint64_t more, Ticks& ticks) const {
  if (waiter == nullptr && !registration_.on_send) return Errc::no_send_handler;
  if (port_->removed()) return Errc::device_failed;
  const Pace& pace = r.pace;
  if (pace.timeout.count() < 0 || pace.backoff_cap.count() < 0 || pace.deadline.count() < 0 || pace.retries > kMaxRetries)
    return Errc::bad_time;
  ticks = {device_->ticks(pace.timeout), device_->ticks(pace.backoff_cap), device_->ticks(pace.deadline)};
  const uint64_t longest = std::max({ticks.timeout + more, ticks.backoff_cap, ticks.deadline});
  return longest > DeviceState::kMaxTicks ? Errc::bad_time : Errc::ok;
}

Errc AgentState::post_one(const SendRequest& r, Waiter* waiter, bool segment, SendId& id) {
  if (transfers_ && !segment && rmpp::is_message(r.mad)) return post_message(r, waiter, id);
  if (r.mad.size() < kMadHeaderBytes || r.mad.size() > kMadBytes) return Errc::bad_length;
  Ticks ticks;
  if (const Errc refused = check(r, waiter, 0, ticks); refused != Errc::ok) return refused;
  const Pace& pace = r.pace;

  const auto byte = [&r](std::size_t at) { return static_cast<uint8_t>(r.mad[at]); };
  const uint8_t mgmt_class = byte(1);
  const bool response = hls::is_response(mgmt_class, byte(3), byte(23)), expects = ticks.timeout != 0;
  if (response && expects) return Errc::response_expects;
  const LaneKind kind = expects && is_counted(mgmt_class) ? solicited : plain;
  Lane& lane = lanes_[kind];
  if (lane.number == kNoLane)
    if (const Errc failed = open_lane(kind); failed != Errc::ok) return failed;
  if (full(lane)) return Errc::would_block;

  // A slot, and a TID that names the slot's bank.
  SlotTable& slots = device_->slots();
  uint64_t tid = response ? get64(r.mad, kTidAt) : uint64_t{id_} << 32 | r.tid.value_or(0);
  uint32_t slot = SlotPool::kNone;
  if (response || r.tid) {
    slot = slots.take(expects ? device_->backend().bank_of(tid) : next_bank_++ & (slots.banks() - 1));
  } else if (slots.banks() == 1) {
    tid = choose_tid(expects);
    slot = slots.take(0);
  } else {
    for (unsigned i = 0; slot == SlotPool::kNone && i < kTidSearch; ++i) {
      tid = choose_tid(expects);
      slot = slots.take(device_->backend().bank_of(tid));
    }
  }
  if (slot == SlotPool::kNone) return Errc::would_block;

  SlotMemory& memory = slots.memory(slot);
  std::memcpy(memory.mad.data(), r.mad.data(), r.mad.size());
  if (r.mad.size() < kMadBytes) std::memset(memory.mad.data() + r.mad.size(), 0, kMadBytes - r.mad.size());
  const uint64_t wire_tid = __builtin_bswap64(tid);
  std::memcpy(memory.mad.data() + kTidAt, &wire_tid, sizeof wire_tid);
  memory.to = r.to;
  if (!port_->attributes().carries_grh) memory.to.grh.reset();

  SendRecord& record = slots.record(slot);
  const uint16_t generation = SendRecord::generation_of(record.state.load(std::memory_order_relaxed));
  record.agent.store(this, std::memory_order_relaxed);
  record.waiter = waiter;
  record.context = r.context;
  record.posted_ns = device_->now().count();
  record.position = lane.producer;
  record.length = kMadBytes;
  record.lane = kind;
  record.timeout_ns = pace.timeout.count();
  if (expects) slots.hold_tid(record, tid);
  record.begin(generation);
  id = {static_cast<uint16_t>(slot), generation};

  if (ticks.deadline != 0) {
    // Announced ahead of the descriptor, so that waiting in the lane counts too.
    if (const Errc failed = command(abi::CommandKind::deadline, id, static_cast<uint32_t>(ticks.deadline));
        failed != Errc::ok) {
      record.state.store(generation, std::memory_order_release);
      slots.release_tid(record);
      slots.give_back(slot);
      return failed;
    }
  }

  abi::Descriptor d;
  d.tid(tid);
  d.slot(id.slot);
  d.generation(generation);
  d.agent(id_);
  d.mgmt_class(mgmt_class);
  d.timeout(static_cast<uint32_t>(ticks.timeout));
  d.backoff_cap(static_cast<uint32_t>(ticks.backoff_cap));
  d.deadline(static_cast<uint32_t>(ticks.deadline));
  d.peer(device_->peer_of(memory.to));
  d.own_address(device_->own_address(*port_, memory.to));
  d.lane(static_cast<uint16_t>(lane.number));
  d.retries(static_cast<uint8_t>(pace.retries));
  d.port(static_cast<uint8_t>(port_->number()));
  d.qp(registration_.qp == Qp::gsi);
  d.grh(memory.to.grh.has_value());
  d.match_source(registration_.match_source);
  d.length(kMadBytes);
  lane.ring[lane.producer & (lane.ring.size() - 1)] = d;
  ++lane.producer;

  if (Trace* trace = port_->trace()) trace->send_posted(id_, id, mgmt_class, tid, Nanoseconds(record.posted_ns));
  count_accepted();
  return Errc::ok;
}

Errc AgentState::post_message(const SendRequest& r, Waiter* waiter, SendId& id) {
  if (r.mad.size() < rmpp::data_offset(static_cast<uint8_t>(r.mad[1]))) return Errc::bad_length;
  Ticks ticks;
  if (const Errc refused = check(r, waiter, device_->ticks(2 * rmpp::Sender::kLongestWait), ticks); refused != Errc::ok)
    return refused;
  const auto byte = [&r](std::size_t at) { return static_cast<uint8_t>(r.mad[at]); };
  const bool response = hls::is_response(byte(1), byte(3), byte(23)), expects = ticks.timeout != 0;
  uint64_t tid = get64(r.mad, kTidAt);
  if (!response) tid = r.tid ? uint64_t{id_} << 32 | *r.tid : choose_tid(true);
  // A response's timeout is that of its windows: nothing answers it but ACKs.
  const Errc refused = transfers_->post(r, tid, expects && !response, waiter, device_->exact_now(), id);
  if (refused == Errc::ok) count_accepted();
  return refused;
}

/// The caller may use any lower half for sends of his own, and ours come round after 2^32: what a live send has is
/// passed over, or the new send would end as its duplicate.
uint64_t AgentState::choose_tid(bool expects) {
  const SlotTable& slots = device_->slots();
  uint64_t tid = 0;
  do tid = uint64_t{id_} << 32 | next_tid_++;
  while (expects && slots.tid_taken(tid));
  return tid;
}

void AgentState::count_accepted() {
  bump(accepted_);
  const uint64_t now_out = accepted_.load(std::memory_order_relaxed) - ended_.load(std::memory_order_relaxed);
  if (now_out > outstanding_high_.load(std::memory_order_relaxed))
    outstanding_high_.store(now_out, std::memory_order_relaxed);
}

Errc AgentState::open_lane(LaneKind kind) {
  Lane& lane = lanes_[kind];
  const uint32_t number = device_->take_lane();
  if (number == kNoLane) return Errc::would_block;
  lane.ring = device_->backend().ring(number, registration_.queue_depth);
  lane.consumed = &device_->backend().consumed(number);
  lane.producer = lane.told = lane.consumed->load(std::memory_order_acquire);
  lane.number = number;
  if (!device_->backend().command(lane_command(abi::CommandKind::open_lane, kind))) {
    device_->give_lane_back(number);
    lane.number = kNoLane;
    return Errc::would_block;
  }
  return Errc::ok;
}

abi::Command AgentState::lane_command(abi::CommandKind what, LaneKind kind) const {
  abi::Command c;
  c.kind(what);
  c.lane(static_cast<uint16_t>(lanes_[kind].number));
  c.agent(id_);
  c.window(kind == solicited ? window_ : 0);
  c.weight(weight_);
  c.service_class(registration_.service_class);
  c.qp(registration_.qp == Qp::gsi);
  return c;
}

Errc AgentState::command(abi::CommandKind kind, SendId id, uint32_t ticks) {
  abi::Command c;
  c.kind(kind);
  c.slot(id.slot);
  c.generation(id.generation);
  c.agent(id_);
  c.ticks(ticks);
  return device_->backend().command(c) ? Errc::ok : Errc::would_block;
}

bool AgentState::outstanding(SendId id) const {
  if (id.slot >= device_->info().slots) return false;
  const SendRecord& record = device_->slots().record(id.slot);
  return record.names(id.generation) && record.agent.load(std::memory_order_relaxed) == this;
}

Errc AgentState::cancel(SendId id) {
  if (id.message != 0) return transfers_ && transfers_->cancel(id.message) ? Errc::ok : Errc::not_outstanding;
  if (!outstanding(id)) return Errc::not_outstanding;
  const Errc refused = command(abi::CommandKind::cancel, id, 0);
  if (refused != Errc::ok) return refused;
  const bool in_time = device_->slots().record(id.slot).cancel(id.generation);
  device_->kick();
  return in_time ? Errc::ok : Errc::not_outstanding;
}

Errc AgentState::modify(SendId id, Nanoseconds timeout) {
  if (timeout.count() < 0 || device_->ticks(timeout) > DeviceState::kMaxTicks) return Errc::bad_time;
  if (timeout.count() == 0) return cancel(id);
  if (id.message != 0) return Errc::not_outstanding;
  if (!outstanding(id)) return Errc::not_outstanding;
  const Errc result = command(abi::CommandKind::modify, id, static_cast<uint32_t>(device_->ticks(timeout)));
  device_->kick();
  return result;
}

bool AgentState::has_room() {
  const std::lock_guard lock(mutex_);
  if (closing_ || full(lanes_[solicited]) || full(lanes_[plain])) return false;
  SlotTable& slots = device_->slots();
  for (uint32_t bank = 0; bank < slots.banks(); ++bank)
    if (slots.has(bank)) return true;
  return false;
}

Errc AgentState::reweigh(std::optional<uint8_t> weight, std::optional<uint16_t> window) {
  if (weight == 0) return Errc::bad_weight;
  const std::lock_guard lock(mutex_);
  if (closing_) return Errc::closing;
  weight_ = weight.value_or(weight_);
  window_ = window.value_or(window_);
  for (const LaneKind kind : {solicited, plain}) {
    if (lanes_[kind].number == kNoLane) continue;
    if (!device_->backend().command(lane_command(abi::CommandKind::weigh_lane, kind))) return Errc::would_block;
  }
  device_->kick();
  return Errc::ok;
}

AgentStats AgentState::stats() const {
  AgentStats s;
  s.name = registration_.name;
  s.id = id_;
  // Ended first: a send that ends in between counts as outstanding, never as less than none.
  const uint64_t ended = ended_.load(std::memory_order_acquire);
  s.accepted = accepted_.load(std::memory_order_acquire);
  s.refused = refused_.load(std::memory_order_relaxed);
  s.tries = tries_.load(std::memory_order_relaxed);
  s.received = received_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < kSendStatuses; ++i) s.completed[i] = completed_[i].load(std::memory_order_relaxed);
  s.outstanding = s.accepted - ended;
  s.outstanding_high = outstanding_high_.load(std::memory_order_relaxed);
  return s;
}

bool AgentState::begin_close(std::function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return false;
    closing_ = true;
    done_ = std::move(done);
  }
  if (transfers_) transfers_->stop(true);
  device_->queue_close(shared_from_this());
  return true;
}

void AgentState::wait_until_closed() {
  while (!closed()) {
    if (!device_->own_thread() && device_->poll(256) != 0) continue;
    std::unique_lock lock(closed_mutex_);
    // Where the application polls, another thread may do so now and stop: look again soon.
    closed_signal_.wait_for(lock, device_->own_thread() ? std::chrono::seconds(1) : std::chrono::microseconds(50),
                            [this] { return closed(); });
  }
}

bool AgentState::deliver(const Received& r, Waiter* waiter) {
  if (waiter == nullptr && !registration_.on_receive) return false;
  bump(received_);
  device_->count_callback();
  if (waiter != nullptr)
    waiter->received(r);
  else
    registration_.on_receive(r);
  return true;
}

void AgentState::complete(const SendCompletion& c, Waiter* waiter) {
  device_->count_callback();
  if (waiter != nullptr)
    waiter->completed(c);
  else
    registration_.on_send(c);
  bump(tries_, c.tries);
  bump(completed_[static_cast<unsigned>(c.status)]);
  port_->count_completion(c.status);
  ended_.store(ended_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

bool AgentState::try_close() {
  if (device_->failed()) return accepted_.load(std::memory_order_acquire) == ended_.load(std::memory_order_relaxed);
  if (!commands_sent_) {
    // Drain the lanes, then flush what has left them. A full command ring: the next pass tries again.
    for (Lane& lane : lanes_) {
      if (lane.number == kNoLane || lane.closing) continue;
      const auto kind = static_cast<LaneKind>(&lane - lanes_.data());
      if (!device_->backend().command(lane_command(abi::CommandKind::close_lane, kind))) return false;
      lane.closing = true;
    }
    // Posts are refused by now: where nothing is outstanding, the device holds nothing to flush.
    if (accepted_.load(std::memory_order_acquire) == ended_.load(std::memory_order_relaxed))
      flush_done_ = true;
    else if (command(abi::CommandKind::flush, {}, 0) != Errc::ok)
      return false;
    commands_sent_ = true;
  }
  for (const Lane& lane : lanes_)
    if (lane.number != kNoLane && lane.consumed->load(std::memory_order_acquire) != lane.producer) return false;
  return flush_done_ && accepted_.load(std::memory_order_acquire) == ended_.load(std::memory_order_relaxed);
}

void AgentState::finish_close() {
  for (Lane& lane : lanes_)
    if (lane.number != kNoLane) device_->give_lane_back(lane.number);
  const std::function<void()> done = std::move(done_);
  {
    const std::lock_guard lock(closed_mutex_);
    closed_.store(true, std::memory_order_release);
  }
  closed_signal_.notify_all();
  if (done) done();
}

}  // namespace tidemill::detail
