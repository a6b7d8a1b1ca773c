// SPDX-License-Identifier: Apache-2.0
#include "device_tool/load.hpp"

#include <chrono>

namespace tidemill::device_tool {

using namespace std::chrono_literals;

Result<std::unique_ptr<Load>> Load::open(const std::string& uri) {
  auto device = Device::open(uri, {.progress = Progress::poll, .clock = {}});
  if (!device) return device.error();
  std::unique_ptr<Load> load(new Load(std::move(device).value()));
  constexpr unsigned kLose = 16;
  auto port = load->device_.open_port(1, std::make_unique<LoopbackWire>(kLose));
  if (!port) return port.error();
  load->port_ = std::move(port).value();
  auto agent = load->port_.register_agent({.on_send =
                                               [l = load.get()](const SendCompletion&) {
                                                 ++l->completed_;
                                                 l->post();
                                               },
                                           .on_receive = [](const Received&) {},
                                           .window = 0,
                                           .name = "load"});
  if (!agent) return agent.error();
  load->agent_ = std::move(agent).value();
  return load;
}

void Load::post() {
  while (posted_ < goal_ && posted_ - completed_ < kOutstanding) {
    SendRequest r;
    r.mad = mad_.bytes();
    r.to.lid = 1;
    r.pace = {.timeout = 5ms, .retries = 3};
    if (!agent_.send(r).ok()) return;
    ++posted_;
  }
}

void Load::run(uint64_t completions, Nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  goal_ = completions;
  post();
  while (completed_ < goal_ && std::chrono::steady_clock::now() < end)
    if (device_.poll() == 0) device_.wait(1ms);
}

}  // namespace tidemill::device_tool
