// SPDX-License-Identifier: Apache-2.0
#include "fabric_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <thread>

#include "ibsim_fabric/fabric.hpp"

namespace tidemill::tool {
namespace {

using namespace ibsim_fabric;
using Clock = std::chrono::steady_clock;

constexpr const char* kFooter = R"(After -- comes the program of --once with its arguments. Examples:
  tidemill fabric --hosts 8                       a small fat tree, opensm on the soft device
  tidemill fabric --hosts 8 --device cosim:       the same, every MAD of opensm through the co-simulated card
  tidemill fabric my.net --once -- saquery -p     brings it up, runs a program on the second host, ends

Without --once it stays up until Ctrl-C. Exit status: 0 the subnet came up (and the program succeeded), 1 not, 2 usage.)";

struct Settings {
  std::string net, host, device = "soft:", trace, log_folder;
  unsigned hosts = 8, radix = 0, limit = 120;
  bool once = false;
  std::vector<std::string> program;
};

volatile std::sig_atomic_t g_stop = 0;  // a signal handler can do no more

void stop(int) {
  g_stop = 1;
}

NetFile open_net(const Settings& s, const WorkFolder& work) {
  std::string path = s.net;
  if (path.empty()) {
    const auto tree = fat_tree(s.hosts, s.radix);
    if (!tree) throw UsageError(tree.error().message);
    path = work.file("fabric.net");
    std::ofstream(path) << tree.value();
  }
  auto net = NetFile::read(path);
  if (!net) throw UsageError(net.error().message);
  return std::move(net).value();
}

/// Until opensm says that the subnet is up; how long it took, or nothing.
std::optional<double> wait_until_up(SubnetManager& opensm, unsigned limit) {
  const auto start = Clock::now();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  while (g_stop == 0) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (opensm.up()) {
      if (terminal) fmt::print(stderr, "\r\033[K");
      return seconds;
    }
    if (!opensm.running() || seconds > limit) break;
    if (terminal) fmt::print(stderr, "\r\033[Kopensm sweeps the fabric, {:.1f} s", seconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (terminal) fmt::print(stderr, "\r\033[K");
  return std::nullopt;
}

int run(Settings& s) {
  const auto umad = umad_folder();
  if (!umad) throw UsageError(umad.error().message);
  WorkFolder work("tidemill-fabric");
  const NetFile net = open_net(s, work);
  const std::string host = s.host.empty() ? net.hosts.front() : s.host;
  const std::string other = net.hosts[net.hosts.size() > 1 && net.hosts.front() == host ? 1 : 0];
  if (!net.has(host))
    throw UsageError(fmt::format("--host {}: net file '{}' has no host of that name", host, net.path));

  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  auto ibsim = IbsimProcess::start(net, work.file("ibsim.log"));
  if (!ibsim) {
    work.keep();
    throw UsageError(ibsim.error().message);
  }
  fmt::print("fabric   {} switches and {} hosts on ibsim '{}'\n", net.switches, net.hosts.size(),
             ibsim.value().socket());

  const std::string stats = work.file("opensm.json");
  Seat seat{.socket = ibsim.value().socket(), .host = host, .device = s.device, .trace = s.trace, .stats = stats};
  auto opensm = SubnetManager::start(environment(seat, umad.value()), work);
  if (!opensm) throw UsageError(opensm.error().message);
  const auto up = wait_until_up(opensm.value(), s.limit);
  if (!up) {
    if (g_stop != 0) return kFailure;
    work.keep();
    fmt::print(stderr, "tidemill: no SUBNET UP {}; the logs are in {}\n",
               opensm.value().running() ? fmt::format("within {} s", s.limit) : "and opensm has ended", work.path());
    return kFailure;
  }
  fmt::print("opensm   on {} through {} SUBNET UP after {:.2f} s\n", host, s.device, *up);

  int status = kSuccess;
  if (s.once) {
    if (s.program.empty()) s.program = {"ibnetdiscover", "-l"};
    const std::string counts = work.file("program.json");
    const Seat second{.socket = seat.socket, .host = other, .device = s.device, .stats = counts};
    fmt::print("{}  on {}:\n", fmt::join(s.program, " "), other);
    std::cout.flush();
    std::fflush(stdout);
    auto program = Process::start({.arguments = s.program, .environment = environment(second, umad.value())});
    if (!program) throw UsageError(program.error().message);
    status = program.value().wait().value_or(1) == 0 ? kSuccess : kFailure;
    if (const std::string text = describe_counts(counts); !text.empty())
      fmt::print("MADs     of {}: {}\n", s.program.front(), text);
  } else {
    fmt::print(
        "\nIn another terminal:\n  tidemill exec --socket {0} --host {1} -- ibnetdiscover\n  tidemill exec --socket "
        "{0} --host {1} -- saquery -p\n"
        "  tidemill exec --socket {0} --host {1} --device cosim: --trace sm -- sminfo\n\nLogs in {2}. Ctrl-C ends the "
        "fabric.\n",
        seat.socket, other, work.path());
    std::fflush(stdout);
    while (g_stop == 0 && opensm.value().running() && ibsim.value().running())
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (g_stop == 0) {
      work.keep();
      fmt::print(stderr, "tidemill: {} has ended by itself; the logs are in {}\n",
                 ibsim.value().running() ? "opensm" : "ibsim", work.path());
      status = kFailure;
    }
  }
  opensm.value().terminate();
  if (const std::string text = describe_counts(stats); !text.empty()) fmt::print("MADs     of opensm: {}\n", text);
  if (!s.trace.empty()) fmt::print("trace    {0}.json opens in ui.perfetto.dev, {0}.pcapng in wireshark\n", s.trace);
  return status;
}

}  // namespace

void add_fabric(CLI::App& app, int& status) {
  auto settings = std::make_shared<Settings>();
  CLI::App* const sub = app.add_subcommand("fabric", "Keeps a simulated fabric with an opensm on Tidemill up");
  sub->footer(kFooter);
  auto* const net = sub->add_option("net", settings->net, "Net file as ibsim reads it; without one a fat tree is made");
  sub->add_option("--hosts", settings->hosts, "Hosts of that fat tree")->excludes(net)->capture_default_str();
  sub->add_option("--radix", settings->radix, "Ports of its switches")->excludes(net);
  sub->add_option("--host", settings->host, "Host of opensm; by default the first");
  sub->add_option("--device", settings->device, "Device URI of opensm and --once's program")->capture_default_str();
  sub->add_option("--trace", settings->trace, "Prefix of a timeline (.json) and a capture (.pcapng) of opensm's MADs");
  sub->add_option("--limit", settings->limit, "Seconds until SUBNET UP must have come")->capture_default_str();
  auto* const once =
      sub->add_flag("--once", settings->once, "Runs a program (ibnetdiscover -l) on another host and ends");
  sub->add_option("--program", settings->program)->group("")->needs(once);
  sub->callback([settings, &status] { status = run(*settings); });
}

void add_net(CLI::App& app, int& status) {
  struct Size {
    unsigned hosts = 0, radix = 0;
  };
  auto size = std::make_shared<Size>();
  CLI::App* const sub = app.add_subcommand("net", "Prints a net file for ibsim: a fat tree");
  sub->add_option("hosts", size->hosts, "Hosts")->required();
  sub->add_option("--radix", size->radix, "Ports of the switches; by default the smallest number that fits");
  sub->callback([size, &status] {
    const auto tree = fat_tree(size->hosts, size->radix);
    if (!tree) throw UsageError(tree.error().message);
    fmt::print("{}", tree.value());
    status = kSuccess;
  });
}

}  // namespace tidemill::tool
