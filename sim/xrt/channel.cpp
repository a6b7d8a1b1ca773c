// SPDX-License-Identifier: Apache-2.0
#include "sim/xrt/channel.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "rpc.pb.h"

namespace tidemill::sim {
namespace {

constexpr std::size_t kCallHeaderBytes = 14, kAnswerHeaderBytes = 9;
/// Larger messages are no messages.
constexpr uint64_t kMostBytes = uint64_t{1} << 28;

}  // namespace

Channel Channel::connect(const std::string& path, std::chrono::milliseconds patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    Channel channel(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (channel && ::connect(channel.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return channel;
    if (std::chrono::steady_clock::now() > end) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(state_, other.state_);
  return *this;
}

Channel::~Channel() {
  if (fd_ >= 0) ::close(fd_);
}

void Channel::patience(std::chrono::milliseconds patience) {
  const timeval limit{patience.count() / 1000, patience.count() % 1000 * 1000};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

bool Channel::receive(void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = recv(fd_, at, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<Api> Channel::receive_call(std::string& message) {
  char bytes[kCallHeaderBytes];
  rpc::CallHeader header;
  if (!receive(bytes, sizeof bytes) || !header.ParseFromArray(bytes, sizeof bytes) || header.size() > kMostBytes)
    return std::nullopt;
  if (state_ != nullptr) {
    state_->bytes = header.size();
    state_->api = header.api();
  }
  message.resize(header.size());
  if (!receive(message.data(), message.size())) return std::nullopt;
  if (state_ != nullptr) state_->bytes = 0;
  return static_cast<Api>(header.api());
}

bool Channel::receive_answer(std::string& message, Header kind) {
  char bytes[kCallHeaderBytes];
  const std::size_t size = kind == Header::call ? kCallHeaderBytes : kAnswerHeaderBytes;
  if (!receive(bytes, size)) return false;
  rpc::AnswerHeader header;  // an API number after it is an unknown field
  if (!header.ParseFromArray(bytes, static_cast<int>(size)) || header.size() > kMostBytes) return false;
  message.resize(header.size());
  return receive(message.data(), message.size());
}

bool Channel::send(Header kind, Api api, const google::protobuf::MessageLite& message) {
  const std::size_t size = message.ByteSizeLong();
  std::string out;
  if (kind == Header::call) {
    rpc::CallHeader header;
    header.set_size(size);
    header.set_api(static_cast<uint32_t>(api));
    header.AppendToString(&out);
  } else {
    rpc::AnswerHeader header;
    header.set_size(size);
    header.AppendToString(&out);
  }
  message.AppendToString(&out);
  // Before, not after: sending wakes the host, and that may be the moment at which this process is killed.
  if (state_ != nullptr && kind == Header::answer) state_->api = 0;
  for (std::size_t sent = 0; sent < out.size();) {
    const ssize_t n = ::send(fd_, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

bool Channel::discard(uint64_t bytes) {
  for (char byte; bytes > 0; --bytes)
    if (!receive(&byte, 1)) return false;
  return true;
}

void Channel::await_end() {
  char byte;
  while (recv(fd_, &byte, 1, 0) > 0) continue;
}

}  // namespace tidemill::sim
