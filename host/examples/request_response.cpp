// SPDX-License-Identifier: Apache-2.0
/// Ten lines: ask a node for its NodeInfo and print the answer.
#include <cstdio>

#include "tidemill.hpp"

using namespace tidemill;
using namespace std::chrono_literals;

int main() {
  auto fabric = SimulatedFabric::create({.nodes = 4}).value();
  auto device = Device::open("soft:").value();
  auto port = device.open_port(1, fabric.attach(0).value()).value();
  auto agent = port.register_agent({.qp = Qp::smi, .calls_only = true}).value();

  const Mad ask = Mad::make(mad_class::subn_lid, 1, mad_method::get, 0x0011);
  Address to;
  to.lid = fabric.lid(3);
  to.qpn = 0;
  auto answer = agent.call({.mad = ask.bytes(), .to = to, .pace = {.timeout = 100ms, .retries = 3}});
  if (!answer) return std::fprintf(stderr, "no answer: %s\n", answer.error().message.c_str()), 1;
  std::printf("LID %d: node GUID %016llx, %d port(s)\n", to.lid,
              static_cast<unsigned long long>(answer->mad.view().u64(64 + 12)), answer->mad.view().u8(64 + 3));
}
