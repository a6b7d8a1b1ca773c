// SPDX-License-Identifier: Apache-2.0
#include "fabric/fabric_port.hpp"

#include <algorithm>
#include <utility>

namespace tidemill::fabric {
namespace {

/// MADs under way to one queue pair, those that wait for a receive buffer included. Two for each slot of the largest
/// device.
constexpr std::size_t kMaxUnderWay = std::size_t{1} << 17;

/// Codes of WireSink::sent(): why a try failed.
constexpr uint8_t kVendorFault = 1, kVendorNoSuchIndex = 2;

bool is_smi(Qp qp) { return qp == Qp::smi; }
std::size_t index(Qp qp) { return static_cast<std::size_t>(qp); }

/// What an adapter looks at before it lets anyone see a request.
bool is_proper(MadView mad, Qp qp) {
  const bool subnet = mad.mgmt_class() == mad_class::subn_lid || mad.is_directed_route();
  return mad.base_version() == 1 && subnet == is_smi(qp);
}

}  // namespace

FabricPort::FabricPort(FabricCore& core, DeviceNumber node)
    : core_(core), node_(node), dice_(Dice(core.seed + node).next()), served_(core.topology.adapters()),
      inbox_(kMaxUnderWay) {
  clear();
}

WireAttributes FabricPort::attributes() const {
  return {.lid = core_.topology.lid(node_), .port_guid = core_.topology.port_guid(node_)};
}

Traffic FabricPort::traffic_of(DeviceNumber node) const {
  Traffic t{.out = served_[node].answers.value(), .in = served_[node].requests.value()};
  if (node == node_) {
    t.out += left_.value();
    t.in += handed_.value();
  }
  return t;
}

void FabricPort::clear() {
  empty_inbox();
  for (QueuePair& qp : qps_) {
    if (qp.refused != nullptr) drop(std::exchange(qp.refused, nullptr), tally_.lost);
    for (; !qp.arrivals.empty(); qp.arrivals.pop()) drop(qp.arrivals.first(), tally_.lost);
    qp.failed = false;
  }
  while (!reports_.empty()) reports_.pop();
  const uint32_t link = core_.adapter(node_).link.state();
  link_seen_ = Link::is_up(link) ? link : 0;
  wake_.set();
}

// ---------------------------------------------------------------- tries

void FabricPort::transmit(const WireSend& send) {
  if (core_.faults.version() != faults_version_) [[unlikely]] look_at_faults();
  if (faults_.none && echo_at_once(send)) return;
  if (fails(send)) return;
  report(send, WireStatus::sent);
  if (faults_.forged.possible()) forge(send);

  Packet* const packet = pool_.take();
  copy_mad(send, *packet);
  packet->due = departure();
  tally_.sent.add();
  left_.add();
  if (route(*packet, send.to)) {
    packet->from.qpn = static_cast<uint32_t>(send.qp);
    carry(packet);
  } else {
    drop(packet, tally_.unroutable);
  }
}

void FabricPort::look_at_faults() {
  faults_version_ = core_.faults.version();
  faults_ = core_.faults.get();
}

/// The way of transmit() to report, route, answer and carry for the one case that benchmarks are made of. Does nothing
/// unless all of it applies.
bool FabricPort::echo_at_once(const WireSend& send) {
  if (send.mad.size() != kMadBytes) return false;
  const MadView request(send.mad.first<kMadBytes>());
  const uint8_t method = request.method();
  if ((request.base_version() != 1) | (request.mgmt_class() != kEchoClass) | (request.oui() != kEchoOui) |
      (method < mad_method::get) | (method > mad_method::send)) {
    return false;
  }
  const DeviceNumber responder = send.to.lid - 1u;
  if ((responder >= core_.topology.adapters()) | send.to.grh.has_value() | (send.to.qpn != 1) |
      (send.to.pkey_index != 0) | (send.qp != Qp::gsi)) {
    return false;
  }
  Arrivals& arrivals = qps_[index(Qp::gsi)].arrivals;
  const uint32_t own_link = core_.link_state(node_), link = core_.link_state(responder);
  if (!Link::is_up(own_link) || !Link::is_up(link) || core_.audience(responder) == Audience::wire ||
      arrivals.size() >= kMaxUnderWay) {
    return false;
  }
  report(send, WireStatus::sent);
  Packet* const packet = pool_.take();
  std::copy_n(send.mad.data(), kMadBytes, packet->mad.data());
  become_response(packet->mad, 0);
  packet->from = Address{};
  packet->from.lid = send.to.lid;
  packet->from.sl = send.to.sl;
  packet->qp = Qp::gsi;
  packet->source = responder;
  packet->destination = node_;
  packet->source_link = link;
  packet->destination_link = own_link;
  packet->due = now_;
  packet->order = entered_++;
  arrivals.push(packet);
  left_.add();
  tally_.sent.add(2);
  tally_.delivered.add();
  served_[responder].requests.add();
  served_[responder].answers.add();
  return true;
}

void FabricPort::report(const WireSend& send, WireStatus status, uint8_t vendor, uint8_t recovery) {
  Report& r = reports_.extend();
  r.token = send.token;
  r.status = status;
  r.vendor = vendor;
  r.recovery = recovery;
}

bool FabricPort::fails(const WireSend& send) {
  QueuePair& qp = qps_[index(send.qp)];
  const auto flush = [&](uint8_t recovery) {
    tally_.flushed.add();
    report(send, WireStatus::flushed, 0, recovery);
    return true;
  };
  const auto error = [&](uint8_t vendor) {
    tally_.errors.add();
    report(send, WireStatus::error, vendor);
    return true;
  };
  if (Link::is_removed(core_.adapter(node_).link.state())) return flush(0);
  if (!qp.failed && faults_.flush.hits(dice_)) {
    qp.failed = true;
    qp.recovery = static_cast<uint8_t>(qp.recovery % 255 + 1);
  }
  if (qp.failed) return flush(qp.recovery);
  if (faults_.send_error.hits(dice_)) return error(kVendorFault);
  if (send.to.pkey_index != 0 || (send.to.grh && send.to.grh->gid_index != 0)) return error(kVendorNoSuchIndex);
  return false;
}

int64_t FabricPort::departure() const { return faults_.timeless ? now_ : core_.clock->now().count(); }

// ---------------------------------------------------------------- on the way

void FabricPort::copy_mad(const WireSend& send, Packet& packet) {
  const std::size_t length = std::min(send.mad.size(), kMadBytes);
  std::copy_n(send.mad.begin(), length, packet.mad.begin());
  std::fill(packet.mad.begin() + static_cast<std::ptrdiff_t>(length), packet.mad.end(), std::byte{0});
}

bool FabricPort::route(Packet& packet, const Address& to) {
  const Topology& topology = core_.topology;
  const bool directed = MadView(packet.mad).is_directed_route();
  if (to.qpn > 1 || directed != (to.lid == kPermissiveLid)) return false;
  packet.source = node_;
  packet.qp = static_cast<Qp>(to.qpn);
  packet.from = Address{};
  packet.from.lid = directed ? kPermissiveLid : topology.lid(node_);
  packet.from.sl = to.sl;
  if (directed) {
    const std::optional<Stop> stop = follow_directed_route(topology, node_, packet.mad);
    if (!stop) return false;
    packet.destination = stop->device;
    packet.entry_port = stop->port;
  } else {
    packet.destination = topology.device_of(to.lid);
    if (packet.destination == kNoDevice) return false;
    packet.entry_port =
        topology.is_switch(packet.destination) ? topology.port_towards(packet.destination, node_) : uint8_t{1};
  }
  if (to.grh) {
    if (to.grh->gid != topology.gid(packet.destination)) return false;
    packet.from.grh = to.grh;
    packet.from.grh->gid = topology.gid(node_);
  }
  return true;
}

void FabricPort::carry(Packet* packet) {
  packet->source_link = core_.link_state(packet->source);
  packet->destination_link = core_.link_state(packet->destination);
  if (!Link::is_up(packet->source_link) || !Link::is_up(packet->destination_link)) {
    drop(packet, tally_.lost);
    return;
  }
  int64_t detour = 0;
  if (faults_.on_links) {
    if (faults_.stale.possible() && MadView(packet->mad).is_response()) replay_earlier(*packet);
    if (faults_.loss.hits(dice_)) {
      drop(packet, tally_.lost);
      return;
    }
    if (faults_.corruption.hits(dice_)) corrupt(*packet);
    if (faults_.duplication.hits(dice_)) duplicate(*packet);
    if (faults_.reordering.hits(dice_)) detour = detour_time();
  }
  travel(packet, detour);
}

void FabricPort::travel(Packet* packet, int64_t detour) {
  packet->due += faults_.delay + detour;
  if (faults_.jitter != 0) packet->due += static_cast<int64_t>(dice_.below(static_cast<uint64_t>(faults_.jitter) + 1));
  arrive(packet);
}

void FabricPort::arrive(Packet* packet) {
  const MadView mad(packet->mad);
  const Audience audience = core_.audience(packet->destination);
  if (audience != Audience::wire && !mad.is_response() && is_proper(mad, packet->qp)) {
    if (core_.responders.answer(packet->destination, packet->entry_port, packet->mad)) {
      answer(packet);
      return;
    }
    if (audience == Audience::responders && Responders::is_get_or_set(mad)) {
      become_response(packet->mad, kStatusUnsupportedMethodAttribute);
      answer(packet);
      return;
    }
  }
  if (audience != Audience::responders) {
    hand_to_port(packet);
    return;
  }
  if (!core_.topology.is_switch(packet->destination)) served_[packet->destination].requests.add();
  drop(packet, tally_.delivered);  // where nobody listens
}

void FabricPort::answer(Packet* packet) {
  const Topology& topology = core_.topology;
  const DeviceNumber responder = packet->destination;
  tally_.delivered.add();
  tally_.sent.add();
  if (!topology.is_switch(responder)) {
    served_[responder].requests.add();
    served_[responder].answers.add();
  }
  if (MadView(packet->mad).is_directed_route()) {
    const std::optional<Stop> stop = follow_directed_route(topology, responder, packet->mad);
    if (!stop) {
      drop(packet, tally_.unroutable);
      return;
    }
    packet->destination = stop->device;
    packet->entry_port = stop->port;
  } else {
    packet->destination = packet->source;
    packet->entry_port = 1;
    packet->from.lid = topology.lid(responder);
  }
  packet->source = responder;
  if (packet->from.grh) packet->from.grh->gid = topology.gid(responder);
  const auto asking_qp = static_cast<Qp>(packet->from.qpn);
  packet->from.qpn = static_cast<uint32_t>(packet->qp);
  packet->qp = asking_qp;
  carry(packet);
}

void FabricPort::hand_to_port(Packet* packet) {
  FabricPort& port = *core_.adapter(packet->destination).port.load(std::memory_order_acquire);
  if (&port == this) {
    enter(packet);
    return;
  }
  switch (port.inbox_.push(packet)) {
    case Inbox::Pushed::full: drop(packet, tally_.overrun); break;
    case Inbox::Pushed::first: port.wake(); break;
    case Inbox::Pushed::more: break;
  }
}

void FabricPort::enter(Packet* packet) {
  Arrivals& arrivals = qps_[index(packet->qp)].arrivals;
  if (arrivals.size() >= kMaxUnderWay) {
    drop(packet, tally_.overrun);
    return;
  }
  packet->order = entered_++;
  arrivals.push(packet);
}

void FabricPort::drop(Packet* packet, Tally& cause) {
  cause.add();
  pool_.give(packet);
}

// ---------------------------------------------------------------- handing over

bool FabricPort::poll(WireSink& sink) {
  for (QueuePair& qp : qps_) qp.failed = false;
  const bool woken = wake_.take();
  if (woken) empty_inbox();
  // What the sink sends from inside its calls waits for the next poll: no response overtakes the report of its try, and
  // poll() ends.
  const uint64_t horizon = entered_;
  bool reported = report_tries(sink);
  if (woken) reported |= report_link(sink);
  for (QueuePair& qp : qps_) reported |= deliver(qp, horizon, sink);
  return reported;
}

void FabricPort::empty_inbox() {
  Packet* packet = inbox_.take_all();
  while (packet != nullptr) enter(std::exchange(packet, packet->next));
}

bool FabricPort::report_tries(WireSink& sink) {
  const std::size_t count = reports_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Report r = reports_.front();
    reports_.pop();
    sink.sent(r.token, r.status, r.vendor, r.recovery);
  }
  return count != 0;
}

bool FabricPort::report_link(WireSink& sink) {
  const uint32_t link = core_.adapter(node_).link.state();
  const uint32_t before = std::exchange(link_seen_, link);
  if (link == before) return false;
  if (Link::is_removed(link)) {
    if (!Link::is_removed(before)) sink.event(PortEvent::device_removed);
    return !Link::is_removed(before);
  }
  // However often it changed, one pair of events tells of it.
  const PortEvent last = Link::is_up(link) ? PortEvent::wire_back : PortEvent::wire_lost;
  if (Link::is_up(link) == Link::is_up(before)) {
    sink.event(Link::is_up(link) ? PortEvent::wire_lost : PortEvent::wire_back);
  }
  sink.event(last);
  return true;
}

bool FabricPort::deliver(QueuePair& qp, uint64_t horizon, WireSink& sink) {
  bool delivered = false;
  for (;;) {
    Packet* packet = std::exchange(qp.refused, nullptr);
    if (packet == nullptr) {
      if (qp.arrivals.empty()) break;
      packet = qp.arrivals.first();
      if (packet->order >= horizon || !is_due(*packet)) break;
      qp.arrivals.pop();
    }
    if (!unbroken(*packet)) {
      drop(packet, tally_.lost);
      continue;
    }
    if (!sink.received({packet->qp, packet->from, packet->mad})) {
      qp.refused = packet;
      break;
    }
    delivered = true;
    handed_.add();
    drop(packet, tally_.delivered);
  }
  return delivered;
}

bool FabricPort::is_due(const Packet& packet) {
  if (packet.due > now_) now_ = core_.clock->now().count();
  return packet.due <= now_;
}

bool FabricPort::unbroken(const Packet& packet) const {
  return core_.link_state(packet.source) == packet.source_link && Link::is_up(packet.source_link) &&
         core_.link_state(packet.destination) == packet.destination_link && Link::is_up(packet.destination_link);
}

std::optional<Nanoseconds> FabricPort::next_event() {
  if (wake_.is_set() || !reports_.empty()) return core_.clock->now();
  std::optional<Nanoseconds> earliest;
  for (QueuePair& qp : qps_) {
    if (qp.refused == nullptr && qp.arrivals.empty()) continue;
    const Nanoseconds due{(qp.refused != nullptr ? qp.refused : qp.arrivals.first())->due};
    if (!earliest || due < *earliest) earliest = due;
  }
  return earliest;
}

}  // namespace tidemill::fabric
