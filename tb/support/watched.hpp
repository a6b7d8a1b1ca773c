// SPDX-License-Identifier: Apache-2.0
/// Agent, Port and Wire as a test of the conformance suite sees them: the public ones, with a RuntimeBoard that is told
/// of every call, every callback and everything on the wire. A test that names Agent or Port gets these.
///
/// A send is told apart from others by a serial number. The program's context comes back all the same; on the wire the
/// number stands in a part of the MAD that nobody reads.
#pragma once
#include <algorithm>
#include <coroutine>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime_board.hpp"
#include "tidemill/device.hpp"

namespace tidemill::test {

/// A request with the board's serial number in it. Lives until the send is accepted.
class NumberedRequest {
 public:
  NumberedRequest(const SendRequest& request, RuntimeBoard::Serial serial) : request_(request) {
    request_.context = serial;
    if (request.mad.size() != kMadBytes) return;
    std::memcpy(bytes_.data(), request.mad.data(), kMadBytes);
    write(bytes_, serial);
    request_.mad = bytes_;
  }
  NumberedRequest(const NumberedRequest&) = delete;
  NumberedRequest& operator=(const NumberedRequest&) = delete;

  const SendRequest& get() const { return request_; }
  /// 0 if the MAD has none.
  static RuntimeBoard::Serial read(std::span<const std::byte> mad) {
    if (mad.size() != kMadBytes) return 0;
    uint32_t mark = 0;
    uint64_t serial = 0;
    std::memcpy(&mark, mad.data() + place(mad), sizeof mark);
    std::memcpy(&serial, mad.data() + place(mad) + sizeof mark, sizeof serial);
    return mark == kMark ? serial : 0;
  }

 private:
  static constexpr uint32_t kMark = 0x7d3a51c9;
  /// Reserved bytes of a subnet management packet; else the end of the data.
  static std::size_t place(std::span<const std::byte> mad) {
    const auto c = static_cast<uint8_t>(mad[1]);
    return c == mad_class::subn_lid || c == mad_class::subn_directed ? 40 : 240;
  }
  static void write(std::array<std::byte, kMadBytes>& mad, RuntimeBoard::Serial serial) {
    std::memcpy(mad.data() + place(mad), &kMark, sizeof kMark);
    std::memcpy(mad.data() + place(mad) + sizeof kMark, &serial, sizeof serial);
  }
  SendRequest request_;
  std::array<std::byte, kMadBytes> bytes_;
};

/// What Agent::request() gives.
class WatchedRequest {
 public:
  WatchedRequest(std::shared_ptr<RuntimeBoard> board, RuntimeBoard::Key key, tidemill::Agent& agent,
                 const SendRequest& request)
      : board_(std::move(board)),
        key_(key),
        serial_(board_ ? board_->posting(key, request, RuntimeBoard::Form::call) : 0),
        numbered_(request, serial_),
        inner_(agent.request(numbered_.get())) {}

  bool await_ready() const noexcept { return inner_.await_ready(); }
  bool await_suspend(std::coroutine_handle<> waiter) { return inner_.await_suspend(waiter); }
  Result<Response> await_resume() {
    Result<Response> r = inner_.await_resume();
    if (!board_) return r;
    if (r.ok())
      r->completion.context = board_->call_ended(key_, serial_, r->completion);
    else
      board_->call_failed(serial_);
    return r;
  }

 private:
  std::shared_ptr<RuntimeBoard> board_;
  RuntimeBoard::Key key_;
  RuntimeBoard::Serial serial_;
  NumberedRequest numbered_;
  tidemill::Agent::Request inner_;
};

class [[nodiscard]] Agent {
 public:
  Agent() = default;
  Agent(std::shared_ptr<RuntimeBoard> board, RuntimeBoard::Key key, tidemill::Agent agent)
      : board_(std::move(board)), key_(key), agent_(std::move(agent)) {}
  Agent(Agent&&) noexcept = default;
  Agent& operator=(Agent&& other) noexcept {
    if (this != &other) {
      Agent old(std::move(*this));
      board_ = std::move(other.board_);
      key_ = other.key_;
      agent_ = std::move(other.agent_);
      leaving_ = other.leaving_;
    }
    return *this;
  }
  ~Agent() {
    if (!agent_) return;
    board_->closing(key_);
    // One that is on its way out already is let go: it ends by itself.
    const bool waits = !leaving_ && !board_->in_callback();
    agent_ = tidemill::Agent();
    waits ? board_->deregistered(key_) : board_->closing_has_begun(key_);
  }

  explicit operator bool() const { return static_cast<bool>(agent_); }
  uint32_t id() const { return agent_.id(); }

  Result<SendId> send(const SendRequest& request) {
    if (!agent_) return agent_.send(request);
    const RuntimeBoard::Serial serial = board_->posting(key_, request);
    const NumberedRequest numbered(request, serial);
    auto id = agent_.send(numbered.get());
    board_->posted(serial, id.code(), id.ok() ? id.value() : SendId{});
    return id;
  }
  BatchResult send(std::span<const SendRequest> requests, std::span<SendId> ids = {}) {
    if (!agent_) return agent_.send(requests, ids);
    std::vector<RuntimeBoard::Serial> serials;
    std::vector<std::unique_ptr<NumberedRequest>> numbered;
    std::vector<SendRequest> batch;
    std::vector<SendId> names(requests.size());
    for (const SendRequest& r : requests) {
      serials.push_back(board_->posting(key_, r));
      numbered.push_back(std::make_unique<NumberedRequest>(r, serials.back()));
      batch.push_back(numbered.back()->get());
    }
    const BatchResult result = agent_.send(batch, names);
    for (std::size_t i = 0; i < serials.size(); ++i) {
      const Errc code = i < result.accepted          ? Errc::ok
                        : result.refused == Errc::ok ? Errc::would_block
                                                     : result.refused;
      board_->posted(serials[i], code, names[i]);
    }
    std::copy_n(names.begin(), std::min(ids.size(), result.accepted), ids.begin());
    return result;
  }
  Errc cancel(SendId id) {
    if (board_) board_->cancelling(key_, id);
    const Errc result = agent_.cancel(id);
    if (board_) board_->cancelled(key_, id, result);
    return result;
  }
  Errc modify(SendId id, Nanoseconds timeout) {
    if (board_ && timeout.count() == 0) board_->cancelling(key_, id);
    if (board_) board_->modifying(key_, id);
    const Errc result = agent_.modify(id, timeout);
    if (board_ && timeout.count() == 0) board_->cancelled(key_, id, result);
    return result;
  }
  bool wait_for_room(Nanoseconds timeout) { return agent_.wait_for_room(timeout); }

  Result<Response> call(const SendRequest& request) {
    if (!agent_) return agent_.call(request);
    const RuntimeBoard::Serial serial = board_->posting(key_, request, RuntimeBoard::Form::call);
    const NumberedRequest numbered(request, serial);
    auto response = agent_.call(numbered.get());
    if (response.ok())
      response->completion.context = board_->call_ended(key_, serial, response->completion);
    else
      board_->call_failed(serial);
    return response;
  }
  WatchedRequest request(const SendRequest& request) { return {board_, key_, agent_, request}; }

  Errc deregister() {
    if (!agent_) return agent_.deregister();
    board_->closing(key_);
    const Errc result = agent_.deregister();
    board_->deregister_result(key_, result);
    if (result == Errc::ok) board_->deregistered(key_);
    return result;
  }
  Errc deregister_async(std::function<void()> done) {
    if (!agent_) return agent_.deregister_async(std::move(done));
    board_->closing(key_);
    const Errc result = agent_.deregister_async([board = board_, key = key_, done = std::move(done)] {
      board->deregistered(key);
      if (done) done();
    });
    board_->closing_has_begun(key_);
    leaving_ = true;
    return result;
  }

  AgentStats stats() const { return agent_.stats(); }
  Errc set_weight(uint8_t weight) {
    if (board_) board_->weight_changed(key_, weight);
    return agent_.set_weight(weight);
  }
  Errc set_window(uint16_t window) {
    if (board_) board_->window_changed(key_, window);
    return agent_.set_window(window);
  }

 private:
  std::shared_ptr<RuntimeBoard> board_;
  RuntimeBoard::Key key_ = 0;
  tidemill::Agent agent_;
  bool leaving_ = false;  ///< By deregister_async().
};

class Port {
 public:
  Port() = default;
  Port(std::shared_ptr<RuntimeBoard> board, tidemill::Port port) : board_(std::move(board)), port_(std::move(port)) {}
  Port(Port&&) noexcept = default;
  Port& operator=(Port&& other) noexcept {
    if (this != &other) {
      Port old(std::move(*this));
      board_ = std::move(other.board_);
      port_ = std::move(other.port_);
    }
    return *this;
  }
  ~Port() {
    if (!port_) return;
    board_->port_closing();
    port_ = tidemill::Port();
    board_->port_closed();
  }
  explicit operator bool() const { return static_cast<bool>(port_); }

  Result<Agent> register_agent(Registration r) {
    if (!port_) {
      auto refused = port_.register_agent(std::move(r));
      return refused.error();
    }
    const RuntimeBoard::Key key = board_->registering(r);
    if (r.on_send)
      r.on_send = [board = board_, key, tell = std::move(r.on_send)](const SendCompletion& c) {
        SendCompletion mine = c;
        mine.context = board->completion_begins(key, c);
        tell(mine);
        board->callback_ends();
      };
    if (r.on_receive)
      r.on_receive = [board = board_, key, tell = std::move(r.on_receive)](const Received& m) {
        Received mine = m;
        mine.context = board->receive_begins(key, m);
        tell(mine);
        board->receive_ends(m.matched ? m.context : 0);
      };
    if (r.on_port_event)
      r.on_port_event = [board = board_, key, tell = std::move(r.on_port_event)](PortEvent e) {
        board->event_begins(key, e);
        tell(e);
        board->callback_ends();
      };
    auto agent = port_.register_agent(std::move(r));
    board_->registered(key, agent.ok() ? agent->id() : 0);
    if (!agent.ok()) return agent.error();
    return Agent(board_, key, std::move(agent).value());
  }
  PortStats stats() const { return port_.stats(); }
  std::vector<AgentStats> agent_stats() const { return port_.agent_stats(); }

 private:
  std::shared_ptr<RuntimeBoard> board_;
  tidemill::Port port_;
};

/// Any wire, watched.
class WatchedWire final : public Wire, private WireSink {
 public:
  WatchedWire(std::shared_ptr<RuntimeBoard> board, std::unique_ptr<Wire> wire)
      : board_(std::move(board)), wire_(std::move(wire)) {}

  WireAttributes attributes() const override { return wire_->attributes(); }
  void transmit(const WireSend& send) override {
    board_->transmitted(send, NumberedRequest::read(send.mad));
    wire_->transmit(send);
  }
  void abandon() override { wire_->abandon(); }
  bool poll(WireSink& sink) override {
    board_->polling();
    sink_ = &sink;
    return wire_->poll(*this);
  }
  std::optional<Nanoseconds> next_event() const override { return wire_->next_event(); }
  int event_fd() const override { return wire_->event_fd(); }

 private:
  void sent(uint64_t token, WireStatus status, uint8_t vendor, uint8_t recovery) override {
    board_->reported(token, status, vendor, recovery);
    sink_->sent(token, status, vendor, recovery);
  }
  bool received(const WireReceived& mad) override {
    if (!sink_->received(mad)) return false;
    board_->arrived(mad);
    return true;
  }
  void event(PortEvent e) override {
    board_->event(e);
    sink_->event(e);
  }

  std::shared_ptr<RuntimeBoard> board_;
  std::unique_ptr<Wire> wire_;
  WireSink* sink_ = nullptr;
};

}  // namespace tidemill::test
