// SPDX-License-Identifier: Apache-2.0
/// An agent inside the runtime: its two lanes, its counters, and its way out.
///
/// Locks: `mutex_` protects posting (lanes, TIDs, closing). It is never held in a callback, and the device's registry
/// mutex is never taken under it.
#pragma once
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "rmpp/transfers.hpp"
#include "tidemill/abi.hpp"
#include "tidemill/agent.hpp"

namespace tidemill::detail {

class DeviceState;
class PortState;
class Waiter;

class AgentState : public std::enable_shared_from_this<AgentState> {
 public:
  AgentState(std::shared_ptr<DeviceState> device, std::shared_ptr<PortState> port, uint32_t id,
             Registration registration);

  uint32_t id() const { return id_; }
  const std::string& name() const { return registration_.name; }
  const Registration& registration() const { return registration_; }
  DeviceState& device() { return *device_; }
  PortState& port() { return *port_; }

  // --- any thread
  /// `segments`: parts of a message, not messages.
  BatchResult post(std::span<const SendRequest> requests, std::span<SendId> ids, Waiter* waiter, bool segments = false);
  Errc cancel(SendId id);
  Errc modify(SendId id, Nanoseconds timeout);
  bool has_room();
  Errc reweigh(std::optional<uint8_t> weight, std::optional<uint16_t> window);
  AgentStats stats() const;

  /// Refuses posts from now on and queues the agent for closing. False if it was closing already.
  bool begin_close(std::function<void()> done);
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  /// Makes progress, or waits for whoever does. Not in a callback.
  void wait_until_closed();

  // --- the thread that makes progress
  /// Of an agent with RMPP.
  rmpp::Transfers* transfers() { return transfers_.get(); }
  /// Hands a response to whoever waits for it, anything else to the agent's handler. False if there is none.
  bool deliver(const Received& r, Waiter* waiter);
  /// Tells whoever waits, or the agent, counts what has ended, then lets go: the agent may be gone afterwards.
  void complete(const SendCompletion& c, Waiter* waiter);
  /// Ends all sends as flushed without closing; false if the command ring is full.
  bool flush() { return command(abi::CommandKind::flush, {}, 0) == Errc::ok; }
  void flush_done() { flush_done_ = commands_sent_; }
  void closing_since(Nanoseconds t) { closing_since_ = t; }
  Nanoseconds closing_since() const { return closing_since_; }
  bool close_commands_sent() const { return commands_sent_; }
  bool any_outstanding() const {
    return accepted_.load(std::memory_order_acquire) != ended_.load(std::memory_order_acquire);
  }
  /// One step on the way out; true when every send has completed and the lanes are drained.
  bool try_close();
  void finish_close();
  const std::atomic<uint32_t>& consumed(unsigned lane) const { return *lanes_[lane].consumed; }

 private:
  static constexpr uint32_t kNoLane = 0xffffffffu;
  enum LaneKind : unsigned { solicited = 0, plain = 1 };
  struct Lane {
    uint32_t number = kNoLane;
    std::span<abi::Descriptor> ring;
    const std::atomic<uint32_t>* consumed = nullptr;
    uint32_t producer = 0;
    uint32_t told = 0;     ///< Producer index of the last doorbell.
    bool closing = false;  ///< Its close command is on the way.
  };

  struct Ticks {
    uint64_t timeout = 0, backoff_cap = 0, deadline = 0;
  };
  /// What every kind of post refuses; a timeout may get so many ticks `more` on its way.
  Errc check(const SendRequest& r, const Waiter* waiter, uint64_t more, Ticks& ticks) const;
  Errc post_one(const SendRequest& r, Waiter* waiter, bool segment, SendId& id);
  Errc post_message(const SendRequest& r, Waiter* waiter, SendId& id);
  void count_accepted();
  uint64_t choose_tid(bool expects);
  Errc open_lane(LaneKind kind);
  abi::Command lane_command(abi::CommandKind what, LaneKind kind) const;
  Errc command(abi::CommandKind kind, SendId id, uint32_t ticks);
  bool outstanding(SendId id) const;
  bool is_counted(uint8_t mgmt_class) const;
  static bool full(const Lane& lane) {
    return lane.number != kNoLane && lane.producer - lane.consumed->load(std::memory_order_acquire) >= lane.ring.size();
  }
  /// A counter with one writer at a time.
  static void bump(std::atomic<uint64_t>& n, uint64_t by = 1) {
    n.store(n.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  const std::shared_ptr<DeviceState> device_;
  const std::shared_ptr<PortState> port_;
  const uint32_t id_;
  const Registration registration_;
  const std::unique_ptr<rmpp::Transfers> transfers_;

  std::mutex mutex_;
  uint16_t window_;
  uint8_t weight_;
  std::array<Lane, 2> lanes_;
  uint32_t next_tid_ = 1;
  uint32_t next_bank_ = 0;
  bool closing_ = false;

  // Posting side, under the mutex.
  std::atomic<uint64_t> accepted_{0}, refused_{0}, outstanding_high_{0};
  // Progress side.
  std::atomic<uint64_t> ended_{0}, tries_{0}, received_{0};
  std::array<std::atomic<uint64_t>, kSendStatuses> completed_{};

  // Way out.
  std::function<void()> done_;
  Nanoseconds closing_since_{0};
  bool commands_sent_ = false;
  bool flush_done_ = false;
  std::atomic<bool> closed_{false};
  std::mutex closed_mutex_;
  std::condition_variable closed_signal_;
};

}  // namespace tidemill::detail
