// SPDX-License-Identifier: Apache-2.0
/// ibsim's datagrams, as found on its sockets: AF_UNIX, abstract names "<base>:<kind>" whose length counts one trailing
/// NUL.
#pragma once
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace tidemill::ibsim {

/// One MAD. Numbers are big endian, LIDs in the low half of their word.
struct Packet {
  uint32_t dlid, slid, dqp, sqp, status, pad;
  uint64_t length;
  std::byte mad[256];
};
static_assert(sizeof(Packet) == 288 && offsetof(Packet, mad) == 32);

enum class Request : uint32_t {
  error = 0,
  connect,
  disconnect,
  port,
  vendor,
  gid,
  guid,
  node_info,
  port_info,
  set_issm,
  pkeys
};

/// Control, native byte order; the reply is the request with its data filled in, or `error`.
struct Control {
  static constexpr uint32_t kMagic = 0xdeadbeef;
  uint32_t magic, client, type, length;
  std::byte data[64];
};
static_assert(sizeof(Control) == 80);

struct Connect {
  uint32_t id;  ///< Asks with the process id, answers with the client id.
  uint32_t qp;
  uint32_t issm;
  char node[32];
};
static_assert(sizeof(Connect) == 44);

struct SocketName {
  sockaddr_un address{};
  socklen_t length = 0;

  SocketName(const std::string& base, const std::string& kind) {
    const std::string name = base + ":" + kind;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 2));
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size() + 1);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  /// Longest base that leaves room for the kind and a process id.
  static constexpr std::size_t kLongestBase = 80;
};

}  // namespace tidemill::ibsim
