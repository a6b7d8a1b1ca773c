// SPDX-License-Identifier: Apache-2.0
/// Who the other side is. The number of a queue pair is the device's choice, so the server tells it to whoever connects
/// to a TCP port: one line of text, `tidemill-ping gid=... lid=... qpn=... roce=...`.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "tidemill/address.hpp"
#include "tidemill/error.hpp"

namespace tidemill::tool {

struct Peer {
  Gid gid{};
  uint16_t lid = 0;
  uint32_t qpn = 1;
  bool roce = false;
  bool operator==(const Peer&) const = default;
};

std::string to_line(const Peer& peer);
std::optional<Peer> peer_from(const std::string& line);

std::optional<Gid> gid_from(const std::string& text);
std::string to_text(const Gid& gid);

inline constexpr uint16_t kPeerPort = 18580;

/// Asks the server on `host`.
Result<Peer> ask_peer(const std::string& host, uint16_t port);

/// Tells everyone who connects, on a thread of its own, for as long as it lives.
class PeerTeller {
 public:
  static Result<PeerTeller> start(const Peer& self, uint16_t port);
  PeerTeller(PeerTeller&& other) noexcept;
  PeerTeller& operator=(PeerTeller&&) = delete;
  ~PeerTeller();

 private:
  PeerTeller(int listener, int wake, std::string line);
  int listener_, wake_;
  std::thread thread_;
};

}  // namespace tidemill::tool
