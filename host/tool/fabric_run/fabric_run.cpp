// SPDX-License-Identifier: Apache-2.0
#include "fabric_run.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <random>

namespace tidemill::tool {
namespace {

using namespace std::chrono_literals;

/// One agent that keeps its sends outstanding, to all nodes in turn, of four kinds.
class Client {
 public:
  Client(const SimulatedFabric& fabric, FabricRunResult& result, uint64_t& left, unsigned number)
      : fabric_(fabric), result_(result), left_(left), node_(number % fabric.nodes()) {
    echo_ = Mad::make(kEchoClass, 1, mad_method::get, 0x0001);
    echo_.oui(kEchoOui);
    counters_ = Mad::make(mad_class::perf, 1, mad_method::get, 0x0012);
    plain_ = Mad::make(kEchoClass, 1, mad_method::trap, 0x0002);
    plain_.oui(kEchoOui);
  }

  Error open(Port& port, unsigned number, unsigned depth) {
    auto agent = port.register_agent({.on_send = [this](const SendCompletion& c) { ended(c); },
                                      .on_receive = [this](const Received&) { ++result_.received; },
                                      .weight = static_cast<uint8_t>(1 + number % 4),
                                      .window = 0,
                                      .name = "client " + std::to_string(number)});
    if (!agent) return agent.error();
    agent_ = std::move(agent).value();
    for (unsigned i = 0; i < depth; ++i) post();
    return {};
  }
  AgentStats stats() const { return agent_.stats(); }
  Errc close() { return agent_.deregister(); }

 private:
  void post() {
    if (left_ == 0) return;
    const uint64_t n = turn_++;
    if (++node_ >= fabric_.nodes()) node_ = fabric_.nodes() > 1 ? 1 : 0;
    SendRequest r;
    r.to.lid = fabric_.lid(node_);
    r.pace = {.timeout = 200us, .retries = 7};
    r.mad = n % 16 == 0 ? plain_.bytes() : n % 2 == 0 ? counters_.bytes() : echo_.bytes();
    if (n % 16 == 0) r.pace = {};
    if (n % 16 == 5) r.pace.backoff_cap = 2ms;
    if (n % 16 == 7) r.pace.deadline = 1ms;
    if (agent_.send(r).ok()) {
      --left_;
      ++result_.accepted;
    }
  }
  void ended(const SendCompletion& c) {
    ++result_.completed;
    ++result_.by_status[static_cast<unsigned>(c.status)];
    const auto us = static_cast<uint64_t>(c.elapsed.count()) / 1000;
    ++result_.latency[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(us)), result_.latency.size() - 1)];
    post();
  }

  const SimulatedFabric& fabric_;
  FabricRunResult& result_;
  uint64_t& left_;
  unsigned node_;
  uint64_t turn_ = 0;
  Mad echo_, counters_, plain_;
  Agent agent_;
};

}  // namespace

Result<FabricRunResult> run_on_fabric(const FabricRunOptions& options, const std::function<void(uint64_t)>& progress) {
  const auto started = std::chrono::steady_clock::now();
  std::shared_ptr<Clock> clock;
  if (options.virtual_time) clock = std::make_shared<VirtualClock>();
  else clock = std::make_shared<SteadyClock>();
  const Nanoseconds begin = clock->now();

  auto fabric = SimulatedFabric::create({.nodes = options.nodes, .seed = options.seed, .faults = options.faults, .clock = clock});
  if (!fabric) return fabric.error();
  auto device = Device::open(options.device, {.progress = Progress::poll, .clock = clock});
  if (!device) return device.error();
  auto wire = fabric->attach(0);
  if (!wire) return wire.error();
  const bool traced = !options.timeline.empty() || !options.capture.empty();
  const auto trace = traced ? std::make_shared<Trace>() : nullptr;
  auto port = device->open_port(1, std::move(wire).value(), {.trace = trace});
  if (!port) return port.error();

  FabricRunResult result;
  result.device = device->info();
  uint64_t left = options.transactions;
  std::vector<std::unique_ptr<Client>> clients;
  for (unsigned i = 0; i < options.agents; ++i) {
    clients.push_back(std::make_unique<Client>(*fabric, result, left, i));
    if (Error e = clients.back()->open(*port, i, options.depth); e.code != Errc::ok) return e;
  }
  while (left != 0 || result.completed != result.accepted) {
    if (device->poll() == 0) device->wait(1ms);
    progress(result.completed);
  }
  for (const auto& client : clients) result.agents.push_back(client->stats());
  for (const auto& client : clients)
    if (const Errc e = client->close(); e != Errc::ok) return Error{e, "an agent did not deregister"};
  result.port = port->stats();
  result.fabric = fabric->counters();
  result.simulated = clock->now() - begin;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (!options.timeline.empty())
    if (auto written = trace->write_timeline(options.timeline); !written) return written.error();
  if (!options.capture.empty())
    if (auto written = trace->write_capture(options.capture); !written) return written.error();
  return result;
}

}  // namespace tidemill::tool
