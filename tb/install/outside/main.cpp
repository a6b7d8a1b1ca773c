// SPDX-License-Identifier: Apache-2.0
/// Knows the installed headers only.
#include <tidemill.hpp>

#include <cstdio>

int main() {
  using namespace tidemill;
  auto fabric = SimulatedFabric::create({.nodes = 2});
  auto device = Device::open("soft:");
  if (!fabric || !device) return 1;
  auto port = device->open_port(1, fabric->attach(0).value());
  if (!port) return 1;
  auto agent = port->register_agent({.qp = Qp::smi, .calls_only = true});
  if (!agent) return 1;
  const Mad ask = Mad::make(mad_class::subn_lid, 1, mad_method::get, 0x0011);
  Address to;
  to.lid = fabric->lid(1);
  to.qpn = 0;
  auto answer = agent->call({.mad = ask.bytes(), .to = to, .pace = {.timeout = std::chrono::seconds(1), .retries = 3}});
  if (!answer) std::fprintf(stderr, "%s\n", answer.error().message.c_str());
  return answer.ok() ? 0 : 1;
}
