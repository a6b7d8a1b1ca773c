// SPDX-License-Identifier: Apache-2.0
/// Handles of agents, blocked calls and suspended requests.
#include "tidemill/agent.hpp"

#include <condition_variable>
#include <mutex>

#include "runtime/device_state.hpp"
#include "runtime/waiter.hpp"

namespace tidemill {
namespace detail {

Result<Response> Waiter::result(const SendCompletion& c) const {
  switch (c.status) {
    case SendStatus::success:
      // Without a timeout no response is expected, and none is given.
      return Response{response_.value_or(Mad()), from_, c, message_};
    case SendStatus::timeout: return Error{Errc::timed_out, "no response after all tries"};
    case SendStatus::deadline: return Error{Errc::timed_out, "the total deadline passed"};
    case SendStatus::flushed: return Error{Errc::flushed, "cancelled or deregistered meanwhile"};
    case SendStatus::error: return Error{Errc::wire_error, "the wire failed the send, code " + std::to_string(c.vendor)};
    case SendStatus::duplicate: return Error{Errc::duplicate_tid, "a live send of this agent has the same TID and class"};
  }
  return Error{Errc::wire_error, "unknown status"};
}

namespace {

Error refusal(Errc code) { return {code, std::string(describe(code))}; }

class BlockedCall final : public Waiter {
 public:
  void completed(const SendCompletion& c) override {
    const std::lock_guard lock(mutex_);
    completion_ = c;
    signal_.notify_all();
  }
  bool wait(std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    return signal_.wait_for(lock, timeout, [this] { return completion_.has_value(); });
  }
  Result<Response> result() const { return Waiter::result(*completion_); }

 private:
  std::mutex mutex_;
  std::condition_variable signal_;
  std::optional<SendCompletion> completion_;
};

/// Lives from the post to its completion; the coroutine may be gone right after it is resumed.
class SuspendedRequest final : public Waiter {
 public:
  SuspendedRequest(std::coroutine_handle<> waiter, std::optional<Result<Response>>& result) : waiter_(waiter), result_(result) {}
  void completed(const SendCompletion& c) override {
    const std::unique_ptr<SuspendedRequest> self(this);
    result_.emplace(result(c));
    waiter_.resume();
  }

 private:
  std::coroutine_handle<> waiter_;
  std::optional<Result<Response>>& result_;
};

}  // namespace
}  // namespace detail

Agent& Agent::operator=(Agent&& other) noexcept {
  if (this != &other) {
    Agent old(std::move(*this));
    state_ = std::move(other.state_);
  }
  return *this;
}

Agent::~Agent() {
  if (!state_) return;
  if (state_->begin_close({}) && !state_->device().in_callback()) state_->wait_until_closed();
}

uint32_t Agent::id() const { return state_ ? state_->id() : 0; }

Result<SendId> Agent::send(const SendRequest& request) {
  if (!state_) return detail::refusal(Errc::not_registered);
  SendId id;
  const BatchResult r = state_->post({&request, 1}, {&id, 1}, nullptr);
  if (r.accepted == 0) return Error{r.refused, {}};
  return id;
}

BatchResult Agent::send(std::span<const SendRequest> requests, std::span<SendId> ids) {
  if (!state_) return {0, Errc::not_registered};
  return state_->post(requests, ids, nullptr);
}

Errc Agent::cancel(SendId id) { return state_ ? state_->cancel(id) : Errc::not_registered; }
Errc Agent::modify(SendId id, Nanoseconds timeout) { return state_ ? state_->modify(id, timeout) : Errc::not_registered; }

bool Agent::wait_for_room(Nanoseconds timeout) {
  if (!state_ || state_->device().in_callback()) return false;
  detail::DeviceState& device = state_->device();
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!state_->has_room()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    if (device.own_thread() || device.poll(256) == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

Result<Response> Agent::call(const SendRequest& request) {
  if (!state_) return detail::refusal(Errc::not_registered);
  if (state_->device().in_callback()) return Error{Errc::in_callback, "call() would wait for the callback it is in; use request()"};
  detail::BlockedCall call;
  const BatchResult r = state_->post({&request, 1}, {}, &call);
  if (r.accepted == 0) return detail::refusal(r.refused);
  detail::DeviceState& device = state_->device();
  while (!call.wait(device.own_thread() ? std::chrono::nanoseconds(std::chrono::seconds(1)) : Nanoseconds(0))) {
    if (!device.own_thread() && device.poll(64) == 0) device.wait(std::chrono::microseconds(100));
  }
  return call.result();
}

Agent::Request Agent::request(const SendRequest& request) { return {state_.get(), request}; }

bool Agent::Request::await_suspend(std::coroutine_handle<> waiter) {
  if (agent_ == nullptr) {
    result_.emplace(detail::refusal(Errc::not_registered));
    return false;
  }
  auto suspended = std::make_unique<detail::SuspendedRequest>(waiter, result_);
  detail::SuspendedRequest* const raw = suspended.release();
  // Once posted, another thread may resume and end the coroutine: nothing of it may be touched after that.
  const BatchResult r = agent_->post({&request_, 1}, {}, raw);
  if (r.accepted == 1) return true;
  suspended.reset(raw);
  result_.emplace(detail::refusal(r.refused));
  return false;
}

Result<Response> Agent::Request::await_resume() { return std::move(*result_); }

Errc Agent::deregister() {
  if (!state_) return Errc::not_registered;
  if (state_->device().in_callback()) return Errc::in_callback;
  if (!state_->begin_close({}) && state_->closed()) return Errc::not_registered;
  state_->wait_until_closed();
  return Errc::ok;
}

Errc Agent::deregister_async(std::function<void()> done) {
  if (!state_) return Errc::not_registered;
  return state_->begin_close(std::move(done)) ? Errc::ok : Errc::closing;
}

AgentStats Agent::stats() const { return state_ ? state_->stats() : AgentStats{}; }
Errc Agent::set_weight(uint8_t weight) { return state_ ? state_->reweigh(weight, {}) : Errc::not_registered; }
Errc Agent::set_window(uint16_t window) { return state_ ? state_->reweigh({}, window) : Errc::not_registered; }

}  // namespace tidemill
