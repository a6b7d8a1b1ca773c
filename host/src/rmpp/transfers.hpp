// SPDX-License-Identifier: Apache-2.0
/// The RMPP transfers of one agent: messages on their way out and in, their timers, their ends. Segments travel as
/// sends of the agent without a response; the last segment of a request that expects one is a send with a response, so
/// that the engine matches it. A reassembly begins only with a segment that answers a live send, or that somebody asks
/// with: what matches nothing makes no state.
///
/// Threads: post(), cancel() and stop() from any thread; the rest from the one that makes progress.
#pragma once
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "rmpp/reassembly.hpp"
#include "rmpp/sender.hpp"
#include "runtime/waiter.hpp"
#include "tidemill/agent.hpp"

namespace tidemill::detail {
class AgentState;
}

namespace tidemill::rmpp {

class Transfers {
 public:
  explicit Transfers(detail::AgentState& agent) : agent_(agent), segments_(*this) {}

  /// A message with its TID in place. Its completion follows as that of a send; its id has `message` set.
  Errc post(const SendRequest& request, uint64_t tid, bool expects, detail::Waiter* waiter, Nanoseconds now,
            SendId& id);
  /// True if the message was outstanding: it will complete as flushed.
  bool cancel(uint32_t message);
  /// Ends everything as flushed at the next step(); with `closing`, refuses what comes later.
  void stop(bool closing);

  // --- making progress, where callbacks run
  /// A response that has matched. True if it begins a message: then send and response are this object's to finish.
  /// `timeout`: how long the message may pause.
  bool begin_response(const Received& r, SendId engine_send, detail::Waiter* waiter, Nanoseconds timeout);
  /// The completion of a send whose response is being put together: true if it is kept until then.
  bool keep(const SendCompletion& done, detail::Waiter* waiter);
  /// An active RMPP MAD that matches no send.
  void received(const Received& r);
  /// Sends what may be sent, looks at the time. True if anything happened.
  bool step(Nanoseconds now);
  Nanoseconds due() const { return due_; }
  /// Nothing to step for: taken off the device's list, until it is put there again.
  bool unlist();

 private:
  /// IBA 13.6.2.1: what names a transfer at the receiver.
  struct Key {
    uint64_t tid = 0;
    uint32_t qpn = 0;
    uint16_t lid = 0;
    uint8_t mgmt_class = 0, class_version = 0, method = 0;
    Gid gid{};
    bool operator<(const Key& o) const {
      return std::tie(tid, qpn, lid, mgmt_class, class_version, method, gid) <
             std::tie(o.tid, o.qpn, o.lid, o.mgmt_class, o.class_version, o.method, o.gid);
    }
  };
  static Key key_of(const Received& r);

  struct Sending {
    Sender sender;
    Address to;
    Pace pace;
    uint64_t context = 0;
    detail::Waiter* waiter = nullptr;
    Nanoseconds posted{0};
    uint64_t tid = 0;
    unsigned tries = 0;
    bool expects = false;
    std::optional<SendId> last;  ///< The engine's send of the last segment, while it waits for the response.
  };
  struct Receiving {
    Reassembly message;
    Mad first;
    Address from;
    Qp qp = Qp::gsi;
    unsigned port = 0;
    Nanoseconds idle{0}, due{0}, end{0};
    /// Of a response: what it answers.
    std::optional<SendId> answers;
    uint64_t context = 0;
    detail::Waiter* waiter = nullptr;
    std::optional<SendCompletion> completion;
    Nanoseconds completed{0};  ///< When that was.
    bool silent = false;       ///< The other side ended it: no ABORT back.
  };
  struct Finished {
    uint32_t last = 0, window = 0;
    Nanoseconds forget{0};
  };
  /// Of all segments: their completions find their message by its number, which is their context.
  class SegmentWaiter final : public detail::Waiter {
   public:
    explicit SegmentWaiter(Transfers& owner) : owner_(owner) {}
    void completed(const SendCompletion& c) override { owner_.segment_completed(c); }

   private:
    Transfers& owner_;
  };

  using Number = uint32_t;
  using Incoming = std::map<Key, Receiving>::iterator;

  void wake();
  /// Has step() called at `at` or before.
  void watch(Nanoseconds at);
  bool take_posted(Nanoseconds now);
  void transmit(Number number, Sending& s, Nanoseconds now);
  void segment_completed(const SendCompletion& c);
  void message_done(Number number, SendStatus status, Reason reason = Reason::none);
  void on_ack(const Received& r);
  void on_data(const Received& r);
  void on_end(const Received& r);
  /// Takes a segment; the entry may be gone afterwards. The reason if the transfer was refused.
  Reason feed(Incoming at, const Received& r);
  Incoming begin(const Key& key, const Received& r, Nanoseconds idle);
  void deliver(const Received& r, detail::Waiter* waiter);
  void whole(Incoming at);
  void give_up(Incoming at, SendStatus status, Reason reason);
  void answer(MadView to, const Address& at, Type type, Reason reason, uint32_t segment, uint32_t length);
  std::map<Number, Sending>::iterator find_sending(const Received& r);
  void remember(const Key& key, const Reassembly& message, Nanoseconds now);
  bool look_at_time(Nanoseconds now);

  detail::AgentState& agent_;
  SegmentWaiter segments_;

  enum class Life : uint8_t { waiting, answering, cancelled };
  std::mutex posted_mutex_;  ///< Protects what stands up to `closing_`.
  std::vector<std::pair<Number, Sending>> posted_;
  std::map<Number, Life> live_;  ///< Messages accepted and not completed.
  std::size_t outgoing_ = 0;     ///< Their bytes.
  Number next_number_ = 1;
  bool stop_ = false, closing_ = false;
  std::atomic<bool> woken_{false}, listed_{false};

  std::map<Number, Sending> sending_;  ///< In the order of posting.
  std::map<Key, Receiving> receiving_;
  std::map<Key, Finished> finished_;  ///< Acknowledges what comes again.
  std::deque<Key> finished_order_;
  /// Engine sends whose response is being put together, or was refused for a reason.
  struct Answered {
    std::optional<Key> key;
    SendStatus status = SendStatus::success;
    Reason reason = Reason::none;
  };
  std::map<std::pair<uint16_t, uint16_t>, Answered> answered_;
  std::size_t incoming_ = 0;  ///< Bytes of messages being put together.
  bool blocked_ = false;      ///< A segment found no room.
  Nanoseconds due_ = Nanoseconds::max();
};

}  // namespace tidemill::rmpp
