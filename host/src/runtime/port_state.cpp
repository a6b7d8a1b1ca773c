// SPDX-License-Identifier: Apache-2.0
#include "runtime/port_state.hpp"

#include <algorithm>
#include <cstring>

#include "hls/classify.hpp"
#include "rmpp/segment.hpp"
#include "runtime/device_state.hpp"

namespace tidemill::detail {
namespace {

constexpr uint16_t kAttributeClassPortInfo = 0x0001;

/// Of RMPP only the first DATA segment answers a send: ACKs and what follows belong to transfers.
bool may_match(const MadView& mad) {
  return !mad.rmpp_active() || (mad.rmpp_type() == static_cast<uint8_t>(rmpp::Type::data) && mad.rmpp_segment() == 1);
}

uint64_t token_of(const abi::Transmit& t) {
  return uint64_t{t.qp()} << 32 | uint64_t{t.generation()} << 16 | t.slot();
}

}  // namespace

PortState::PortState(DeviceState& device, unsigned number, std::unique_ptr<Wire> wire, PortOptions options)
    : device_(device),
      number_(number),
      wire_(std::move(wire)),
      options_(std::move(options)),
      attributes_(wire_->attributes()),
      buffers_(2u * options_.receive_buffers) {
  for (uint32_t i = static_cast<uint32_t>(buffers_.size()); i-- > 0;)
    free_[i / options_.receive_buffers].push_back(static_cast<uint16_t>(i));
}

PortStats PortState::stats() const {
  PortStats s;
  s.transmitted = transmitted_;
  s.retried = retried_;
  s.received = received_;
  s.matched = matched_;
  s.unsolicited = unsolicited_;
  s.auto_responses = auto_responses_;
  s.outstanding_high = outstanding_high_;
  for (std::size_t i = 0; i < kDropCauses; ++i) s.dropped[i] = dropped_[i];
  for (std::size_t i = 0; i < kSendStatuses; ++i) s.completed[i] = completed_[i];
  for (std::size_t i = 0; i < 256; ++i) {
    s.sent_by_class[i] = sent_by_class_[i];
    s.received_by_class[i] = received_by_class_[i];
  }
  return s;
}

void PortState::transmit(const abi::Transmit& t) {
  Queue& queue = queues_[t.qp()];
  if (queue.on_wire < attributes_.send_depth[t.qp()] && queue.held.empty())
    give_to_wire(t);
  else
    queue.held.push_back(t);
}

void PortState::give_to_wire(const abi::Transmit& t) {
  ++queues_[t.qp()].on_wire;
  const SlotMemory& memory = device_.slots().memory(t.slot());
  SendRecord& record = device_.slots().record(t.slot());
  record.on_wire = SendRecord::kLive | t.generation();
  const std::span<const std::byte> mad{memory.mad.data(), record.length};
  const Qp qp = t.qp() ? Qp::gsi : Qp::smi;
  ++transmitted_;
  ++sent_by_class_[static_cast<uint8_t>(mad[1])];
  if (Trace* trace = options_.trace.get()) {
    const Nanoseconds now = device_.now();
    trace->transmitted(record.agent.load(std::memory_order_relaxed)->id(), {t.slot(), t.generation()}, t.tries(), now);
    trace->mad_on_wire(true, qp, memory.to, mad, now);
  }
  wire_->transmit({token_of(t), qp, memory.to, mad});
}

void PortState::sent(uint64_t token, WireStatus status, uint8_t vendor, uint8_t recovery) {
  abi::Sent s;
  s.slot(static_cast<uint16_t>(token));
  s.generation(static_cast<uint16_t>(token >> 16));
  // A wire that reports twice, or what it never had, gets no credit for it: the depth would be counted down for nothing.
  if (s.slot() >= device_.info().slots) return;
  SendRecord& record = device_.slots().record(s.slot());
  if (record.on_wire != (SendRecord::kLive | s.generation())) return;
  record.on_wire = 0;
  s.status(status == WireStatus::sent      ? abi::Status::success
           : status == WireStatus::flushed ? abi::Status::flushed
                                           : abi::Status::error);
  s.vendor(vendor);
  s.recovery(recovery);
  device_.report(s);
  Queue& queue = queues_[(token >> 32) & 1u];
  --queue.on_wire;
  if (!queue.held.empty()) {
    const abi::Transmit next = queue.held.front();
    queue.held.pop_front();
    give_to_wire(next);
  }
}

bool PortState::well_formed(const WireReceived& r) const {
  if (r.mad.size() != kMadBytes) return false;
  const MadView mad(r.mad.first<kMadBytes>());
  if (mad.base_version() != 1) return false;
  const bool smi_class = mad.mgmt_class() == mad_class::subn_lid || mad.mgmt_class() == mad_class::subn_directed;
  if (smi_class != (r.qp == Qp::smi)) return false;
  return mad.mgmt_class() != mad_class::com_mgt || mad.method() == mad_method::send ||
         mad.attribute() == kAttributeClassPortInfo;
}

bool PortState::received(const WireReceived& r) {
  if (!well_formed(r)) {
    ++received_;
    dropped(DropCause::malformed);
    return true;
  }
  std::vector<uint16_t>& free = free_[static_cast<unsigned>(r.qp)];
  if (free.empty()) {
    dropped(DropCause::no_buffer);
    return false;
  }
  const uint16_t index = free.back();
  free.pop_back();
  Buffer& buffer = buffers_[index];
  std::memcpy(buffer.mad.data(), r.mad.data(), kMadBytes);
  buffer.from = r.from;
  buffer.qp = r.qp;

  const MadView mad(buffer.mad);
  ++received_;
  ++received_by_class_[mad.mgmt_class()];
  if (Trace* trace = options_.trace.get()) trace->mad_on_wire(false, r.qp, r.from, r.mad, device_.now());
  abi::Received header;
  header.tid(mad.tid());
  header.buffer(index);
  header.own_address(device_.own_address(*this, r.from));
  header.length(kMadBytes);
  header.mgmt_class(mad.mgmt_class());
  header.method(mad.method());
  header.peer(device_.peer_of(r.from));
  header.port(static_cast<uint8_t>(number_));
  header.qp(r.qp == Qp::gsi);
  header.grh(r.from.grh.has_value());
  header.response(mad.is_response() && may_match(mad));
  header.rmpp(mad.rmpp_active());
  device_.report(header);
  return true;
}

Received PortState::received(uint16_t buffer) const {
  const Buffer& b = buffers_[buffer];
  return {.mad = MadView(b.mad),
          .from = b.from,
          .qp = b.qp,
          .port = number_,
          .matched = {},
          .context = 0,
          .message = b.mad};
}

void PortState::release(uint16_t buffer) {
  free_[buffer / options_.receive_buffers].push_back(buffer);
}

void PortState::deliver_unsolicited(uint16_t buffer) {
  const Received r = received(buffer);
  // A response reaches this point only as RMPP that answers no send: it may belong to a transfer of the agent it names.
  const bool response = r.mad.is_response();
  const std::shared_ptr<AgentState> owner =
      response ? device_.asker(*this, r.mad, r.qp) : device_.owner_of(*this, r.mad, r.qp);
  if (owner && owner->transfers() != nullptr && r.mad.rmpp_active()) {
    owner->transfers()->received(r);
    release(buffer);
    return;
  }
  const bool own_rmpp = owner && owner->registration().own_rmpp && owner->registration().on_receive && r.mad.rmpp_active();
  if (response && !own_rmpp) {
    dropped(DropCause::stale);
    release(buffer);
    return;
  }
  if (owner) {
    ++unsolicited_;
    owner->deliver(r, nullptr);
  } else if (r.mad.method() == mad_method::get || r.mad.method() == mad_method::set) {
    answer_unsupported(r);
  } else {
    dropped(DropCause::no_agent);
  }
  release(buffer);
}

void PortState::answer_unsupported(const Received& request) {
  AgentState* agent = internal_[static_cast<unsigned>(request.qp)].get();
  const Mad response = make_response(request.mad, kStatusUnsupportedMethodAttribute);
  const SendRequest send{.mad = response.bytes(), .to = request.from, .pace = {}, .tid = {}, .context = 0};
  if (agent != nullptr && agent->post({&send, 1}, {}, nullptr).accepted == 1)
    ++auto_responses_;
  else
    dropped(DropCause::no_agent);
}

void PortState::give_up_wire(Nanoseconds waited) {
  constexpr Nanoseconds kPatience = std::chrono::seconds(2);
  const bool busy = queues_[0].on_wire != 0 || queues_[1].on_wire != 0;
  if (busy && (lost_ || waited > kPatience)) wire_->abandon();
}

void PortState::event(PortEvent event) {
  if (event == PortEvent::wire_lost) lost_ = true;
  if (event == PortEvent::wire_back) lost_ = false;
  if (event == PortEvent::device_removed) {
    lost_ = true;
    removed_.store(true, std::memory_order_release);
    wire_->abandon();
  }
  device_.report(*this, event);
}

}  // namespace tidemill::detail
