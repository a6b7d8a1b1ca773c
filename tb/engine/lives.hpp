// SPDX-License-Identifier: Apache-2.0
/// The places in which a send can stand, and how a test brings one there. Rules that hold everywhere are tested in
/// every place.
#pragma once
#include <array>

#include "watched_engine.hpp"

namespace tidemill::test {

enum class Place {
  lane,       ///< Accepted, its descriptor still in the ring.
  announced,  ///< The same, but a command has named it already.
  on_wire,
  waiting,
  retry,      ///< Timed out, waits for its next try.
  resend,     ///< Flushed by the wire before any try had left.
  early,      ///< Answered, its try still on the wire.
  cancelled,  ///< Cancelled, its try still on the wire.
};
inline constexpr std::array kPlaces{Place::lane,  Place::announced, Place::on_wire, Place::waiting,
                                    Place::retry, Place::resend,    Place::early,   Place::cancelled};

inline const char* name_of(Place p) {
  switch (p) {
    case Place::lane:
      return "in its lane";
    case Place::announced:
      return "announced, in its lane";
    case Place::on_wire:
      return "on the wire";
    case Place::waiting:
      return "waiting";
    case Place::retry:
      return "in the retry queue after a timeout";
    case Place::resend:
      return "in the retry queue before it ever left";
    case Place::early:
      return "answered, on the wire";
    case Place::cancelled:
      return "cancelled, on the wire";
  }
  return "?";
}
/// May a response still match there?
inline bool answerable(Place p) {
  return p == Place::on_wire || p == Place::waiting || p == Place::retry;
}
inline bool left_lane(Place p) {
  return p != Place::lane && p != Place::announced;
}

/// One bank of 32 slots with two wire credits. One is taken by a send of agent 99, so that the test decides what waits:
/// with both taken nothing leaves a lane or a retry queue.
class Stage : public WatchedEngine<hls::BankConfig<5, 4>> {
 public:
  static constexpr uint32_t kBlocker = 99;
  static constexpr uint32_t kTimeout = 10;

  Stage() : WatchedEngine({.wire_credit = {2, 2}}) {
    open(0, {});
    open(3, {.service_class = 0});
    block();
  }

  /// A send with one retry, brought to a place. Nothing moves it from there but the test.
  SendName send_in(Place place, Ask ask = {.timeout = kTimeout, .retries = 1}) {
    if (!left_lane(place)) block();
    const SendName n = post(0, ask);
    settle();
    switch (place) {
      case Place::lane:
      case Place::on_wire:
        break;
      case Place::announced:
        announce(n, 1000000);
        break;
      case Place::waiting:
        sent(n);
        break;
      case Place::retry:
        sent(n);
        block();
        pass(ask.timeout + 1);
        break;
      case Place::resend:
        // Reported and blocked before the engine takes its next step.
        sent(n, abi::Status::flushed, 1);
        block();
        break;
      case Place::early:
        respond(n);
        break;
      case Place::cancelled:
        cancel(n);
        break;
    }
    return n;
  }
  /// Whatever waits for the wire goes.
  void unblock() {
    settle();
    while (!blockers_.empty()) {
      sent(blockers_.back());
      cancel(blockers_.back());
      blockers_.pop_back();
      settle();
    }
  }
  void end() { finish({1, kBlocker}); }

 private:
  void block() {
    blockers_.push_back(post(3, {.agent = kBlocker}));
    settle();
  }

  std::vector<SendName> blockers_;
};

}  // namespace tidemill::test
