// SPDX-License-Identifier: Apache-2.0
#include "exec_command.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>

#include "ibsim_fabric/fabric.hpp"

namespace tidemill::tool {
namespace {

using namespace ibsim_fabric;

constexpr const char* kFooter = R"(After -- comes the program with its arguments. Examples:
  tidemill exec --net two-switches.net -- ibnetdiscover
  tidemill exec --net two-switches.net --device cosim: --trace sweep -- ibnetdiscover
  tidemill exec --socket tidemill-4711 --host Hca2 -- saquery

With --net the command starts an ibsim of its own and ends it after the program; without, it joins one that
runs, as `tidemill fabric` keeps it. Exit status: the program's; 128 + signal if one ended it; 2 usage.)";

struct Settings {
  Seat seat;
  std::string net;
  bool quiet = false;
  std::vector<std::string> program;
};

volatile std::sig_atomic_t g_program = 0;  // a signal handler can do no more

void pass_on(int number) {
  ::kill(static_cast<pid_t>(g_program), number);
}

int run(Settings& s) {
  const auto umad = umad_folder();
  if (!umad) throw UsageError(umad.error().message);
  WorkFolder work("tidemill-exec");
  std::optional<IbsimProcess> ibsim;
  if (!s.net.empty()) {
    const auto net = NetFile::read(s.net);
    if (!net) throw UsageError(net.error().message);
    if (s.seat.host.empty()) s.seat.host = net.value().hosts.front();
    if (!net.value().has(s.seat.host)) throw UsageError(fmt::format("--host {}: net file '{}' has no host of that name", s.seat.host, s.net));
    auto started = IbsimProcess::start(net.value(), work.file("ibsim.log"));
    if (!started) {
      work.keep();
      throw UsageError(started.error().message);
    }
    ibsim.emplace(std::move(started).value());
    s.seat.socket = ibsim->socket();
  }
  const bool own_stats = s.seat.stats.empty();
  if (own_stats) s.seat.stats = work.file("stats.json");

  auto program = Process::start({.arguments = s.program, .environment = environment(s.seat, umad.value())});
  if (!program) throw UsageError(program.error().message);
  // Ctrl-C is for the program, which has it from the terminal; what it leaves behind is for us. Set only now: a signal
  // that is ignored stays so in what is started. SIGTERM came to us alone.
  g_program = program.value().pid();
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, pass_on);
  std::optional<int> status;
  while (!status) status = program.value().wait();
  if (!s.quiet) {
    if (const std::string counts = describe_counts(s.seat.stats); !counts.empty())
      fmt::print(stderr, "tidemill: {}\n", counts);
    if (!s.seat.trace.empty())
      fmt::print(stderr, "tidemill: {0}.json opens in ui.perfetto.dev, {0}.pcapng in wireshark\n", s.seat.trace);
  }
  return *status;
}

}  // namespace

void add_exec(CLI::App& app, int& status) {
  auto settings = std::make_shared<Settings>();
  CLI::App* const sub = app.add_subcommand("exec", "Runs a program that uses libibumad on Tidemill");
  sub->footer(kFooter);
  sub->add_option("--device", settings->seat.device, "Device URI: soft:, cosim:, xrt:...")->capture_default_str();
  auto* const net = sub->add_option("--net", settings->net, "Starts ibsim on this net file");
  sub->add_option("--socket", settings->seat.socket, "Name of an ibsim that runs (IBSIM_SOCKNAME)")
      ->envname("IBSIM_SOCKNAME")
      ->excludes(net)
      ->default_str("sim");
  sub->add_option("--host", settings->seat.host, "Node the program is on; by default the net file's first host")
      ->envname("SIM_HOST");
  sub->add_option("--trace", settings->seat.trace, "Prefix of a timeline (.json) and a capture (.pcapng) of its MADs");
  sub->add_option("--stats", settings->seat.stats, "File for its counts, as JSON");
  sub->add_flag("--quiet", settings->quiet, "No line of counts at the end");
  sub->add_option("--program", settings->program)->group("");
  sub->callback([settings, &status] {
    if (settings->program.empty()) throw UsageError("name the program to run after --, as in: tidemill exec --net FILE -- ibnetdiscover");
    if (settings->seat.socket.empty()) settings->seat.socket = "sim";
    status = run(*settings);
  });
}

}  // namespace tidemill::tool
