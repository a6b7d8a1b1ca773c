// SPDX-License-Identifier: Apache-2.0
/// One adapter's port with a wire attached: where tries become MADs on the fabric and MADs are handed over.
///
/// A responder's answer is made when its request leaves, in the same packet, and put on the way with the time of both
/// ways: one event for a transaction, none at all if the fabric has no delay. All chance is drawn from the port's own
/// dice, so that a run depends on what its ports send and not on how their threads interleave. Threads meet at three
/// places only: an inbox, a fault board and link states, none of which locks on the way of a MAD.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "fabric/arrivals.hpp"
#include "fabric/dice.hpp"
#include "fabric/directed_route.hpp"
#include "fabric/fabric_core.hpp"
#include "fabric/inbox.hpp"
#include "fabric/wake.hpp"
#include "tidemill/wire.hpp"

namespace tidemill::fabric {

class FabricPort {
 public:
  FabricPort(FabricCore& core, DeviceNumber node);

  // The wire's own thread.
  void transmit(const WireSend& send);
  bool poll(WireSink& sink);
  std::optional<Nanoseconds> next_event();
  WireAttributes attributes() const;
  /// Forgets what is under way to this port, before another wire takes it.
  void clear();

  // Any thread.
  int event_fd() const { return wake_.fd(); }
  void wake() { wake_.set(); }
  const PortTally& tally() const { return tally_; }
  /// What this port's own sends brought about there.
  Traffic traffic_of(DeviceNumber node) const;

 private:
  struct Report {
    uint64_t token = 0;
    WireStatus status = WireStatus::sent;
    uint8_t vendor = 0, recovery = 0;
  };
  struct QueuePair {
    Arrivals arrivals;
    Packet* refused = nullptr;  ///< Found no receive buffer; goes before the arrivals.
    bool failed = false;   ///< Until the next poll.
    uint8_t recovery = 0;  ///< Number of the last one.
  };
  struct Served {
    Tally requests, answers;
  };

  void look_at_faults();
  bool echo_at_once(const WireSend& send);
  void report(const WireSend& send, WireStatus status, uint8_t vendor = 0, uint8_t recovery = 0);
  bool fails(const WireSend& send);
  int64_t departure() const;

  // On the way, in this order.
  void copy_mad(const WireSend& send, Packet& packet);
  bool route(Packet& packet, const Address& to);
  void carry(Packet* packet);
  void travel(Packet* packet, int64_t detour);
  void arrive(Packet* packet);
  void answer(Packet* packet);
  void hand_to_port(Packet* packet);
  void enter(Packet* packet);
  void drop(Packet* packet, Tally& cause);

  // Faults that make MADs (port_faults.cpp).
  void corrupt(Packet& packet);
  int64_t detour_time();
  void duplicate(const Packet& packet);
  void forge(const WireSend& send);
  void replay_earlier(const Packet& response);

  void empty_inbox();
  bool report_tries(WireSink& sink);
  bool report_link(WireSink& sink);
  bool deliver(QueuePair& qp, uint64_t horizon, WireSink& sink);
  bool is_due(const Packet& packet);
  bool unbroken(const Packet& packet) const;

  FabricCore& core_;
  const DeviceNumber node_;
  Dice dice_;
  Faults faults_;
  uint32_t faults_version_ = 0;
  PortTally tally_;

  PacketPool pool_;
  std::array<QueuePair, 2> qps_;
  Ring<Report> reports_;
  uint64_t entered_ = 0;    ///< MADs ever put among the arrivals.
  int64_t now_ = 0;         ///< As last seen.
  uint32_t link_seen_ = 0;  ///< State reported last.
  std::vector<Served> served_;  ///< By node: what its responders got from here.
  Tally left_, handed_;         ///< Tries that left, MADs handed over.

  std::vector<Packet> history_;  ///< Earlier responses, the newest kHistory.
  std::size_t remembered_ = 0;

  Inbox inbox_;
  Wake wake_;
};

}  // namespace tidemill::fabric
