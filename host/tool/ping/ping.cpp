// SPDX-License-Identifier: Apache-2.0
#include "ping/ping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace tidemill::tool {
namespace {

using namespace std::chrono_literals;

constexpr uint16_t kPingAttribute = 0x0001;
constexpr std::size_t kFilledFrom = 40;

/// How long to sleep at most before `stop` is looked at again.
constexpr Nanoseconds kGlance = 100ms;

/// Behind the OUI stand bytes that only this request has.
void fill(Mad& mad, uint64_t number) {
  for (std::size_t at = kFilledFrom; at + 8 <= kMadBytes; at += 8) mad.put64(at, number * 0x9e3779b97f4a7c15ull + at);
}

class Client {
 public:
  Client(const Address& to, const PingOptions& options, const std::atomic<bool>& stop)
      : options_(options), stop_(stop), mad_(Mad::make(kEchoClass, 1, mad_method::get, kPingAttribute)) {
    mad_.oui(kEchoOui);
    request_ = {.mad = mad_.bytes(), .to = to, .pace = {.timeout = options.timeout, .retries = options.retries}};
    result_.latencies.reserve(options.count);
  }

  Result<PingResult> run(std::unique_ptr<Wire> wire) {
    auto device = Device::open("soft:", {.progress = Progress::poll});
    if (!device) return device.error();
    auto port = device->open_port(1, std::move(wire));
    if (!port) return port.error();
    auto agent = port->register_agent(
        {.on_send = [this](const SendCompletion& c) { ended(c); },
         .on_receive = [this](const Received& r) { received(r); },
         .on_port_event = [this](PortEvent e) { result_.wire_gone |= e == PortEvent::device_removed; },
         .window = 0,
         .queue_depth = 65536,
         .name = "ping"});
    if (!agent) return agent.error();
    agent_ = std::move(agent).value();
    const auto start = std::chrono::steady_clock::now();
    while (ended_ < sent_ || wants_more()) {
      while (wants_more() && sent_ - ended_ < options_.depth && send()) {
      }
      if (device->poll() == 0) device->wait(kGlance);
      if (options_.interval > 0ns && ended_ == sent_ && wants_more()) std::this_thread::sleep_for(options_.interval);
    }
    result_.elapsed = std::chrono::steady_clock::now() - start;
    result_.interrupted = stop_.load();
    // Closing polls too; with Progress::poll it is done by hand.
    bool closed = false;
    if (agent_.deregister_async([&closed] { closed = true; }) == Errc::ok)
      while (!closed)
        if (device->poll() == 0) device->wait(kGlance);
    std::sort(result_.latencies.begin(), result_.latencies.end());
    return std::move(result_);
  }

 private:
  bool wants_more() const {
    return sent_ < options_.count && !stop_.load(std::memory_order_relaxed) && !result_.wire_gone;
  }

  bool send() {
    fill(mad_, sent_);
    request_.context = sent_;
    if (!agent_.send(request_)) return false;
    ++sent_;
    return true;
  }

  void received(const Received& r) {
    Mad expected;
    fill(expected, r.context);
    const auto tail = [](std::span<const std::byte, kMadBytes> m) { return m.subspan<kFilledFrom>(); };
    if (!std::ranges::equal(tail(r.mad.bytes()), tail(std::as_const(expected).bytes()))) ++result_.wrong;
  }

  void ended(const SendCompletion& c) {
    ++ended_;
    result_.tries += c.tries;
    switch (c.status) {
      case SendStatus::success:
        ++result_.answered;
        result_.latencies.push_back(c.elapsed);
        break;
      case SendStatus::timeout:
        ++result_.timed_out;
        break;
      default:
        ++result_.failed;
        break;
    }
    // At once, with the latency a client has that waits for nothing else.
    if (options_.interval == 0ns && wants_more()) (void)send();
  }

  const PingOptions& options_;
  const std::atomic<bool>& stop_;
  Mad mad_;
  SendRequest request_;
  Agent agent_;
  PingResult result_;
  uint64_t sent_ = 0, ended_ = 0;
};

}  // namespace

Nanoseconds PingResult::percentile(double p) const {
  if (latencies.empty()) return 0ns;
  const auto rank = static_cast<std::size_t>(p / 100 * static_cast<double>(latencies.size()));
  return latencies[std::min(rank, latencies.size() - 1)];
}

Result<PingResult> run_ping(std::unique_ptr<Wire> wire, const Address& to, const PingOptions& options,
                            const std::atomic<bool>& stop) {
  Client client(to, options, stop);
  return client.run(std::move(wire));
}

Result<ServeResult> serve_pings(std::unique_ptr<Wire> wire, Nanoseconds life, const std::atomic<bool>& stop) {
  auto device = Device::open("soft:", {.progress = Progress::poll});
  if (!device) return device.error();
  auto port = device->open_port(1, std::move(wire), {.receive_buffers = 4096});
  if (!port) return port.error();
  ServeResult result;
  MadFilter filter = MadFilter::get_and_set(kEchoClass, 1);
  filter.oui = kEchoOui;
  Agent server;
  auto registered =
      port->register_agent({.unsolicited = filter,
                            .on_send = [](const SendCompletion&) {},
                            .on_receive =
                                [&](const Received& request) {
                                  const Mad response = make_response(request.mad);
                                  const bool ok = server.send({.mad = response.bytes(), .to = request.from}).ok();
                                  ++(ok ? result.answered : result.refused);
                                },
                            .on_port_event = [&](PortEvent e) { result.wire_gone |= e == PortEvent::device_removed; },
                            .queue_depth = 65536,
                            .name = "ping server"});
  if (!registered) return registered.error();
  server = std::move(registered).value();
  const auto end = std::chrono::steady_clock::now() + life;
  while (!stop.load(std::memory_order_relaxed) && !result.wire_gone &&
         (life == 0ns || std::chrono::steady_clock::now() < end))
    if (device->poll() == 0) device->wait(kGlance);
  bool closed = false;
  if (server.deregister_async([&closed] { closed = true; }) == Errc::ok)
    while (!closed)
      if (device->poll() == 0) device->wait(kGlance);
  return result;
}

std::string to_text(const PingOptions& options, const PingResult& r) {
  const auto us = [](Nanoseconds t) { return static_cast<double>(t.count()) / 1e3; };
  const uint64_t over = r.answered + r.timed_out + r.failed;
  const double seconds = std::chrono::duration<double>(r.elapsed).count();
  std::string text = fmt::format("{} requests, depth {}: {} answered, {} timed out, {} failed", over, options.depth,
                                 r.answered, r.timed_out, r.failed);
  if (r.wrong != 0) text += fmt::format(", {} answers WRONG", r.wrong);
  const uint64_t lost = r.tries >= r.answered ? r.tries - r.answered : 0;
  text += fmt::format("\n{} transmissions, {} of them without an answer ({:.2f} %)\n", r.tries, lost,
                      r.tries == 0 ? 0.0 : 100.0 * static_cast<double>(lost) / static_cast<double>(r.tries));
  text += fmt::format("{:.0f} round trips a second, {:.3f} s\n",
                      seconds > 0 ? static_cast<double>(r.answered) / seconds : 0.0, seconds);
  if (!r.latencies.empty())
    text += fmt::format("latency in us: min {:.1f}, p50 {:.1f}, p90 {:.1f}, p99 {:.1f}, p99.9 {:.1f}, max {:.1f}\n",
                        us(r.latencies.front()), us(r.percentile(50)), us(r.percentile(90)), us(r.percentile(99)),
                        us(r.percentile(99.9)), us(r.latencies.back()));
  if (r.wire_gone) text += "the wire has gone: its device was removed\n";
  return text;
}

nlohmann::json to_json(const PingOptions& options, const PingResult& r) {
  return {{"depth", options.depth},
          {"answered", r.answered},
          {"timed_out", r.timed_out},
          {"failed", r.failed},
          {"wrong", r.wrong},
          {"transmissions", r.tries},
          {"elapsed_ns", r.elapsed.count()},
          {"wire_gone", r.wire_gone},
          {"latency_ns",
           {{"min", r.percentile(0).count()},
            {"p50", r.percentile(50).count()},
            {"p90", r.percentile(90).count()},
            {"p99", r.percentile(99).count()},
            {"p99.9", r.percentile(99.9).count()},
            {"max", r.percentile(100).count()}}}};
}

}  // namespace tidemill::tool
