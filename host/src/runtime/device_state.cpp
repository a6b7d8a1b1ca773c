// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "metrics/metrics.hpp"
#include "runtime/in_callback.hpp"
#include "runtime/waiter.hpp"

namespace tidemill::detail {
namespace {

constexpr Nanoseconds kForever = std::chrono::hours(1);
/// How often a wire is asked that cannot say when it has something.
constexpr Nanoseconds kBlindWire = std::chrono::milliseconds(1);

DropCause drop_cause(abi::Cause cause) {
  switch (cause) {
    case abi::Cause::duplicate:
      return DropCause::duplicate;
    case abi::Cause::cancelled:
      return DropCause::cancelled;
    case abi::Cause::wrong_class:
      return DropCause::wrong_class;
    case abi::Cause::wrong_port:
      return DropCause::wrong_port;
    case abi::Cause::wrong_address:
      return DropCause::wrong_address;
    case abi::Cause::never_sent:
      return DropCause::never_sent;
    default:
      return DropCause::stale;
  }
}

}  // namespace

DeviceState::DeviceState(std::unique_ptr<device::Backend> backend, DeviceOptions options,
                         std::unique_ptr<Publisher> publisher)
    : backend_(std::move(backend)),
      options_(std::move(options)),
      capabilities_(backend_->capabilities()),
      tick_ns_(capabilities_.tick_ns),
      start_(options_.clock->now()),
      slots_(capabilities_.slots, capabilities_.banks),
      publisher_(std::move(publisher)) {
  backend_->attach(*this);
  if (const int fd = backend_->event_fd(); fd >= 0) sleeper_.watch(fd);
  for (uint32_t lane = capabilities_.lanes; lane-- > 0;) free_lanes_.push_back(lane);
  cached_now_.store(options_.clock->now().count());
}

DeviceState::~DeviceState() {
  *thread_outlives_ = true;
}

std::shared_ptr<DeviceState> DeviceState::open(std::unique_ptr<device::Backend> backend, DeviceOptions options,
                                               std::unique_ptr<Publisher> publisher) {
  const auto state = std::make_shared<DeviceState>(std::move(backend), std::move(options), std::move(publisher));
  if (state->own_thread()) state->thread_ = std::thread([device = state.get()] { device->run(); });
  return {state.get(), [state](DeviceState*) { state->stop(); }};
}

void DeviceState::stop() {
  if (!own_thread()) {
    // In a callback the poll() around it sees to the agents.
    if (in_callback())
      abandoned_ = true;
    else
      end_agents();
    return;
  }
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // goes on while agents end; the last of them takes the device with it
    return;
  }
  stop_.store(true);
  kick();
  thread_.join();
  stop_.store(false);
  // The thread may have ended with agents that were told to close, without a wait, in its last callbacks.
  end_agents();
}

bool DeviceState::has_agents() const {
  const std::shared_lock lock(registry_mutex_);
  return !agents_.empty();
}

void DeviceState::end_agents() {
  while (has_agents())
    if (poll(256) == 0) wait(kForever);
}

DeviceInfo DeviceState::info() const {
  return {.kind = backend_->kind(),
          .abi_major = abi::kVersionMajor,
          .abi_minor = abi::kVersionMinor,
          .slots = capabilities_.slots,
          .banks = capabilities_.banks,
          .lanes = capabilities_.lanes,
          .tick = Nanoseconds(tick_ns_)};
}

std::string DeviceState::metrics() {
  const Pause pause(*this);
  return gather_metrics();
}

std::string DeviceState::gather_metrics() {
  metrics::Metrics m;
  m.gauge("tidemill_device_info", "Always 1; the labels say what it is.",
          {{"kind", backend_->kind()},
           {"abi", fmt::format("{}.{}", abi::kVersionMajor, abi::kVersionMinor)},
           {"banks", std::to_string(capabilities_.banks)},
           {"pid", std::to_string(getpid())}},
          1);
  m.gauge("tidemill_device_slots", "Sends that may be outstanding at a time.", {}, capabilities_.slots);
  if (const auto counters = backend_->card_counters()) metrics::add_card(m, *counters);
  for (const auto& port : ports_)
    if (port) metrics::add_port(m, port->number(), port->stats());
  for (const auto& port : ports_) {
    if (!port) continue;
    for (const AgentStats& agent : agent_stats(*port)) metrics::add_agent(m, port->number(), agent);
  }
  return m.exposition();
}

Nanoseconds DeviceState::now() const {
  // Inside a callback the time of the present pass is good enough, and costs no system clock.
  return in_callback() ? Nanoseconds(cached_now_.load(std::memory_order_relaxed)) : options_.clock->now();
}

uint32_t DeviceState::tick_at(Nanoseconds t) const {
  return static_cast<uint32_t>(static_cast<uint64_t>((t - start_).count()) / tick_ns_);
}

uint16_t DeviceState::own_address(const PortState& port, const Address& a) const {
  return a.grh ? a.grh->gid_index : static_cast<uint16_t>(a.path_bits & ((1u << port.attributes().lmc) - 1u));
}

uint32_t DeviceState::take_lane() {
  const std::lock_guard lock(lanes_mutex_);
  if (free_lanes_.empty()) return 0xffffffffu;
  const uint32_t lane = free_lanes_.back();
  free_lanes_.pop_back();
  return lane;
}

void DeviceState::give_lane_back(uint32_t lane) {
  const std::lock_guard lock(lanes_mutex_);
  free_lanes_.push_back(lane);
}

// ------------------------------------------------------------------ progress

std::size_t DeviceState::poll(std::size_t budget) {
  if (in_callback() || progressing_.test_and_set(std::memory_order_acquire)) return 0;
  // A callback may drop the last handle.
  const std::shared_ptr<DeviceState> self = weak_from_this().lock();
  if (!self) {
    progressing_.clear(std::memory_order_release);
    return 0;
  }
  sleeper_.awake();
  const std::size_t before = callbacks_;
  bool busy = false;
  // On a virtual clock an outstanding send is always a reason to let time pass; the application's turn comes all the
  // same. So is a device that is busy without an end: a poll ends, whatever happens.
  unsigned moves = 16, passes = 1024;
  for (bool more = true; more && passes-- > 0 && callbacks_ - before < budget;) {
    busy = false;
    for (const auto& port : ports_)
      if (port) busy |= port->poll_wire();
    // Whatever this pass starts a timer for was reported or posted before its time is taken; one reading serves timers
    // and completions, so that what a completion says has passed is never less than what its timer waited.
    backend_->gather();
    const Nanoseconds now = options_.clock->now();
    cached_now_.store(now.count(), std::memory_order_relaxed);
    const uint32_t tick = tick_at(now);
    feed_reports(tick);
    busy |= backend_->progress(tick);
    if (const auto time = backend_->time()) options_.clock->advance_to(start_ + *time);
    if (failing_) fail();
    busy |= run_callbacks() != 0;
    busy |= close_agents();
    more = busy || failing_ || (moves-- > 0 && advance_virtual_time());
  }
  const std::size_t ran = callbacks_ - before;
  // Asked here, where ports and wires are ours; wait() only sleeps.
  if (publisher_ && publisher_->due_in() == Nanoseconds(0)) publisher_->publish(gather_metrics());
  const Nanoseconds idle = ran < budget && !busy ? until_next_event() : Nanoseconds(0);
  idle_until_.store((options_.clock->now() + idle).count(), std::memory_order_relaxed);
  if (sleeper_.exposed()) sleeper_.arm(idle);
  progressing_.clear(std::memory_order_release);
  if (std::exchange(abandoned_, false)) end_agents();
  return ran;
}

void DeviceState::feed_reports(uint32_t tick) {
  backend_->take_commands(tick);
  for (const Report& r : reports_) {
    if (r.is_sent)
      backend_->sent(r.sent, tick);
    else
      backend_->received(r.received, tick);
  }
  reports_.clear();
}

void DeviceState::wait(Nanoseconds timeout) {
  if (options_.clock->is_virtual() && !own_thread()) return;
  const Nanoseconds idle = Nanoseconds(idle_until_.load(std::memory_order_relaxed)) - options_.clock->now();
  sleeper_.sleep(
      [this] { return backend_->pending() || closing_waiting_.load() || transfers_waiting_.load() || stop_.load(); },
      std::min(timeout, idle));
}

DeviceState::Pause::Pause(DeviceState& device) : flag_(device.in_callback() ? nullptr : &device.progressing_) {
  while (flag_ != nullptr && flag_->test_and_set(std::memory_order_acquire)) std::this_thread::yield();
}
DeviceState::Pause::~Pause() {
  if (flag_ != nullptr) flag_->clear(std::memory_order_release);
}

std::size_t DeviceState::run_callbacks() {
  const std::size_t before = callbacks_;
  // A callback may post, never make progress: what it causes waits for the next round.
  handling_.swap(completions_);
  const InCallback guard(this);
  for (const abi::Completion& c : handling_) handle(c);
  handling_.clear();
  if (!port_events_.empty()) {
    std::vector<std::pair<PortState*, PortEvent>> events;
    events.swap(port_events_);
    for (const auto& [port, event] : events) tell_agents(*port, event);
  }
  if (!quarantine_.empty()) release_quarantine();
  const bool moved = step_transfers();
  return callbacks_ - before + moved;
}

void DeviceState::handle(const abi::Completion& c) {
  switch (c.kind()) {
    case abi::CompletionKind::response:
      deliver_response(c);
      break;
    case abi::CompletionKind::response_send:
      deliver_response(c);
      finish_send(c);
      break;
    case abi::CompletionKind::send:
      finish_send(c);
      break;
    case abi::CompletionKind::unsolicited:
      if (PortState* p = port(c.port())) p->deliver_unsolicited(c.buffer());
      break;
    case abi::CompletionKind::flush_done: {
      const std::shared_lock lock(registry_mutex_);
      if (const auto found = agents_.find(c.agent()); found != agents_.end()) found->second->flush_done();
      break;
    }
    case abi::CompletionKind::port_event:
    case abi::CompletionKind::dropped:
      break;
  }
}

void DeviceState::deliver_response(const abi::Completion& c) {
  PortState* p = port(c.port());
  SendRecord& record = slots_.record(c.slot());
  if (p == nullptr || !record.names(c.generation())) return;
  if (!record.begin_answer()) {
    p->dropped(DropCause::cancelled);
    p->release(c.buffer());
    return;
  }
  AgentState& agent = *record.agent.load(std::memory_order_relaxed);
  Received r = p->received(c.buffer());
  r.matched = SendId{c.slot(), c.generation()};
  r.context = record.context;
  p->count_match();
  if (Trace* trace = p->trace()) trace->response_matched(agent.id(), *r.matched, now());
  if (agent.transfers() != nullptr &&
      agent.transfers()->begin_response(r, *r.matched, record.waiter, Nanoseconds(record.timeout_ns))) {
    // The transfer copies what it needs.
  } else if (!agent.deliver(r, record.waiter)) {
    p->dropped(DropCause::no_handler);
  }
  p->release(c.buffer());
}

void DeviceState::finish_send(const abi::Completion& c) {
  SendRecord& record = slots_.record(c.slot());
  // A completion of a send that is none of ours, or is over, is no reason to touch anything.
  if (!record.names(c.generation())) return;
  AgentState& agent = *record.agent.load(std::memory_order_relaxed);
  Waiter* const waiter = record.waiter;
  const bool cancelled = record.end(c.generation(), c.status() == abi::Status::flushed);
  const SendCompletion done{.id = {c.slot(), c.generation()},
                            .status = cancelled ? SendStatus::flushed : static_cast<SendStatus>(c.status()),
                            .tries = c.tries(),
                            .elapsed = std::max(now() - Nanoseconds(record.posted_ns), Nanoseconds(0)),
                            .context = record.context,
                            .vendor = c.vendor()};
  if (Trace* trace = agent.port().trace()) trace->send_completed(agent.id(), done, now());

  // Free before the callback, which may want to send. A cancel can end a send whose descriptor still stands in its
  // lane: its slot waits until that has gone by, or the name could come back while the old one lives.
  const uint32_t fetched = agent.consumed(record.lane).load(std::memory_order_acquire);
  slots_.release_tid(record);
  if (!failed_ && static_cast<int32_t>(record.position - fetched) >= 0)
    quarantine_.push_back({c.slot(), record.position, agent.shared_from_this(), record.lane});
  else
    slots_.give_back(c.slot());

  if (agent.transfers() != nullptr && agent.transfers()->keep(done, waiter)) return;
  agent.complete(done, waiter);
}

/// The device will say no more: its part is done here. Tries stay the wire's until it has reported them.
void DeviceState::fail() {
  // First the event, in the next pass the completions: an agent knows why its sends are flushed.
  if (failed_) {
    failing_ = false;
    complete_all();
    return;
  }
  failed_ = true;
  for (const auto& port : ports_)
    if (port) port->event(PortEvent::device_removed);
}

void DeviceState::complete_all() {
  quarantine_.clear();  // no lane moves any more
  for (uint32_t slot = 0; slot < capabilities_.slots; ++slot) {
    const uint32_t state = slots_.record(slot).state.load(std::memory_order_acquire);
    if ((state & SendRecord::kLive) == 0) continue;
    abi::Completion c;
    c.kind(abi::CompletionKind::send);
    c.slot(static_cast<uint16_t>(slot));
    c.generation(SendRecord::generation_of(state));
    c.status(abi::Status::flushed);
    completions_.push_back(c);
  }
}

void DeviceState::release_quarantine() {
  std::erase_if(quarantine_, [this](const Parked& p) {
    const uint32_t fetched = p.agent->consumed(p.lane).load(std::memory_order_acquire);
    if (static_cast<int32_t>(p.position - fetched) >= 0) return false;
    slots_.give_back(p.slot);
    return true;
  });
}

void DeviceState::transmit(const abi::Transmit& t) {
  PortState* p = port(t.port());
  if (p != nullptr) {
    p->count_retries(backend_->retried());
    p->transmit(t);
  }
}

void DeviceState::drop(abi::Cause cause, unsigned number, uint16_t buffer) {
  if (PortState* p = port(number)) {
    p->dropped(drop_cause(cause));
    p->release(buffer);
  }
}

bool DeviceState::advance_virtual_time() {
  if (!options_.clock->is_virtual()) return false;
  const Nanoseconds now = options_.clock->now(), step = until_next_event();
  if (step >= kForever) return false;
  options_.clock->advance_to(now + std::max(step, Nanoseconds(1)));
  return true;
}

Nanoseconds DeviceState::until_next_event() const {
  const Nanoseconds now = options_.clock->now();
  Nanoseconds next = kForever;
  for (const auto& port : ports_) {
    if (!port) continue;
    if (const auto at = port->wire().next_event())
      next = std::min(next, std::max(*at - now, Nanoseconds(0)));
    else if (port->wire().event_fd() < 0 && !options_.clock->is_virtual())
      next = std::min(next, kBlindWire);
  }
  for (const auto& agent : transferring_)
    next = std::min(next, std::max(agent->transfers()->due() - now, Nanoseconds(0)));
  if (const auto look = backend_->look_within()) next = std::min(next, *look);
  if (publisher_ && !options_.clock->is_virtual()) next = std::min(next, publisher_->due_in());
  // Timers matter only while a send waits for one.
  if (any_outstanding()) {
    const uint32_t tick = tick_at(now), wake = backend_->wake(tick);
    const int64_t ticks = std::max<int64_t>(static_cast<int32_t>(wake - tick), 0);
    const Nanoseconds into_tick = (now - start_) % Nanoseconds(tick_ns_);
    next = std::min(next, std::max(Nanoseconds(ticks * tick_ns_) - into_tick, Nanoseconds(0)));
  }
  return next;
}

bool DeviceState::any_outstanding() const {
  const std::shared_lock lock(registry_mutex_);
  return std::any_of(agents_.begin(), agents_.end(), [](const auto& a) { return a.second->any_outstanding(); });
}

void DeviceState::run() {
  const std::shared_ptr<bool> gone = thread_outlives_;
  while (!*gone && !stop_.load(std::memory_order_acquire)) {
    const std::size_t ran = poll(256);
    if (!*gone && ran == 0) wait(kForever);
  }
}

}  // namespace tidemill::detail
