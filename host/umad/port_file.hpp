// SPDX-License-Identifier: Apache-2.0
/// One open port as a program sees it: a descriptor that polls readable, up to 32 agents, and one queue of what has
/// arrived for them: MADs, and sends that ended badly. Behaves as the kernel's umad files do, but no failed send is
/// silent.
///
/// Threads: any. receive() waits nowhere and holds its lock for a copy only, with cancellation off.
#pragma once
#include <infiniband/umad.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "session.hpp"

namespace tidemill::umad {

class PortFile : public std::enable_shared_from_this<PortFile> {
 public:
  PortFile();
  ~PortFile();
  PortFile(const PortFile&) = delete;
  PortFile& operator=(const PortFile&) = delete;

  int fd() const { return event_; }

  struct AgentRequest {
    uint8_t mgmt_class = 0, class_version = 0, rmpp_version = 0;
    bool own_rmpp = false;
    uint32_t oui = 0;
    std::bitset<128> methods{};
  };
  /// Returns the agent's number in this file, or -errno.
  int add_agent(Session& session, const AgentRequest& request);
  /// Its sends end unreported; what has arrived for it stays readable. 0 or -errno.
  int remove_agent(int number);
  void remove_all();

  /// 0 or -errno. Waits while the device is full.
  int send(int number, const ib_user_mad& header, std::span<const std::byte> mad, int timeout_ms, int retries);

  /// Takes the next message if it fits, header included. Returns the agent's number, or -errno: EWOULDBLOCK with
  /// nothing there, ENOSPC (with the length it has; it stays) or EINVAL as the kernel does, EIO once the wire is gone.
  int receive(std::byte* umad, int* length);
  /// A send has waited its whole time and its end is about to come: worth a moment more.
  bool end_is_due() const;

 private:
  struct Item {
    ib_user_mad header;
    std::vector<std::byte> mad;
  };
  struct Outstanding {
    ib_user_mad header;
    Mad mad;  ///< Its header.
    std::chrono::steady_clock::time_point due;
    std::optional<std::pair<uint64_t, uint8_t>> name;  ///< If it stands in `live`.
  };
  struct UserAgent {
    Agent agent;
    bool rmpp = false;
    bool leaving = false;
    uint64_t next_context = 1;
    std::map<uint64_t, Outstanding> sends;        ///< By context.
    std::set<std::pair<uint64_t, uint8_t>> live;  ///< TID and class of requests: one at a time.
  };

  void received(int number, const Received& r);
  void completed(int number, const SendCompletion& c);
  void port_event(PortEvent event);
  void push(Item item);

  const int event_;
  mutable std::mutex mutex_;
  std::array<std::shared_ptr<UserAgent>, UMAD_CA_MAX_AGENTS> agents_;
  std::deque<Item> queue_;
  uint64_t overflowed_ = 0;
  bool gone_ = false;
};

}  // namespace tidemill::umad
