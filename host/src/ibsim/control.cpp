// SPDX-License-Identifier: Apache-2.0
#include "ibsim/control.hpp"

#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "fmt/format.h"

namespace tidemill::ibsim {
namespace {

/// Names this client's sockets: the process, and which of its hosts, of which it may have several.
uint32_t next_id() {
  static std::atomic<uint32_t> count{0};
  constexpr uint32_t kProcesses = 0x1000000;  // above any process id
  return static_cast<uint32_t>(::getpid()) + kProcesses * (count++ & 0x7fu);
}

std::string why() {
  return std::generic_category().message(errno);
}

}  // namespace

Error ControlSocket::open(const IbsimOptions& options) {
  if (options.socket.empty() || options.socket.size() > SocketName::kLongestBase)
    return {Errc::bad_option, fmt::format("ibsim socket name '{}' is not 1 to {} characters long", options.socket,
                                          SocketName::kLongestBase)};
  if (options.host.size() >= sizeof Connect::node)
    return {Errc::bad_option,
            fmt::format("ibsim node name '{}' is longer than {} characters", options.host, sizeof Connect::node - 1)};
  id_ = next_id();
  socket_ = Socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketName own(options.socket, "ctl" + std::to_string(id_)), peer(options.socket, "ctl");
  if (::bind(socket_.get(), own.get(), own.length) != 0)
    return {Errc::device_failed,
            fmt::format("ibsim: socket name '{}:ctl{}' cannot be had: {}", options.socket, id_, why())};
  // Whoever answers shows its credentials: its end is seen by its process.
  const int on = 1;
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(socket_.get(), peer.get(), peer.length) != 0)
    return {Errc::device_failed, fmt::format("no ibsim answers to the name '{}': {}. Start one (IBSIM_SOCKNAME={} "
                                             "ibsim -s NETFILE), or set IBSIM_SOCKNAME to the name of one that runs",
                                             options.socket, why(), options.socket)};
  // ibsim connects to it, before it answers.
  data_ = Socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const SocketName data(options.socket, "in" + std::to_string(id_));
  if (::bind(data_.get(), data.get(), data.length) != 0)
    return {Errc::device_failed,
            fmt::format("ibsim: socket name '{}:in{}' cannot be had: {}", options.socket, id_, why())};
  Connect connect{};
  connect.id = id_;
  connect.issm = options.unsolicited ? 1 : 0;
  std::copy(options.host.begin(), options.host.end(), connect.node);
  Control c{};
  std::memcpy(c.data, &connect, sizeof connect);
  c.length = sizeof connect;
  if (Error e = exchange(Request::connect, c); e.code != Errc::ok) {
    e.message +=
        options.host.empty()
            ? "; it has no free client or no node"
            : fmt::format("; it has no node '{}' in its net file, or all its 10 clients are taken", options.host);
    return e;
  }
  std::memcpy(&connect, c.data, sizeof connect);
  client_ = connect.id;
  const SocketName out(options.socket, "out" + std::to_string(client_));
  if (::connect(data_.get(), out.get(), out.length) != 0)
    return {Errc::device_failed, "ibsim: no data connection: " + why()};
  return {};
}

ControlSocket::~ControlSocket() {
  if (client_ == 0) return;
  Control c{};
  c.magic = Control::kMagic;
  c.client = client_;
  c.type = static_cast<uint32_t>(Request::disconnect);
  [[maybe_unused]] const auto told = ::send(socket_.get(), &c, sizeof c, MSG_DONTWAIT | MSG_NOSIGNAL);
}

Error ControlSocket::exchange(Request what, Control& c) {
  const std::lock_guard lock(mutex_);
  c.magic = Control::kMagic;
  c.client = client_;
  c.type = static_cast<uint32_t>(what);
  if (::send(socket_.get(), &c, sizeof c, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof c))
    return {Errc::device_failed, "ibsim does not take a question: " + why()};
  do {
    if (Error e = receive(c); e.code != Errc::ok) {
      given_up_.push_back(static_cast<uint32_t>(what));
      return e;
    }
  } while (is_late(c, what));
  if (c.type != static_cast<uint32_t>(what)) return {Errc::device_failed, "ibsim refuses"};
  return {};
}

Error ControlSocket::receive(Control& c) {
  iovec io{.iov_base = &c, .iov_len = sizeof c};
  alignas(cmsghdr) char credentials[CMSG_SPACE(sizeof(ucred))];
  msghdr m{};
  m.msg_iov = &io;
  m.msg_iovlen = 1;
  m.msg_control = credentials;
  m.msg_controllen = sizeof credentials;
  ssize_t got = 0;
  do got = ::recvmsg(socket_.get(), &m, 0);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof c))
    return {Errc::device_failed, "ibsim does not answer: " + (got < 0 ? why() : std::string("short reply"))};
  for (cmsghdr* at = CMSG_FIRSTHDR(&m); at != nullptr; at = CMSG_NXTHDR(&m, at)) {
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_CREDENTIALS) continue;
    ucred who{};
    std::memcpy(&who, CMSG_DATA(at), sizeof who);
    peer_ = who.pid;
  }
  return {};
}

bool ControlSocket::is_late(const Control& answer, Request what) {
  if (given_up_.empty()) return false;
  // Answers come in the order of the questions; a refusal does not say which one it is of.
  const bool of_oldest = answer.type == given_up_.front() || answer.type == static_cast<uint32_t>(Request::error);
  if (!of_oldest && answer.type == static_cast<uint32_t>(what)) {
    given_up_.clear();  // those were never answered
    return false;
  }
  if (of_oldest) given_up_.pop_front();
  return true;
}

Result<Ibsim::Attribute> ControlSocket::ask(Request what, const Ibsim::Attribute& data) {
  Control c{};
  c.length = sizeof c.data;
  std::copy(data.begin(), data.end(), c.data);
  if (Error e = exchange(what, c); e.code != Errc::ok) return e;
  Ibsim::Attribute answer;
  std::copy(std::begin(c.data), std::end(c.data), answer.begin());
  return answer;
}

}  // namespace tidemill::ibsim
