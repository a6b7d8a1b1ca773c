// SPDX-License-Identifier: Apache-2.0
#include "bench_command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <vector>

#include "tidemill.hpp"

namespace tidemill::tool {
namespace {

constexpr const char* kFooter = R"(Examples:
  tidemill bench                     64 and 4,096 outstanding, a second each
  tidemill bench --depth 16 256      other depths
  tidemill bench --device soft:?banks=8

A transaction is post, transmit, response, both callbacks, on one thread over a fabric that answers at once.
Machines differ and are shared: compare figures of one run only.)";

struct Settings {
  std::string device = "soft:";
  std::vector<unsigned> depths{64, 4096};
  double seconds = 1;
};

struct Figure {
  uint64_t transactions = 0;
  double seconds = 0;
};

Result<Figure> measure(const Settings& s, unsigned depth) {
  auto fabric = SimulatedFabric::create({.nodes = 2, .faults = {.delay = Nanoseconds(0), .delay_jitter = Nanoseconds(0)}});
  if (!fabric) return fabric.error();
  auto device = Device::open(s.device, {.progress = Progress::poll});
  if (!device) return device.error();
  auto wire = fabric->attach(0);
  if (!wire) return wire.error();
  auto port = device->open_port(1, std::move(wire).value(), {.receive_buffers = 8192});
  if (!port) return port.error();

  Mad mad = Mad::make(kEchoClass, 1, mad_method::get, 0x0001);
  mad.oui(kEchoOui);
  SendRequest request{.mad = mad.bytes(), .pace = {.timeout = std::chrono::seconds(1), .retries = 3}};
  request.to.lid = fabric->lid(1);
  bool open = true;
  uint64_t done = 0;
  Agent agent;
  auto registered = port->register_agent({.on_send =
                                              [&](const SendCompletion&) {
                                                ++done;
                                                if (open) (void)agent.send(request);
                                              },
                                          .on_receive = [](const Received&) {},
                                          .window = 0,
                                          .queue_depth = 8192});
  if (!registered) return registered.error();
  agent = std::move(registered).value();
  for (unsigned i = 0; i < depth; ++i) (void)agent.send(request);
  while (done < depth) device->poll();

  const uint64_t before = done;
  const auto start = std::chrono::steady_clock::now();
  Figure figure;
  do {
    for (int i = 0; i < 64; ++i) device->poll();
    figure.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  } while (figure.seconds < s.seconds);
  figure.transactions = done - before;
  open = false;
  return figure;
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("bench", "Transactions a second of the runtime on this machine");
  command->add_option("--device", settings->device, "Device URI")->capture_default_str();
  command->add_option("--depth", settings->depths, "Sends outstanding")->capture_default_str()->check(CLI::Range(1u, 8192u));
  command->add_option("--seconds", settings->seconds, "How long each depth runs")->capture_default_str()->check(CLI::Range(0.05, 600.0));
  command->footer(kFooter);
  command->callback([settings, &status] {
    fmt::print("{:>12} {:>16} {:>12}\n", "outstanding", "transactions/s", "ns each");
    for (const unsigned depth : settings->depths) {
      auto figure = measure(*settings, depth);
      if (!figure) {
        fmt::print(stderr, "tidemill: {}\n", figure.error().message);
        status = kUsageError;
        return;
      }
      const auto n = static_cast<double>(figure->transactions);
      fmt::print("{:>12} {:>14.2f} M {:>12.1f}\n", depth, n / figure->seconds / 1e6, figure->seconds / n * 1e9);
    }
    status = kSuccess;
  });
}

}  // namespace tidemill::tool
