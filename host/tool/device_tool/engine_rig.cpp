// SPDX-License-Identifier: Apache-2.0
#include "device_tool/engine_rig.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

namespace tidemill::device_tool {
namespace {

constexpr uint32_t kLaneEntries = 1024;
constexpr auto kPatience = std::chrono::seconds(5);
template <class T>
std::optional<T> take(std::deque<T>& from) {
  if (from.empty()) return std::nullopt;
  const T first = from.front();
  from.pop_front();
  return first;
}

}  // namespace

EngineRig::EngineRig(std::unique_ptr<device::Backend> backend, bool virtual_clock, uint16_t wire_credit)
    : backend_(std::move(backend)),
      capabilities_(backend_->capabilities()),
      virtual_clock_(virtual_clock),
      used_(capabilities_.banks) {
  backend_->attach(*this);
  if (wire_credit != 0) backend_->wire_credit(wire_credit, wire_credit);
}

uint16_t EngineRig::open_lane(const LaneOptions& options) {
  const auto lane = static_cast<uint16_t>(lanes_.size());
  lanes_.push_back({backend_->ring(lane, kLaneEntries), 0});
  abi::Command c;
  c.kind(abi::CommandKind::open_lane);
  c.lane(lane);
  c.weight(options.weight);
  c.service_class(options.service_class);
  c.window(options.window);
  c.qp(options.gsi);
  command(c);
  pass();
  return lane;
}

void EngineRig::command_send(abi::CommandKind kind, const abi::Descriptor& d, uint32_t ticks) {
  abi::Command c;
  c.kind(kind);
  c.slot(d.slot());
  c.generation(d.generation());
  c.agent(d.agent());
  c.ticks(ticks);
  command(c);
}

abi::Descriptor EngineRig::send(uint32_t bank, uint32_t timeout, uint32_t agent) {
  abi::Descriptor d;
  // The host picks the slot to fit the TID's bank; here the TID is picked to fit both.
  do d.tid(uint64_t{agent} << 32 | next_tid_++);
  while (timeout != 0 && backend_->bank_of(d.tid()) != bank);
  d.slot(static_cast<uint16_t>(used_[bank]++ * banks() + bank));
  d.agent(agent);
  d.mgmt_class(0x04);
  d.timeout(timeout);
  d.port(1);
  d.qp(true);
  d.length(256);
  return d;
}

void EngineRig::post(uint16_t lane, abi::Descriptor d) {
  d.lane(lane);
  Lane& l = lanes_[lane];
  l.ring[l.producer++ & (kLaneEntries - 1)] = d;
  backend_->doorbell(lane, l.producer);
}

void EngineRig::report(const abi::Transmit& t, abi::Status status, uint8_t vendor) {
  abi::Sent s;
  s.slot(t.slot());
  s.generation(t.generation());
  s.status(status);
  s.vendor(vendor);
  sents_.push_back(s);
}

void EngineRig::answer(const abi::Descriptor& d, uint16_t buffer, uint8_t mgmt_class) {
  abi::Received r;
  r.tid(d.tid());
  r.buffer(buffer);
  r.length(256);
  r.mgmt_class(mgmt_class);
  r.method(0x81);
  r.port(d.port());
  r.qp(d.qp());
  r.response(true);
  answers_.push_back(r);
}

void EngineRig::pass() {
  using std::chrono::steady_clock;
  backend_->gather();
  if (!virtual_clock_)
    now_ = static_cast<uint32_t>(static_cast<uint64_t>(std::chrono::nanoseconds(steady_clock::now() - start_).count()) /
                                 capabilities_.tick_ns);
  backend_->take_commands(now_);
  for (const abi::Sent& s : sents_) backend_->sent(s, now_);
  for (const abi::Received& r : answers_) backend_->received(r, now_);
  sents_.clear();
  answers_.clear();
  more_ = backend_->progress(now_);
  if (!virtual_clock_) return;
  if (const auto time = backend_->time()) {
    const auto ticks = static_cast<uint32_t>(static_cast<uint64_t>(time->count()) / capabilities_.tick_ns);
    if (static_cast<int32_t>(ticks - now_) > 0) now_ = ticks;
  }
}

void EngineRig::advance(uint32_t most) {
  if (!virtual_clock_ || more_) return;
  const auto to_timer = static_cast<int32_t>(backend_->wake(now_) - now_);
  now_ += static_cast<uint32_t>(std::clamp<int64_t>(to_timer, 1, std::max(most, 1u)));
}

bool EngineRig::until(const std::function<bool()>& done, uint32_t ticks) {
  pass();
  const uint32_t begin = now_;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (!failure_.empty() || now_ - begin > ticks || std::chrono::steady_clock::now() > end) return false;
    advance(begin + ticks - now_);
    pass();
  }
  return true;
}

std::optional<abi::Transmit> EngineRig::transmitted(uint32_t ticks) {
  until([this] { return !transmits_.empty(); }, ticks);
  return take(transmits_);
}

std::optional<abi::Completion> EngineRig::completed(uint32_t ticks) {
  until([this] { return !completions_.empty(); }, ticks);
  return take(completions_);
}

std::optional<EngineRig::Drop> EngineRig::dropped() {
  until([this] { return !drops_.empty(); });
  return take(drops_);
}

bool EngineRig::quiet(uint32_t ticks) {
  return !until([this] { return !transmits_.empty() || !completions_.empty(); }, ticks);
}

std::optional<abi::Transmit> EngineRig::launch(const abi::Descriptor& d) {
  post(d);
  const auto t = transmitted();
  if (t) report(*t);
  return t;
}

std::optional<uint32_t> EngineRig::tick_of(uint32_t bank) {
  // Others' transmissions and completions stay where they are.
  const abi::Descriptor d = send(bank, 0);
  post(d);
  const auto mine = [&d](const auto& entry) { return entry.slot() == d.slot(); };
  const auto taken = [&](auto& from) {
    using Entry = typename std::remove_reference_t<decltype(from)>::value_type;
    std::optional<Entry> entry;
    until([&] { return std::any_of(from.begin(), from.end(), mine); });
    const auto found = std::find_if(from.begin(), from.end(), mine);
    if (found != from.end()) {
      entry = *found;
      from.erase(found);
    }
    return entry;
  };
  const auto t = taken(transmits_);
  if (!t) return std::nullopt;
  report(*t);
  const auto c = taken(completions_);
  if (!c) return std::nullopt;
  return c->now();
}

}  // namespace tidemill::device_tool
