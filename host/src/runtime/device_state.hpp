// SPDX-License-Identifier: Apache-2.0
/// A device inside the runtime: makes progress, turns completions into callbacks, closes agents, sleeps and wakes.
///
/// One thread at a time makes progress: the device's own, or whoever is inside poll(). Callbacks, wires and the
/// backend's reporting side belong to it. Posting goes past it: slots, rings and doorbells are lock-free, an agent's
/// own mutex orders its posts. `registry_mutex_` protects agents, ids and dispatch tables; never held in a callback.
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "device/backend.hpp"
#include "runtime/agent_state.hpp"
#include "runtime/in_callback.hpp"
#include "runtime/port_state.hpp"
#include "runtime/publisher.hpp"
#include "runtime/sleeper.hpp"
#include "runtime/slot_table.hpp"
#include "tidemill/device.hpp"

namespace tidemill::detail {

class DeviceState final : public device::BackendSink, public std::enable_shared_from_this<DeviceState> {
 public:
  DeviceState(std::unique_ptr<device::Backend> backend, DeviceOptions options, std::unique_ptr<Publisher> publisher);
  ~DeviceState();
  /// A device with its thread, if it has one. What the application holds are copies of this handle: whoever drops the
  /// last one waits until the thread has ended, unless it is that thread, in a callback. shared_from_this() is no handle.
  static std::shared_ptr<DeviceState> open(std::unique_ptr<device::Backend> backend, DeviceOptions options,
                                           std::unique_ptr<Publisher> publisher = nullptr);

  DeviceInfo info() const;
  Result<std::shared_ptr<PortState>> open_port(unsigned number, std::unique_ptr<Wire> wire, PortOptions options);
  void close_port(PortState& port);
  Result<std::shared_ptr<AgentState>> register_agent(const std::shared_ptr<PortState>& port, Registration r);
  std::vector<AgentStats> agent_stats(const PortState& port) const;
  /// Device::metrics().
  std::string metrics();

  // --- making progress
  std::size_t poll(std::size_t budget);
  void wait(Nanoseconds timeout);
  /// From now on readable when poll() may have something to do.
  int event_fd() { return sleeper_.expose(); }
  bool own_thread() const { return options_.progress == Progress::thread; }
  /// True inside a callback of this device.
  bool in_callback() const { return InCallback::of(this); }
  /// The device has stopped: what was outstanding has completed as flushed. For whoever makes progress.
  bool failed() const { return failed_; }

  // --- for agents; any thread
  device::Backend& backend() { return *backend_; }
  SlotTable& slots() { return slots_; }
  uint32_t take_lane();
  void give_lane_back(uint32_t lane);
  /// Something was posted: wakes a sleeping progress thread.
  void kick() { sleeper_.kick(); }
  void queue_close(std::shared_ptr<AgentState> agent);
  /// An agent's RMPP transfers have something to do, now or in time.
  void queue_transfers(std::shared_ptr<AgentState> agent);
  Nanoseconds now() const;
  /// In a callback too: a timer that starts there is not to count from the start of the pass.
  Nanoseconds exact_now() const { return options_.clock->now(); }
  /// Rounded up; more than kMaxTicks if it cannot be expressed.
  uint64_t ticks(Nanoseconds t) const { return (static_cast<uint64_t>(t.count()) + tick_ns_ - 1) / tick_ns_; }
  static constexpr uint64_t kMaxTicks = 1u << 30;
  uint32_t tick_at(Nanoseconds t) const;
  uint16_t own_address(const PortState& port, const Address& a) const;
  uint32_t peer_of(const Address& a) const { return a.grh ? backend_->digest(a.grh->gid) : a.lid; }

  // --- for ports, making progress
  void report(const abi::Sent& s) { reports_.push_back({true, s, {}}); }
  void report(const abi::Received& r) { reports_.push_back({false, {}, r}); }
  void report(PortState& port, PortEvent event) { port_events_.emplace_back(&port, event); }
  std::shared_ptr<AgentState> owner_of(PortState& port, const MadView& mad, Qp qp) const;
  /// The agent a response's TID names.
  std::shared_ptr<AgentState> asker(const PortState& port, const MadView& mad, Qp qp) const;
  void count_callback() { ++callbacks_; }

  // --- from the backend
  void transmit(const abi::Transmit& t) override;
  void complete(const abi::Completion& c) override { completions_.push_back(c); }
  void drop(abi::Cause cause, unsigned port, uint16_t buffer) override;
  void failed(const std::string&) override { failing_ = true; }

 private:
  /// Keeps everyone from making progress, to change what progress uses. Not in a callback, which has progress already.
  class Pause {
   public:
    explicit Pause(DeviceState& device);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    std::atomic_flag* flag_;
  };

  /// For whoever makes progress.
  std::string gather_metrics();
  void run();
  void stop();
  bool has_agents() const;
  /// Makes progress until the last agent has ended.
  void end_agents();
  void feed_reports(uint32_t tick);
  std::size_t run_callbacks();
  void handle(const abi::Completion& c);
  void deliver_response(const abi::Completion& c);
  void finish_send(const abi::Completion& c);
  void tell_agents(PortState& port, PortEvent event);
  void fail();
  void complete_all();
  void release_quarantine();
  bool step_transfers();
  bool close_agents();
  void drop_closed_ports();
  void drop_port(PortState& port);
  bool advance_virtual_time();
  bool any_outstanding() const;
  Nanoseconds until_next_event() const;
  std::vector<std::shared_ptr<AgentState>> agents_of(const PortState& port) const;
  PortState* port(unsigned number) const { return number < ports_.size() ? ports_[number].get() : nullptr; }

  std::unique_ptr<device::Backend> backend_;
  const DeviceOptions options_;
  const device::Capabilities capabilities_;
  const uint32_t tick_ns_;
  const Nanoseconds start_;
  SlotTable slots_;
  Sleeper sleeper_;

  std::mutex lanes_mutex_;
  std::vector<uint32_t> free_lanes_;

  mutable std::shared_mutex registry_mutex_;
  std::unordered_map<uint32_t, std::shared_ptr<AgentState>> agents_;
  uint32_t next_id_ = 0;

  // Owned by whoever makes progress.
  std::atomic_flag progressing_;
  std::vector<std::shared_ptr<PortState>> ports_;  ///< By number; 0 stays empty.
  struct Report {
    bool is_sent;
    abi::Sent sent;
    abi::Received received;
  };
  /// What the wires said in this pass: told to the engine with the time after they were asked, so that no timer is
  /// early.
  std::vector<Report> reports_;
  std::vector<std::pair<PortState*, PortEvent>> port_events_;
  std::vector<PortState*> closing_ports_;  ///< Closed in a callback: they go when their agents have ended.
  std::vector<abi::Completion> completions_, handling_;
  struct Parked {
    uint32_t slot;
    uint32_t position;
    std::shared_ptr<AgentState> agent;
    unsigned lane;
  };
  std::vector<Parked> quarantine_;  ///< Slots whose cancelled descriptor still stands in its lane.
  std::atomic<int64_t> cached_now_{0};
  std::atomic<int64_t> idle_until_{0};  ///< When the next pass has something to do for sure.
  const std::unique_ptr<Publisher> publisher_;  ///< None by default.
  std::size_t callbacks_ = 0;
  bool abandoned_ = false;  ///< The last handle went inside a callback of an application that polls.
  bool failing_ = false;    ///< The device has said so, the agents do not know yet.
  bool failed_ = false;

  std::mutex closing_mutex_;
  std::vector<std::shared_ptr<AgentState>> closing_queue_;
  std::atomic<bool> closing_waiting_{false};
  std::vector<std::shared_ptr<AgentState>> closing_, closed_, to_flush_;

  std::mutex transfers_mutex_;
  std::vector<std::shared_ptr<AgentState>> transfers_queue_;
  std::atomic<bool> transfers_waiting_{false};
  std::vector<std::shared_ptr<AgentState>> transferring_;  ///< Whoever makes progress.

  std::atomic<bool> stop_{false};
  /// Set if the last handle goes inside a callback of our own thread, which then ends without touching this again.
  const std::shared_ptr<bool> thread_outlives_ = std::make_shared<bool>(false);
  std::thread thread_;
};

}  // namespace tidemill::detail
