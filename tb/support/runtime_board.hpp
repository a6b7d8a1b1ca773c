// SPDX-License-Identifier: Apache-2.0
/// Judges a runtime by what a program and a wire can see of it: what was posted, cancelled and deregistered, which
/// callbacks ran, what went over the wire. It knows nothing of how the runtime works, and any thread may tell it.
///
/// A send is known by a serial number, which travels as its context and, on the wire, inside its MAD (see watched.hpp).
/// Calls are told before and after they are made, so that what happens in between is judged by neither. Checked:
///
///   I1-I5, I9, I10, I12 (never early), I14   whatever the device
///   I6, I7    a receive callback that had been chosen when cancel() came may still run, and then the cancel is void
///   I13       tries, less those flushed in a recovery
///   I15-I18   at the calls of deregistration
///   I20, I22  as far as they show: ids of live agents, the owner of an unsolicited MAD, each MAD handed over once
///   I23, I25  what is certainly on the wire or in a window
///   I24, I26-I28  where one thread polls: only there "before" and "nothing more to do" are known
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tidemill/agent.hpp"
#include "tidemill/clock.hpp"
#include "tidemill/wire.hpp"

namespace tidemill::test {

class RuntimeBoard {
 public:
  struct Options {
    std::function<void(const std::string&)> report;
    std::shared_ptr<Clock> clock;
    WireAttributes wire{};
    uint16_t receive_buffers = 512;
    uint32_t slots = 65536;      ///< With more than half of them in use, order and idleness are not judged.
    uint32_t decided_ahead = 0;  ///< Hand-downs a device may have decided when it hears that a send is ready.
    bool polled = true;          ///< One thread posts, polls and runs callbacks.
  };
  struct Counts {
    uint64_t accepted = 0, completed = 0, responded = 0, unsolicited = 0, transmitted = 0, violations = 0;
  };
  using Key = uint64_t;     ///< Of a registration.
  using Serial = uint64_t;  ///< Of a send.
  enum class Form : uint8_t { callback, call };

  explicit RuntimeBoard(Options options) : options_(std::move(options)) {}

  // --- the program
  Key registering(const Registration& r);
  void registered(Key agent, uint32_t id);  ///< 0: refused.
  Serial posting(Key agent, const SendRequest& request, Form form = Form::callback);
  void posted(Serial send, Errc result, SendId id);
  void cancelling(Key agent, SendId id);
  void cancelled(Key agent, SendId id, Errc result);
  void modifying(Key agent, SendId id);
  void window_changed(Key agent, uint16_t window);
  void weight_changed(Key agent, uint8_t weight);
  void closing(Key agent);                         ///< deregister() is about to be called, or has begun.
  void closing_has_begun(Key agent);               ///< From now on posts are refused for certain.
  void deregister_result(Key agent, Errc result);  ///< Of deregister() and deregister_async().
  void deregistered(Key agent);
  void port_closing();
  void port_closed();

  // --- callbacks, at their start and end
  /// Gives the context the program chose.
  uint64_t receive_begins(Key agent, const Received& r);
  void receive_ends(Serial send);
  uint64_t completion_begins(Key agent, const SendCompletion& c);
  void callback_ends();
  void event_begins(Key agent, PortEvent event);
  /// The end of call() or request(): there is no callback.
  uint64_t call_ended(Key agent, Serial send, const SendCompletion& c);
  void call_failed(Serial send);
  bool in_callback() const;

  // --- the wire
  void polling();
  void transmitted(const WireSend& send, Serial serial);
  void reported(uint64_t token, WireStatus status, uint8_t vendor, uint8_t recovery);
  void arrived(const WireReceived& mad);
  void event(PortEvent event);

  // --- moments
  void idle();
  void finish();

  Counts counts() const;

 private:
  struct Queue;
  struct Agent {
    Key key = 0;
    uint32_t id = 0;
    Registration rules;  ///< Without its handlers.
    bool may_send = false, may_receive = false;
    bool closing = false, closed_to_posts = false, gone = false, refused = false;
    unsigned closers = 0;              ///< Threads between closing() and what came of it.
    std::thread::id closing_thread{};  ///< Of the last closing() outside a callback.
    uint32_t window = 0, old_window = 0;
    uint64_t window_pass = 0;
    uint64_t outstanding = 0;
    std::array<std::unique_ptr<Queue>, 2> queues;  ///< Counted against the window; all else.
  };
  struct Send {
    Serial serial = 0;
    Agent* agent = nullptr;
    SendRequest request;  ///< Without its bytes.
    uint8_t mgmt_class = 0;
    bool response = false, counted = false, windowed = false;
    Form form = Form::callback;
    uint64_t began = 0, returned = 0;  ///< Of the post, in moments.
    bool late = false;                 ///< Its post began when posts were refused for certain.
    bool accepted = false, refused = false, known = false, over = false;
    SendId id{};
    // The wire.
    uint32_t tries = 0, resends = 0;
    bool on_wire = false, left = false;
    uint64_t tid = 0;
    std::array<std::byte, kMadBytes> bytes{};
    std::optional<WireStatus> last;
    uint8_t vendor = 0, recovery = 0;
    bool flushed_for_good = false;
    Nanoseconds reported{0};
    // Callbacks and what bears on them.
    bool responding = false, responded = false;
    bool cancel_called = false, cancelled = false, modified = false, maybe_answered = false, must_match = false;
    uint64_t cancel_moment = 0;
  };
  /// Sends of an agent that stand in line for their first try, in the order of their posts.
  struct Queue {
    std::deque<Send*> waiting;
    uint64_t since = 0;  ///< First tries of the group when it became able to go.
    bool able = false;
    uint64_t lost = 0;  ///< Sends that ended in the queue: a grant may have gone to each.
    bool listed = false;
  };
  struct OnWire {
    Serial send;
    Qp qp;
    std::span<const std::byte> mad;
    std::array<std::byte, kMadBytes> bytes;
  };
  struct Group {
    uint64_t first_tries = 0;
    uint32_t weights = 0;  ///< Of all agents that were ever in it.
  };

  void fail(const std::string& what);
  void fail(const Send& s, const std::string& what);
  Agent* agent(Key key);
  Send* named(Key agent, uint64_t serial, const char* output);
  Send* by_id(Key agent, SendId id);
  void silence(const Agent& a, const char* what);
  void take_arrival(std::span<const std::byte> mad, Qp qp, const char* what);
  const char* mismatch(const Send& s, MadView mad, const Address& from, Qp qp) const;
  void judge(const Send& s, const SendCompletion& c);
  void judge_timeout(const Send& s);
  Agent& callback_begins(Key key, const char* what);
  void end(Send& s);
  void first_try(Send& s);
  void leave_queue(Send& s);
  bool certainly_in_use(const Send& s) const;
  bool maybe_in_use(const Send& s) const;
  Nanoseconds wait_of_try(const Send& s) const;
  bool window_allows(const Agent& a) const;
  bool order_shows() const { return options_.polled && live_.size() * 2 < options_.slots; }
  bool counts_against_window(const Agent& a, uint8_t mgmt_class) const;
  uint32_t default_window(const Registration& r) const;
  Group& group(const Agent& a) { return groups_[{a.rules.qp, a.rules.service_class}]; }
  Nanoseconds now() const { return options_.clock ? options_.clock->now() : Nanoseconds(0); }

  const Options options_;
  mutable std::mutex mutex_;
  uint64_t moment_ = 1;  ///< Steps of the program and of progress.
  uint64_t passes_ = 0;
  uint64_t progress_ = 1;  ///< Steps of progress alone.
  Key next_key_ = 0;
  Serial next_serial_ = 0;
  std::unordered_map<Key, Agent> agents_;
  std::unordered_map<Serial, Send> sends_;  ///< All, over ones included: a late callback must find its send.
  std::unordered_map<Serial, Send*> live_;
  std::unordered_map<uint64_t, std::vector<Send*>> by_tid_;
  std::unordered_map<uint64_t, OnWire> on_wire_;
  std::array<uint32_t, 2> depth_used_{};
  std::unordered_map<std::string, uint64_t> arrivals_;  ///< MADs the runtime took and has not handed over.
  std::map<std::pair<Qp, uint8_t>, Group> groups_;
  std::set<Queue*> listed_;
  std::unordered_map<Queue*, Agent*> owner_;
  bool device_failed_ = false;  ///< Told to agents though no wire has said so: what the device knew is gone with it.
  bool removed_ = false, port_closing_ = false;
  std::thread::id callback_thread_{};
  unsigned callback_depth_ = 0;
  Counts counts_;
};

}  // namespace tidemill::test
