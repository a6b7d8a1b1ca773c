// SPDX-License-Identifier: Apache-2.0
/// The baseline: a MAD layer on the CPU as the kernel's is built, over the same wires. One agent, one lock for
/// everything, and lists: sends beyond the wire's depth; sends on the wire; sends waiting for a response, sorted by
/// deadline, which is the timer queue too. A response is looked for from the head of the waiting list on, then among
/// those on the wire.
///
/// Where it is a matter of taste the baseline gets the cheaper way: no allocation, no copy of what is received, one
/// look at the clock a poll. It has no windows, deadlines, cancel, duplicates check, traces or statistics. Post: any
/// thread. Poll: one thread. Callbacks run inside poll(), under no lock, and may post.
#pragma once
#include <array>
#include <chrono>
#include <memory>
#include <mutex>

#include "tidemill/send.hpp"
#include "tidemill/wire.hpp"

namespace tidemill::bench {

class KernelLike final : private WireSink {
 public:
  KernelLike(std::unique_ptr<Wire> wire, uint32_t sends, SendHandler on_send, ReceiveHandler on_receive);

  /// False if no send is free.
  bool send(const SendRequest& request);
  void poll();

 private:
  /// A node of exactly one list.
  struct Send {
    Send *prev = nullptr, *next = nullptr;
    uint64_t tid = 0;
    int64_t due = 0;
    uint8_t mgmt_class = 0;
    unsigned tries = 0, retries = 0;
    int64_t timeout = 0, posted = 0;
    uint64_t context = 0;
    Address to;
    std::array<std::byte, kMadBytes> mad;
  };
  class List {
   public:
    List() { end_.prev = end_.next = &end_; }
    List(const List&) = delete;
    List& operator=(const List&) = delete;
    Send* first() { return end_.next == &end_ ? nullptr : end_.next; }
    Send* last() { return end_.prev == &end_ ? nullptr : end_.prev; }
    Send* after(Send* s) { return s->next == &end_ ? nullptr : s->next; }
    Send* before(Send* s) { return s->prev == &end_ ? nullptr : s->prev; }
    void append(Send* s) { link(s, end_.prev); }
    /// Behind `before`, or first if that is null.
    void insert(Send* s, Send* before) { link(s, before == nullptr ? &end_ : before); }
    static void remove(Send* s) {
      s->prev->next = s->next;
      s->next->prev = s->prev;
    }

   private:
    static void link(Send* s, Send* before) {
      s->prev = before;
      s->next = before->next;
      before->next->prev = s;
      before->next = s;
    }
    Send end_;
  };

  // WireSink.
  void sent(uint64_t token, WireStatus status, uint8_t vendor, uint8_t recovery) override;
  bool received(const WireReceived& mad) override;
  void event(PortEvent) override {}

  // Under the lock.
  void queue(Send* s);
  void transmit(Send* s);
  void wait(Send* s);
  Send* find(MadView response);

  void complete(Send* s, SendStatus status);
  void expire();

  std::unique_ptr<Wire> wire_;
  const uint16_t depth_;
  SendHandler on_send_;
  ReceiveHandler on_receive_;
  std::unique_ptr<Send[]> sends_;

  std::mutex mutex_;  ///< Protects all below, and the wire's transmit().
  List free_, overflow_, on_wire_, waiting_;
  uint32_t wire_count_ = 0;
  uint32_t next_tid_ = 0;
  int64_t now_ = 0;
};

}  // namespace tidemill::bench
