// SPDX-License-Identifier: Apache-2.0
/// A coroutine for each node: every one asks for the node's description, all at once, on one agent.
#include <atomic>
#include <coroutine>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tidemill.hpp"

using namespace tidemill;
using namespace std::chrono_literals;

/// Runs by itself and ends by itself.
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Task describe_node(Agent& agent, uint16_t lid, std::string& description, std::atomic<unsigned>& left) {
  const Mad ask = Mad::make(mad_class::subn_lid, 1, mad_method::get, 0x0010);
  SendRequest request{.mad = ask.bytes(), .to = {.lid = lid, .qpn = 0}, .pace = {.timeout = 100ms, .retries = 5}};
  auto answer = co_await agent.request(request);
  if (answer.ok())
    for (std::size_t i = 64; i < 128 && answer->mad.view().u8(i) != 0; ++i)
      description += static_cast<char>(answer->mad.view().u8(i));
  else
    description = answer.error().message;
  --left;
}

int main() {
  constexpr unsigned kNodes = 64;
  auto fabric = SimulatedFabric::create({.nodes = kNodes, .faults = {.loss = 0.05}}).value();
  auto device = Device::open("soft:").value();
  auto port = device.open_port(1, fabric.attach(0).value()).value();
  auto agent = port.register_agent({.qp = Qp::smi, .calls_only = true}).value();

  std::vector<std::string> descriptions(kNodes);
  std::atomic<unsigned> left{kNodes - 1};
  for (unsigned node = 1; node < kNodes; ++node) describe_node(agent, fabric.lid(node), descriptions[node], left);
  while (left != 0) std::this_thread::sleep_for(1ms);

  for (unsigned node = 1; node < kNodes; node += 21)
    std::printf("LID %3d: %s\n", fabric.lid(node), descriptions[node].c_str());
  const AgentStats s = agent.stats();
  std::printf("%u nodes asked at once, %llu transmissions for %llu requests\n", kNodes - 1,
              static_cast<unsigned long long>(s.tries), static_cast<unsigned long long>(s.accepted));
}
