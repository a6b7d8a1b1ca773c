// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tb/support/watched.hpp"

namespace tidemill::cosim_run {
namespace {

using namespace std::chrono_literals;

/// One agent that keeps its sends outstanding, to all nodes in turn, of several kinds.
class Client {
 public:
  Client(const SimulatedFabric& fabric, Result& result, uint64_t& left, unsigned number, const Options& options)
      : fabric_(fabric), result_(result), left_(left), number_(number), options_(options), node_(number % fabric.nodes()) {
    echo_ = Mad::make(kEchoClass, 1, mad_method::get, 0x0001);
    echo_.oui(kEchoOui);
    counters_ = Mad::make(mad_class::perf, 1, mad_method::get, 0x0012);
    plain_ = Mad::make(kEchoClass, 1, mad_method::trap, 0x0002);
    plain_.oui(kEchoOui);
  }

  Error open(test::Port& port) {
    Registration r;
    r.on_send = [this](const SendCompletion& c) { ended(c); };
    r.on_receive = [this](const Received&) { ++result_.received; };
    r.on_port_event = [this](PortEvent e) { removed_ |= e == PortEvent::device_removed; };
    r.name = "client " + std::to_string(number_);
    if (options_.window != 0) r.window = options_.window;
    auto agent = port.register_agent(std::move(r));
    if (!agent) return agent.error();
    agent_ = std::move(agent).value();
    idle_ = options_.depth;
    return {};
  }
  /// Posts what its turn allows.
  void turn(Nanoseconds now) {
    while (idle_ > 0 && left_ > 0 && now >= next_ && post()) {
      --idle_;
      if (options_.idle_ns != 0) next_ = now + Nanoseconds(options_.idle_ns);
    }
  }
  bool removed() const { return removed_; }
  AgentStats stats() const { return agent_.stats(); }
  Errc close() { return agent_.deregister(); }

 private:
  bool post() {
    const uint64_t n = turn_;
    SendRequest r;
    r.to.lid = fabric_.lid(fabric_.nodes() > 1 ? 1 + (node_ + n) % (fabric_.nodes() - 1) : 0);
    r.pace = {.timeout = 200us, .retries = 7};
    r.mad = n % 16 == 0 ? plain_.bytes() : n % 2 == 0 ? counters_.bytes() : echo_.bytes();
    if (n % 16 == 0) r.pace = {};
    if (n % 16 == 5) r.pace.backoff_cap = 2ms;
    if (n % 16 == 7) r.pace.deadline = 1ms;
    if (!agent_.send(r).ok()) return false;
    ++turn_;
    --left_;
    ++result_.accepted;
    return true;
  }
  void ended(const SendCompletion& c) {
    ++result_.completed;
    ++result_.by_status[static_cast<unsigned>(c.status)];
    ++idle_;
  }

  const SimulatedFabric& fabric_;
  Result& result_;
  uint64_t& left_;
  unsigned number_;
  const Options& options_;
  uint64_t node_, turn_ = 0;
  unsigned idle_ = 0;
  Nanoseconds next_{0};
  bool removed_ = false;
  Mad echo_, counters_, plain_;
  test::Agent agent_;
};

std::string device_uri(const Options& o, const std::string& statistics) {
  std::string uri = fmt::format("cosim:?seed={}&statistics={}", o.seed, statistics);
  if (o.stall > 0) uri += fmt::format("&stall={}", o.stall);
  if (o.axi_errors > 0) uri += fmt::format("&axi_errors={}", o.axi_errors);
  if (!o.trace.empty()) uri += fmt::format("&trace={}&trace_from={}", o.trace, o.trace_from);
  return uri;
}

struct Held {
  SimulatedFabric fabric;
  Device device;
  test::Port port;
  std::vector<std::unique_ptr<Client>> clients;
};

/// No completion for so long in simulated time: something hangs.
constexpr Nanoseconds kPatience = 20ms;

}  // namespace

tidemill::Result<Result> run(const Options& options, const std::function<void(const Progress&)>& progress) {
  const auto started = std::chrono::steady_clock::now();
  const auto clock = std::make_shared<VirtualClock>();
  auto fabric = SimulatedFabric::create({.nodes = options.nodes, .seed = options.seed, .faults = options.faults, .clock = clock});
  if (!fabric) return fabric.error();
  const std::string statistics = (std::filesystem::temp_directory_path() / fmt::format("tidemill-cosim-{}.json", getpid())).string();
  auto device = Device::open(device_uri(options, statistics), {.progress = tidemill::Progress::poll, .clock = clock});
  if (!device) return device.error();
  auto wire = fabric->attach(0);
  if (!wire) return wire.error();

  Result result;
  const auto board = std::make_shared<test::RuntimeBoard>(test::RuntimeBoard::Options{
      .report = [&result](const std::string& what) { result.violations.push_back(what); },
      .clock = clock,
      .wire = (*wire)->attributes(),
      .receive_buffers = PortOptions{}.receive_buffers,
      .slots = device->info().slots,
      .decided_ahead = 64,  // descriptors the card fetches ahead
      .polled = true});
  // On the heap: a device that stands still would not let go of them, see below.
  auto* const held = new Held{std::move(*fabric), std::move(*device), {}, {}};
  {
    auto opened = held->device.open_port(1, std::make_unique<test::WatchedWire>(board, std::move(wire).value()));
    if (!opened) return opened.error();
    held->port = test::Port(board, std::move(opened).value());
    test::Port& port = held->port;
    auto& clients = held->clients;
    uint64_t left = options.transactions;
    for (unsigned i = 0; i < options.agents; ++i) {
      clients.push_back(std::make_unique<Client>(held->fabric, result, left, i, options));
      if (Error e = clients.back()->open(port); e.code != Errc::ok) return e;
    }
    Nanoseconds last_news = clock->now();
    uint64_t seen = 0;
    while (left != 0 || result.completed != result.accepted) {
      bool removed = false;
      for (const auto& client : clients) {
        client->turn(clock->now());
        removed |= client->removed();
      }
      held->device.poll();
      if (result.completed != seen) last_news = clock->now();
      seen = result.completed;
      result.device_failed = removed;
      if (removed && options.axi_errors == 0) result.stopped = "the device has failed";
      if (removed) break;
      if (clock->now() - last_news > kPatience) result.stopped = fmt::format("no completion for {} ms of simulated time", kPatience / 1ms);
      if (!result.stopped.empty()) break;
      const PortStats now = port.stats();
      progress({result.completed, now.transmitted + now.received, held->device.counter("cycles")});
    }
    result.cycles = held->device.counter("cycles");
    for (const auto& client : clients) result.agents.push_back(client->stats());
    result.port = port.stats();
    result.fabric = held->fabric.counters();
    result.simulated = clock->now();
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    // Deregistering would wait for what does not come: everything stays as it is until the program ends.
    if (!result.stopped.empty()) return result;
    for (const auto& client : clients)
      if (const Errc e = client->close(); e != Errc::ok) result.violations.push_back(fmt::format("deregistration failed: {}", describe(e)));
    result.port = port.stats();
    clients.clear();
    port = test::Port();
  }
  board->finish();
  result.fabric = held->fabric.counters();
  result.simulated = clock->now();
  delete held;  // the device writes its statistics
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (std::ifstream file(statistics); file) result.device = nlohmann::json::parse(file, nullptr, false);
  std::filesystem::remove(statistics);
  return result;
}

std::string replay_command(const Options& o) {
  const Options usual;
  std::string text = fmt::format("tidemill cosim --seed {} --transactions {}", o.seed, o.transactions);
  const auto add = [&](const char* name, auto value, auto normal) {
    if (value != normal) text += fmt::format(" --{} {}", name, value);
  };
  add("fabric", o.nodes, usual.nodes);
  add("agents", o.agents, usual.agents);
  add("depth", o.depth, usual.depth);
  add("window", o.window, usual.window);
  add("idle", o.idle_ns, usual.idle_ns);
  add("loss", o.faults.loss, usual.faults.loss);
  add("dup", o.faults.duplication, usual.faults.duplication);
  add("reorder", o.faults.reordering, usual.faults.reordering);
  add("stale", o.faults.stale, usual.faults.stale);
  add("forged", o.faults.forged, usual.faults.forged);
  add("delay", o.faults.delay.count(), usual.faults.delay.count());
  add("stall", o.stall, usual.stall);
  add("axi-errors", o.axi_errors, usual.axi_errors);
  return text;
}

double jain_index(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double s : shares) {
    sum += s;
    squares += s * s;
  }
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(shares.size()) * squares);
}

}  // namespace tidemill::cosim_run
