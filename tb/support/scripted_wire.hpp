// SPDX-License-Identifier: Apache-2.0
/// A wire that does what the test says, when it says so. The port owns the wire, the test holds its script; any thread.
#pragma once
#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "tidemill/mad.hpp"
#include "tidemill/wire.hpp"

namespace tidemill::test {

/// A try that the runtime has given to the wire.
struct Transmitted {
  uint64_t token = 0;
  Qp qp = Qp::gsi;
  Address to;
  Mad mad;
};

class WireScript {
 public:
  WireAttributes attributes;
  /// Tries are reported as sent at once, unless the test reports them.
  bool auto_sent = true;
  /// Requests are answered at once with their own bytes.
  bool auto_answer = false;

  /// Tries since the last call.
  std::vector<Transmitted> take_transmitted() {
    const std::lock_guard lock(mutex_);
    return std::exchange(transmitted_, {});
  }
  std::size_t transmitted_total() const {
    const std::lock_guard lock(mutex_);
    return total_;
  }
  void report(uint64_t token, WireStatus status, uint8_t vendor = 0, uint8_t recovery = 0) {
    const std::lock_guard lock(mutex_);
    reports_.push_back({token, status, vendor, recovery});
  }
  /// A MAD arrives. `from` is the peer; its path bits and GID index are our own.
  void arrive(const Mad& mad, const Address& from, Qp qp = Qp::gsi) {
    const std::lock_guard lock(mutex_);
    arrivals_.push_back({mad, from, qp, kMadBytes});
  }
  void arrive_truncated(const Mad& mad, std::size_t length) {
    const std::lock_guard lock(mutex_);
    arrivals_.push_back({mad, {}, Qp::gsi, length});
  }
  /// The right answer to a try.
  void answer(const Transmitted& t) { arrive(make_response(t.mad.view()), t.to, t.qp); }
  void event(PortEvent e) {
    const std::lock_guard lock(mutex_);
    events_.push_back(e);
  }
  /// Arrivals the port had no buffer for and that still wait.
  std::size_t waiting_arrivals() const {
    const std::lock_guard lock(mutex_);
    return arrivals_.size();
  }
  bool abandoned() const {
    const std::lock_guard lock(mutex_);
    return abandoned_;
  }

 private:
  friend class ScriptedWire;
  struct Report {
    uint64_t token;
    WireStatus status;
    uint8_t vendor, recovery;
  };
  struct Arrival {
    Mad mad;
    Address from;
    Qp qp;
    std::size_t length;
  };
  mutable std::mutex mutex_;
  std::vector<Transmitted> transmitted_;
  std::size_t total_ = 0;
  std::vector<uint64_t> unreported_;
  std::deque<Report> reports_;
  std::deque<Arrival> arrivals_;
  std::deque<PortEvent> events_;
  bool abandoned_ = false;
};

class ScriptedWire final : public Wire {
 public:
  explicit ScriptedWire(std::shared_ptr<WireScript> script) : script_(std::move(script)) {}

  WireAttributes attributes() const override { return script_->attributes; }

  void transmit(const WireSend& send) override {
    const std::lock_guard lock(script_->mutex_);
    Transmitted t{send.token, send.qp, send.to, {}};
    std::memcpy(t.mad.bytes().data(), send.mad.data(), std::min(send.mad.size(), kMadBytes));
    script_->transmitted_.push_back(t);
    ++script_->total_;
    script_->unreported_.push_back(send.token);
    if (script_->auto_sent) script_->reports_.push_back({send.token, WireStatus::sent, 0, 0});
    if (script_->auto_answer && !t.mad.view().is_response())
      script_->arrivals_.push_back({make_response(t.mad.view()), t.to, t.qp, kMadBytes});
  }

  void abandon() override {
    const std::lock_guard lock(script_->mutex_);
    script_->abandoned_ = true;
    script_->reports_.clear();
    for (const uint64_t token : script_->unreported_) script_->reports_.push_back({token, WireStatus::flushed, 0, 0});
  }

  bool poll(WireSink& sink) override {
    bool any = false;
    for (;;) {
      std::unique_lock lock(script_->mutex_);
      if (!script_->reports_.empty()) {
        const auto r = script_->reports_.front();
        script_->reports_.pop_front();
        std::erase(script_->unreported_, r.token);
        lock.unlock();
        sink.sent(r.token, r.status, r.vendor, r.recovery);
      } else if (!script_->events_.empty()) {
        const PortEvent e = script_->events_.front();
        script_->events_.pop_front();
        lock.unlock();
        sink.event(e);
      } else if (!script_->arrivals_.empty()) {
        const auto a = script_->arrivals_.front();
        lock.unlock();
        if (!sink.received({a.qp, a.from, a.mad.view().bytes().first(a.length)})) return any;
        lock.lock();
        script_->arrivals_.pop_front();
      } else {
        return any;
      }
      any = true;
    }
  }
  std::optional<Nanoseconds> next_event() const override {
    const std::lock_guard lock(script_->mutex_);
    const bool work = !script_->reports_.empty() || !script_->arrivals_.empty() || !script_->events_.empty();
    return work ? std::optional(Nanoseconds(0)) : std::nullopt;
  }

 private:
  std::shared_ptr<WireScript> script_;
};

}  // namespace tidemill::test
