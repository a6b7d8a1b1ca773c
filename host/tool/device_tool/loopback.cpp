// SPDX-License-Identifier: Apache-2.0
#include "device_tool/loopback.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace tidemill::device_tool {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kLose = 16;
constexpr uint64_t kSends = 512;
constexpr auto kPatience = 10s;
constexpr std::size_t kBody = 64;  ///< Where the bytes begin that nobody but us writes.

}  // namespace

bool LoopbackWire::poll(WireSink& sink) {
  if (waiting_.empty()) return false;
  polled_.swap(waiting_);
  for (const WireSend& send : polled_) {
    std::memcpy(answer_.data(), send.mad.data(), send.mad.size());
    const uint64_t tid = MadView(answer_).tid();
    const Qp qp = send.qp;
    const Address from = send.to;
    sink.sent(send.token, WireStatus::sent);  // the bytes may change from here on
    const auto again = std::find(lost_.begin(), lost_.end(), tid);
    if (again != lost_.end()) {
      lost_.erase(again);
    } else if (lose_ != 0 && ++seen_ % lose_ == 0) {
      lost_.push_back(tid);
      continue;
    }
    answer_[3] |= std::byte{mad_method::response_bit};
    sink.received({.qp = qp, .from = from, .mad = answer_});
  }
  polled_.clear();
  return true;
}

namespace {

/// One QP's half of the traffic.
struct Half {
  Qp qp;
  Mad mad;
  Agent agent;
  uint64_t next = 0, completed = 0, succeeded = 0, again = 0, differing = 0;
  std::string wrong;

  void check(const Received& r) {
    const auto bytes = r.mad.bytes();
    for (std::size_t i = kBody; i < bytes.size(); ++i)
      if (bytes[i] != static_cast<std::byte>(i * 7 + r.context)) {
        if (differing++ == 0) wrong = fmt::format("request {} came back with byte {} changed", r.context, i);
        return;
      }
  }
  void ended(const SendCompletion& c) {
    ++completed;
    succeeded += c.status == SendStatus::success;
    again += c.tries == 2;
    if (c.status != SendStatus::success && wrong.empty())
      wrong = fmt::format("request {} ended as {} after {} tries", c.context, describe(c.status), c.tries);
  }
  bool post() {
    auto bytes = mad.bytes();
    for (std::size_t i = kBody; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + next);
    SendRequest r;
    r.mad = bytes;
    r.to.lid = 1;
    r.pace = {.timeout = 20ms, .retries = 3};
    r.context = next;
    if (!agent.send(r).ok()) return false;
    ++next;
    return true;
  }
};

struct Traffic {
  explicit Traffic(Device opened) : device(std::move(opened)) {}
  Verdict run(std::string& found);
  bool outstanding() const {
    return std::any_of(std::begin(halves), std::end(halves), [](const Half& h) { return h.completed != h.next; });
  }

  Device device;
  Port port;
  Half halves[2] = {{Qp::smi, Mad::make(mad_class::subn_lid, 1, mad_method::get, 0x0011), {}, 0, 0, 0, 0, 0, {}},
                    {Qp::gsi, Mad::make(mad_class::perf, 1, mad_method::get, 0x0012), {}, 0, 0, 0, 0, 0, {}}};
};

}  // namespace

Verdict test_loopback(const std::string& uri, bool virtual_clock, std::string& found) {
  std::shared_ptr<Clock> clock;
  if (virtual_clock)
    clock = std::make_shared<VirtualClock>();
  else
    clock = std::make_shared<SteadyClock>();
  auto device = Device::open(uri, {.progress = Progress::poll, .clock = clock});
  if (!device) return device.error().message;
  auto traffic = std::make_unique<Traffic>(std::move(device).value());
  Verdict wrong = traffic->run(found);
  // A send that never completes would keep its agent, and so this process, from ending.
  if (traffic->outstanding()) static_cast<void>(traffic.release());
  return wrong;
}

Verdict Traffic::run(std::string& found) {
  auto opened = device.open_port(1, std::make_unique<LoopbackWire>(kLose));
  if (!opened) return opened.error().message;
  port = std::move(opened).value();
  for (Half& h : halves) {
    auto agent = port.register_agent({.qp = h.qp,
                                      .on_send = [&h](const SendCompletion& c) { h.ended(c); },
                                      .on_receive = [&h](const Received& r) { h.check(r); },
                                      .name = "selftest"});
    if (!agent) return agent.error().message;
    h.agent = std::move(agent).value();
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto all = [&](auto done) { return std::all_of(std::begin(halves), std::end(halves), done); };
  constexpr uint64_t kOutstanding = 64;
  while (!all([](const Half& h) { return h.completed == kSends; })) {
    for (Half& h : halves)
      while (h.next < kSends && h.next - h.completed < kOutstanding && h.post()) continue;
    if (device.poll() == 0) device.wait(1ms);
    if (std::chrono::steady_clock::now() - begin > kPatience)
      return fmt::format("after {} {} and {} of {} requests on QP0 and QP1 have completed", kPatience,
                         halves[0].completed, halves[1].completed, kSends);
  }
  for (const Half& h : halves) {
    const unsigned qp = h.qp == Qp::smi ? 0 : 1;
    if (h.succeeded != kSends || h.differing != 0)
      return fmt::format("QP{}: {} of {} requests succeeded, {} came back changed; {}", qp, h.succeeded, kSends,
                         h.differing, h.wrong);
    if (h.again == 0) return fmt::format("QP{}: no lost request was tried again", qp);
  }
  found = fmt::format("{} requests on each QP came back unchanged, {} of them lost once", kSends,
                      halves[0].again + halves[1].again);
  return std::nullopt;
}

}  // namespace tidemill::device_tool
