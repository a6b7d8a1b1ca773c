// SPDX-License-Identifier: Apache-2.0
#include "ping/peer.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

namespace tidemill::tool {
namespace {

constexpr const char* kGreeting = "tidemill-ping";

std::string why() {
  return std::generic_category().message(errno);
}

template <class T>
bool number_from(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

struct Addresses {
  explicit Addresses(const std::string& host, uint16_t port, bool passive) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = passive ? AI_PASSIVE : 0;
    error = getaddrinfo(passive ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &first);
  }
  ~Addresses() {
    if (first != nullptr) freeaddrinfo(first);
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  addrinfo* first = nullptr;
  int error = 0;
};

void tell(int listener, int wake, const std::string& line) {
  for (;;) {
    std::array<pollfd, 2> fds{{{listener, POLLIN, 0}, {wake, POLLIN, 0}}};
    if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    if ((fds[1].revents & POLLIN) != 0) return;
    if ((fds[0].revents & POLLIN) == 0) continue;
    const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    (void)!send(client, line.data(), line.size(), MSG_NOSIGNAL);
    close(client);
  }
}

}  // namespace

std::optional<Gid> gid_from(const std::string& text) {
  Gid gid;
  return inet_pton(AF_INET6, text.c_str(), gid.data()) == 1 ? std::optional(gid) : std::nullopt;
}

std::string to_text(const Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(AF_INET6, gid.data(), text.data(), text.size()) != nullptr ? text.data() : "?";
}

std::string to_line(const Peer& p) {
  return fmt::format("{} gid={} lid={} qpn={} roce={}\n", kGreeting, to_text(p.gid), p.lid, p.qpn, p.roce ? 1 : 0);
}

std::optional<Peer> peer_from(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  if (!(words >> word) || word != kGreeting) return std::nullopt;
  Peer peer;
  unsigned seen = 0;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return std::nullopt;
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    bool ok = false;
    int roce = 0;
    if (name == "gid") {
      const auto gid = gid_from(value);
      ok = gid.has_value();
      peer.gid = gid.value_or(Gid{});
    } else if (name == "lid") {
      ok = number_from(value, peer.lid);
    } else if (name == "qpn") {
      ok = number_from(value, peer.qpn);
    } else if (name == "roce") {
      ok = number_from(value, roce);
      peer.roce = roce != 0;
    }
    if (!ok) return std::nullopt;
    ++seen;
  }
  return seen == 4 ? std::optional(peer) : std::nullopt;
}

Result<Peer> ask_peer(const std::string& host, uint16_t port) {
  const Addresses addresses(host, port, false);
  if (addresses.error != 0)
    return Error{Errc::bad_address, fmt::format("no host {}: {}", host, gai_strerror(addresses.error))};
  std::string error;
  for (const addrinfo* a = addresses.first; a != nullptr; a = a->ai_next) {
    const int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0) continue;
    const timeval patience{5, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
      error = why();
      close(fd);
      continue;
    }
    std::string line;
    std::array<char, 256> part;
    ssize_t got = 0;
    while (line.size() < 1024 && (got = recv(fd, part.data(), part.size(), 0)) > 0)
      line.append(part.data(), static_cast<std::size_t>(got));
    close(fd);
    if (const auto peer = peer_from(line)) return *peer;
    return Error{Errc::bad_address, fmt::format("TCP port {} of {} is not a tidemill ping server", port, host)};
  }
  return Error{
      Errc::bad_address,
      fmt::format("no tidemill ping server at {}, TCP port {}: {}; start `tidemill ping --server` there, or name "
                  "the peer with --gid or --lid and --qpn",
                  host, port, error)};
}

Result<PeerTeller> PeerTeller::start(const Peer& self, uint16_t port) {
  const Addresses addresses("", port, true);
  std::string error = "no address";
  for (const addrinfo* a = addresses.first; a != nullptr; a = a->ai_next) {
    const int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0) continue;
    const int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, 16) == 0)
      return PeerTeller(fd, eventfd(0, EFD_CLOEXEC), to_line(self));
    error = why();
    close(fd);
  }
  return Error{Errc::bad_option,
               fmt::format("TCP port {} cannot be listened on: {}; choose another with --tcp-port", port, error)};
}

PeerTeller::PeerTeller(int listener, int wake, std::string line)
    : listener_(listener),
      wake_(wake),
      thread_([listener, wake, text = std::move(line)] { tell(listener, wake, text); }) {}

PeerTeller::PeerTeller(PeerTeller&& other) noexcept
    : listener_(std::exchange(other.listener_, -1)),
      wake_(std::exchange(other.wake_, -1)),
      thread_(std::move(other.thread_)) {}

PeerTeller::~PeerTeller() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof one);
  thread_.join();
  close(listener_);
  close(wake_);
}

}  // namespace tidemill::tool
