// SPDX-License-Identifier: Apache-2.0
/// The wire of a port on ibsim. Never blocks: what ibsim's short queue does not take waits here and counts as not yet
/// sent. ibsim gives a request back that it cannot deliver or loses on purpose: to the engine that is silence, and its
/// timers run. Of a request's TID it keeps 48 bits; the rest is put back into the response.
#pragma once
#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "ibsim/protocol.hpp"
#include "ibsim/socket.hpp"
#include "tidemill/ibsim.hpp"
#include "tidemill/wire.hpp"

namespace tidemill::ibsim {

/// What the wire's port and the rest of the program share.
struct Shared {
  std::atomic<uint64_t> sent{0}, received{0}, returned{0}, waited{0};
  Socket epoll;
  /// For unsolicited MADs; set once, then the wire's.
  std::mutex mutex;
  Socket unsolicited;
  std::atomic<bool> listens{false};
};

class IbsimWire final : public Wire {
 public:
  IbsimWire(Socket data, int peer, WireAttributes attributes, std::shared_ptr<Shared> shared);

  WireAttributes attributes() const override { return attributes_; }
  void transmit(const WireSend& send) override;
  void abandon() override;
  bool poll(WireSink& sink) override;
  int event_fd() const override { return shared_->epoll.get(); }

 private:
  struct Waiting {
    uint64_t token;
    Packet packet;
  };
  struct Report {
    uint64_t token;
    WireStatus status;
  };
  struct Arrival {
    Qp qp;
    Address from;
    std::array<std::byte, kMadBytes> mad;
  };

  enum class Sent { gone, full, dead };
  Sent try_send(const Packet& packet);
  void send_waiting();
  void watch_for_room(bool on);
  void receive(int socket);
  void take(const Packet& packet);
  bool peer_is_gone();
  bool hand_over(WireSink& sink);

  const WireAttributes attributes_;
  const std::shared_ptr<Shared> shared_;
  Socket data_, process_;
  std::vector<Report> reports_;
  std::deque<Waiting> waiting_;
  bool watching_for_room_ = false;
  /// Received, and not yet taken: ibsim must not wait for our receive buffers.
  std::deque<Arrival> arrivals_;
  bool dead_ = false, told_ = false;
  /// Upper 16 bits of the TIDs that an agent sends, by the lower 16 of its id.
  std::vector<uint16_t> upper_;
};

}  // namespace tidemill::ibsim
