// SPDX-License-Identifier: Apache-2.0
/// A server of a vendor class on one node, a client on another: unsolicited requests in, responses out.
#include <cstdio>

#include "tidemill.hpp"

using namespace tidemill;
using namespace std::chrono_literals;

int main() {
  auto fabric = SimulatedFabric::create({.nodes = 2}).value();
  auto server_device = Device::open("soft:").value(), client_device = Device::open("soft:").value();
  auto server_port = server_device.open_port(1, fabric.attach(1).value()).value();
  auto client_port = client_device.open_port(1, fabric.attach(0).value()).value();

  MadFilter wanted = MadFilter::get_and_set(0x32, 1);
  wanted.oui = 0x00feed;
  Agent server;
  server = server_port
               .register_agent({.unsolicited = wanted,
                                .on_send = [](const SendCompletion&) {},
                                .on_receive =
                                    [&server](const Received& request) {
                                      Mad response = make_response(request.mad);
                                      response.modifier(request.mad.modifier() + 1);
                                      (void)server.send({.mad = response.bytes(), .to = request.from});
                                    },
                                .name = "counter"})
               .value();

  auto client = client_port.register_agent({.calls_only = true}).value();
  Mad ask = Mad::make(0x32, 1, mad_method::get, 0x0100, 41);
  ask.oui(0x00feed);
  Address to;
  to.lid = fabric.lid(1);
  auto answer = client.call({.mad = ask.bytes(), .to = to, .pace = {.timeout = 100ms, .retries = 3}});
  if (!answer) return std::fprintf(stderr, "no answer: %s\n", answer.error().message.c_str()), 1;
  std::printf("asked with 41, answered %u\n", answer->mad.view().modifier());
  return answer->mad.view().modifier() == 42 ? 0 : 1;
}
