// SPDX-License-Identifier: Apache-2.0
#include "device_tool/load.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

namespace tidemill::device_tool {

using namespace std::chrono_literals;

namespace {
/// How long to wait for the next completion.
constexpr Nanoseconds kPatience = 10s;
}  // namespace

struct Load::Traffic {
  explicit Traffic(Device opened) : device(std::move(opened)) {}

  void post() {
    refused = Errc::ok;
    while (posted < goal && posted - completed < kOutstanding) {
      SendRequest r;
      r.mad = mad.bytes();
      r.to.lid = 1;
      r.pace = {.timeout = 5ms, .retries = 3};
      if (const auto sent = agent.send(r); !sent.ok()) {
        refused = sent.code();
        return;
      }
      ++posted;
    }
  }

  static constexpr uint64_t kOutstanding = 64;
  Device device;
  Port port;
  uint64_t posted = 0, completed = 0, goal = 0;
  Errc refused = Errc::ok;
  const Mad mad = Mad::make(mad_class::perf, 1, mad_method::get, 0x0012);
  Agent agent;
};

Result<std::unique_ptr<Load>> Load::open(const std::string& uri) {
  auto device = Device::open(uri, {.progress = Progress::poll, .clock = {}});
  if (!device) return device.error();
  auto traffic = std::make_unique<Traffic>(std::move(device).value());
  constexpr unsigned kLose = 16;
  auto port = traffic->device.open_port(1, std::make_unique<LoopbackWire>(kLose));
  if (!port) return port.error();
  traffic->port = std::move(port).value();
  auto agent = traffic->port.register_agent({.on_send =
                                                 [t = traffic.get()](const SendCompletion&) {
                                                   ++t->completed;
                                                   t->post();
                                                 },
                                             .on_receive = [](const Received&) {},
                                             .window = 0,
                                             .name = "load"});
  if (!agent) return agent.error();
  traffic->agent = std::move(agent).value();
  return std::unique_ptr<Load>(new Load(std::move(traffic)));
}

Load::Load(std::unique_ptr<Traffic> traffic) : traffic_(std::move(traffic)) {}

Load::~Load() {
  if (traffic_->posted != traffic_->completed) static_cast<void>(traffic_.release());
}

std::string Load::metrics() const {
  return traffic_->device.metrics();
}

std::optional<Error> Load::complete(uint64_t requests) {
  traffic_->goal = requests;
  return poll([this] { return traffic_->completed >= traffic_->goal; });
}

std::optional<Error> Load::send_for(Nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  traffic_->goal = ~uint64_t{0};
  return poll([end] { return std::chrono::steady_clock::now() >= end; });
}

std::optional<Error> Load::drain() {
  traffic_->goal = traffic_->posted;
  return poll([this] { return traffic_->completed == traffic_->posted; });
}

std::optional<Error> Load::poll(const std::function<bool()>& done) {
  using std::chrono::steady_clock;
  Traffic& t = *traffic_;
  t.post();
  const auto so_far = [&t] {
    return t.goal == ~uint64_t{0} ? fmt::format("{} of {} requests sent have completed", t.completed, t.posted)
                                  : fmt::format("{} of {} requests have completed", t.completed, t.goal);
  };
  while (!done()) {
    const uint64_t before = t.completed;
    const auto begin = steady_clock::now();
    if (t.device.poll() == 0) t.device.wait(1ms);
    // A process that was stopped for a while has not waited for the device: one turn counts for a second at most.
    waited_ = t.completed != before ? Nanoseconds(0) : waited_ + std::min<Nanoseconds>(steady_clock::now() - begin, 1s);
    if (t.refused != Errc::ok && t.posted == t.completed && !done())
      return Error{Errc::device_failed,
                   fmt::format("{}, the next was refused ({}): tidemill device selftest resets the device and says "
                               "whether it works",
                               so_far(), describe(t.refused))};
    if (waited_ >= kPatience)
      return Error{Errc::device_failed,
                   fmt::format("{}, then none within {}: the device loses completions; tidemill device selftest says "
                               "which part does",
                               so_far(), std::chrono::duration_cast<std::chrono::duration<double>>(kPatience))};
  }
  return std::nullopt;
}

}  // namespace tidemill::device_tool
