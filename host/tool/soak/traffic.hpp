// SPDX-License-Identifier: Apache-2.0
/// The host's side of a run: agents that post sends of all kinds, cancel and modify them, deregister and come back.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "calendar.hpp"
#include "dice.hpp"
#include "options.hpp"
#include "tally.hpp"
#include "watched_engine.hpp"

namespace tidemill::soak {

class Traffic {
 public:
  Traffic(const Options& options, Dice& dice, WatchedEngine& engine, Tally& tally);

  /// One tick of work. With `stopping` nothing new is posted.
  void act(uint32_t now, bool stopping);
  void on_completion(const abi::Completion& c, uint32_t now);

  uint32_t outstanding() const { return outstanding_; }
  /// Every agent is registered, none is on its way in or out.
  bool settled() const { return closing_ == 0; }
  /// Nothing is outstanding either.
  bool at_rest() const { return outstanding_ == 0 && settled(); }
  /// Ticks until act() has something to do while nothing is posted and no agent is away; kNever if it has not.
  uint32_t quiet() const { return plans_.distance(); }

  bool live(uint32_t slot) const { return sends_[slot].live; }
  const abi::Descriptor& descriptor(uint32_t slot) const { return sends_[slot].descriptor; }
  /// TID of a send that was just posted, to forge an answer from.
  uint64_t any_tid() const { return recent_[posts_ % recent_.size()]; }

 private:
  static constexpr uint32_t kRing = 1024;
  struct Send {
    abi::Descriptor descriptor;
    uint32_t agent = 0;  ///< Index.
    uint32_t posted = 0;
    uint16_t generation = 0;  ///< Of the live send, or the next.
    bool live = false;
  };
  struct Lane {
    std::vector<abi::Descriptor> ring = std::vector<abi::Descriptor>(kRing);
    uint32_t produced = 0;
    uint16_t unannounced = 0;
  };
  struct Agent {
    uint32_t id = 0;
    uint32_t next_tid = 0;
    uint32_t outstanding = 0;
    bool qp = true;
    bool closing = false;
    bool flushed = false;
    bool solicited_open = false;
    bool plain_open = false;
    std::array<uint16_t, 4> requests{};  ///< Slots of recent requests, live or not.
  };
  /// A command to give later.
  struct Plan {
    abi::Command command;
  };

  static uint32_t lane_of(uint32_t agent, bool plain) { return agent * 2 + (plain ? 1 : 0); }
  void post(uint32_t number, uint32_t now);
  abi::Descriptor request(Agent& agent);
  abi::Descriptor plain_send(const Agent& agent);
  bool take_slot(abi::Descriptor& d, bool request);
  void trouble(const abi::Descriptor& d, uint32_t now);
  void announce(uint32_t lane);
  void register_agent(uint32_t number, uint32_t now);
  bool open(uint32_t number, bool plain, uint32_t now);
  void deregister(uint32_t number, uint32_t now);
  abi::Command name(abi::CommandKind kind, const abi::Descriptor& d) const;

  const Options& options_;
  Dice& dice_;
  WatchedEngine& engine_;
  Tally& tally_;
  std::vector<Send> sends_;
  std::vector<std::vector<uint16_t>> free_;  ///< By bank.
  std::vector<Agent> agents_;
  std::vector<Lane> lanes_;
  Calendar<Plan> plans_;
  std::array<uint64_t, 64> recent_{};
  uint32_t posts_ = 0;
  uint32_t outstanding_ = 0;
  uint32_t closing_ = 0;
  uint32_t next_id_ = 1;
  uint32_t load_ = 0;        ///< Outstanding sends aimed at; changes from time to time.
  uint32_t load_until_ = 0;
};

}  // namespace tidemill::soak
