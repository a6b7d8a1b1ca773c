// SPDX-License-Identifier: Apache-2.0
/// One agent that keeps its sends outstanding: over the runtime with its soft device, or over the baseline. Both post
/// the same request, have the same callbacks, and are polled by the benchmark's thread.
#pragma once
#include <bit>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernel_like.hpp"
#include "tidemill.hpp"

namespace tidemill::bench {

/// The value of what cannot fail here, or the end of this benchmark.
template <class T>
T value(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

/// Seconds since made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// An echo request. No timer runs out here unless MADs are lost.
class Request {
 public:
  explicit Request(uint16_t lid, Pace pace = {.timeout = std::chrono::seconds(100), .retries = 3}) {
    mad_.oui(kEchoOui);
    request_.mad = mad_.bytes();
    request_.to.lid = lid;
    request_.pace = pace;
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  const SendRequest& get() const { return request_; }

 private:
  Mad mad_ = Mad::make(kEchoClass, 1, mad_method::get, 0x0001);
  SendRequest request_;
};

/// What came of the sends.
struct Outcome {
  uint64_t completed = 0, received = 0, failed = 0, tries = 0;
  void count(const SendCompletion& c) {
    ++completed;
    tries += c.tries;
    failed += c.status != SendStatus::success;
  }
};

class TidemillClient {
 public:
  TidemillClient(std::unique_ptr<Wire> wire, uint32_t outstanding, const SendRequest& request)
      : request_(request), batch_(kAtOnce, request) {
    port_ = value(device_.open_port(1, std::move(wire)));
    agent_ = value(port_.register_agent({.on_send =
                                             [this](const SendCompletion& c) {
                                               outcome_.count(c);
                                               if (again_) post();
                                             },
                                         .on_receive = [this](const Received&) { ++outcome_.received; },
                                         .window = 0,
                                         .queue_depth = std::bit_ceil(outstanding)}));
  }
  ~TidemillClient() { again_ = false; }
  TidemillClient(const TidemillClient&) = delete;
  TidemillClient& operator=(const TidemillClient&) = delete;

  void post() { refused_ += !agent_.send(request_).ok(); }
  /// Posts many in calls of kAtOnce.
  void post(std::size_t count) {
    for (std::size_t n = 0; count != 0; count -= n) {
      n = std::min(count, batch_.size());
      refused_ += n - agent_.send(std::span(batch_).first(n)).accepted;
    }
  }
  void poll() { device_.poll(); }
  Errc deregister() { return agent_.deregister(); }
  /// Every completed send is posted anew from its callback.
  void again(bool yes) { again_ = yes; }
  const Outcome& outcome() const { return outcome_; }
  bool faultless() const { return refused_ == 0 && outcome_.failed == 0; }

 private:
  static constexpr std::size_t kAtOnce = 64;
  const SendRequest& request_;
  std::vector<SendRequest> batch_;
  Outcome outcome_;
  uint64_t refused_ = 0;
  bool again_ = false;
  Device device_ = value(Device::open("soft:", {.progress = Progress::poll}));
  Port port_;
  Agent agent_;
};

class KernelLikeClient {
 public:
  KernelLikeClient(std::unique_ptr<Wire> wire, uint32_t outstanding, const SendRequest& request)
      : request_(request),
        layer_(
            std::move(wire), outstanding,
            [this](const SendCompletion& c) {
              outcome_.count(c);
              if (again_) post();
            },
            [this](const Received&) { ++outcome_.received; }) {}
  KernelLikeClient(const KernelLikeClient&) = delete;
  KernelLikeClient& operator=(const KernelLikeClient&) = delete;

  void post() { refused_ += !layer_.send(request_); }
  void post(std::size_t count) {
    for (; count != 0; --count) post();
  }
  void poll() { layer_.poll(); }
  void again(bool yes) { again_ = yes; }
  const Outcome& outcome() const { return outcome_; }
  bool faultless() const { return refused_ == 0 && outcome_.failed == 0; }

 private:
  const SendRequest& request_;
  Outcome outcome_;
  uint64_t refused_ = 0;
  bool again_ = false;
  KernelLike layer_;
};

/// Polls until `count` sends have completed in all; false if that takes no end.
template <class Client>
bool poll_until(Client& client, uint64_t count) {
  constexpr uint64_t kPatience = 200'000'000;  // polls, at least ten seconds
  for (uint64_t polls = 0; client.outcome().completed < count; ++polls) {
    if (polls == kPatience) return false;
    client.poll();
  }
  return true;
}

}  // namespace tidemill::bench
