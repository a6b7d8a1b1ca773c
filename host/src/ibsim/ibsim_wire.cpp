// SPDX-License-Identifier: Apache-2.0
#include "ibsim/ibsim_wire.hpp"

#include <arpa/inet.h>
#include <endian.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tidemill::ibsim {
namespace {

constexpr unsigned kBatch = 32;    ///< Datagrams asked for at a time.
constexpr unsigned kBatches = 32;  ///< In one poll.
constexpr std::size_t kMostArrivals = 65536;

void bump(std::atomic<uint64_t>& n) {
  n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

uint16_t get16(const std::byte* at) {
  return static_cast<uint16_t>(std::to_integer<unsigned>(at[0]) << 8 | std::to_integer<unsigned>(at[1]));
}

uint16_t lid_of(uint32_t field) {
  return ntohs(static_cast<uint16_t>(field));
}

bool is_response(const std::byte* mad) {
  return MadView(std::span<const std::byte, kMadBytes>(mad, kMadBytes)).is_response();
}

constexpr std::size_t kTid = 8;

}  // namespace

IbsimWire::IbsimWire(Socket data, int peer, WireAttributes attributes, std::shared_ptr<Shared> shared)
    : attributes_(attributes), shared_(std::move(shared)), data_(std::move(data)), upper_(65536) {
  epoll_event e{.events = EPOLLIN, .data = {.fd = data_.get()}};
  ::epoll_ctl(shared_->epoll.get(), EPOLL_CTL_ADD, data_.get(), &e);
  if (peer > 0) process_ = Socket(static_cast<int>(::syscall(SYS_pidfd_open, peer, 0)));
  if (process_.get() < 0) return;  // then its end shows when something is sent
  e.data.fd = process_.get();
  ::epoll_ctl(shared_->epoll.get(), EPOLL_CTL_ADD, process_.get(), &e);
}

void IbsimWire::transmit(const WireSend& send) {
  if (dead_) {
    reports_.push_back({send.token, WireStatus::flushed});
    return;
  }
  Packet p{};
  p.dlid = htons(send.to.lid);
  // 0: ibsim fills in the port's own.
  p.slid = send.to.lid == kPermissiveLid ? htons(kPermissiveLid) : 0;
  p.dqp = htonl(send.to.qpn);
  p.sqp = htonl(send.qp == Qp::gsi ? 1 : 0);
  p.length = htobe64(send.mad.size());
  std::copy(send.mad.begin(), send.mad.end(), p.mad);
  if (!is_response(p.mad)) upper_[get16(p.mad + kTid + 2)] = get16(p.mad + kTid);
  if (!waiting_.empty()) {
    waiting_.push_back({send.token, p});
    return;
  }
  switch (try_send(p)) {
    case Sent::gone:
      reports_.push_back({send.token, WireStatus::sent});
      break;
    case Sent::full:
      bump(shared_->waited);
      waiting_.push_back({send.token, p});
      watch_for_room(true);
      break;
    case Sent::dead:
      reports_.push_back({send.token, WireStatus::flushed});
      break;
  }
}

IbsimWire::Sent IbsimWire::try_send(const Packet& packet) {
  for (;;) {
    if (::send(data_.get(), &packet, sizeof packet, MSG_DONTWAIT | MSG_NOSIGNAL) ==
        static_cast<ssize_t>(sizeof packet)) {
      bump(shared_->sent);
      return Sent::gone;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return Sent::full;
    dead_ = true;
    return Sent::dead;
  }
}

void IbsimWire::send_waiting() {
  while (!waiting_.empty()) {
    const Sent sent = dead_ ? Sent::dead : try_send(waiting_.front().packet);
    if (sent == Sent::full) return;
    reports_.push_back({waiting_.front().token, sent == Sent::gone ? WireStatus::sent : WireStatus::flushed});
    waiting_.pop_front();
  }
  watch_for_room(false);
}

void IbsimWire::watch_for_room(bool on) {
  if (watching_for_room_ == on) return;
  watching_for_room_ = on;
  epoll_event e{.events = static_cast<uint32_t>(on ? EPOLLIN | EPOLLOUT : EPOLLIN), .data = {.fd = data_.get()}};
  ::epoll_ctl(shared_->epoll.get(), EPOLL_CTL_MOD, data_.get(), &e);
}

void IbsimWire::abandon() {
  for (const Waiting& w : waiting_) reports_.push_back({w.token, WireStatus::flushed});
  waiting_.clear();
  watch_for_room(false);
}

void IbsimWire::receive(int socket) {
  std::array<Packet, kBatch> packets;
  std::array<iovec, kBatch> io;
  std::array<mmsghdr, kBatch> messages{};
  for (unsigned i = 0; i < kBatch; ++i) {
    io[i] = {.iov_base = &packets[i], .iov_len = sizeof packets[i]};
    messages[i].msg_hdr.msg_iov = &io[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  for (unsigned batch = 0; batch < kBatches; ++batch) {
    const int got = ::recvmmsg(socket, messages.data(), kBatch, MSG_DONTWAIT, nullptr);
    for (int i = 0; i < got; ++i)
      if (messages[i].msg_len == sizeof(Packet)) take(packets[i]);
    if (got < static_cast<int>(kBatch)) break;
  }
}

void IbsimWire::take(const Packet& p) {
  if (p.status != 0) {
    bump(shared_->returned);
    return;
  }
  bump(shared_->received);
  if (arrivals_.size() >= kMostArrivals) return;
  Arrival& a = arrivals_.emplace_back();
  a.qp = ntohl(p.dqp) == 0 ? Qp::smi : Qp::gsi;
  a.from.lid = lid_of(p.slid);
  a.from.qpn = ntohl(p.sqp);
  const uint16_t own = lid_of(p.dlid);
  a.from.path_bits = own == kPermissiveLid ? 0 : static_cast<uint8_t>(own & ((1u << attributes_.lmc) - 1u));
  std::copy(std::begin(p.mad), std::end(p.mad), a.mad.begin());
  if (is_response(p.mad)) {
    const uint16_t upper = upper_[get16(p.mad + kTid + 2)];
    a.mad[kTid] = static_cast<std::byte>(upper >> 8);
    a.mad[kTid + 1] = static_cast<std::byte>(upper);
  }
}

bool IbsimWire::peer_is_gone() {
  if (process_.get() < 0) return false;
  epoll_event events[2];
  const int n = ::epoll_wait(shared_->epoll.get(), events, 2, 0);
  return std::any_of(events, events + std::max(n, 0),
                     [this](const epoll_event& e) { return e.data.fd == process_.get(); });
}

bool IbsimWire::hand_over(WireSink& sink) {
  bool any = false;
  while (!arrivals_.empty()) {
    const Arrival& a = arrivals_.front();
    if (!sink.received({.qp = a.qp, .from = a.from, .mad = a.mad})) break;
    arrivals_.pop_front();
    any = true;
  }
  return any;
}

bool IbsimWire::poll(WireSink& sink) {
  if (!dead_) {
    const std::size_t before = arrivals_.size();
    receive(data_.get());
    // Set once and never changed: its number may be read without the lock from then on.
    if (shared_->listens.load(std::memory_order_acquire)) receive(shared_->unsolicited.get());
    if (arrivals_.size() == before && peer_is_gone()) {
      receive(data_.get());  // its last words
      dead_ = true;
    }
  }
  if (!waiting_.empty()) send_waiting();
  bool any = !reports_.empty();
  for (const Report& r : reports_) sink.sent(r.token, r.status);
  reports_.clear();
  any |= hand_over(sink);
  if (dead_ && !told_) {
    told_ = true;
    // Closed, or their descriptors would be readable for ever.
    data_ = {};
    process_ = {};
    if (shared_->listens.load(std::memory_order_acquire))
      ::epoll_ctl(shared_->epoll.get(), EPOLL_CTL_DEL, shared_->unsolicited.get(), nullptr);
    sink.event(PortEvent::device_removed);
    any = true;
  }
  return any;
}

}  // namespace tidemill::ibsim
