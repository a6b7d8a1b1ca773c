// SPDX-License-Identifier: Apache-2.0
#include "cosim_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>

#include "cosim_run/run.hpp"

namespace tidemill::tool {
namespace {

constexpr const char* kFooter = R"(Examples:
  tidemill cosim                                  20,000 transactions, no faults
  tidemill cosim --loss 0.05 --dup 0.02 --stall 0.2 --report cosim.html
  tidemill cosim --transactions 200 --trace short.fst    open it in gtkwave
  tidemill cosim --axi-errors 0.001               the device must fail loudly, never hang

The same options repeat the same run on any machine. A run that fails names the rule
that broke and the command that repeats it. Exit status: 0 passed, 1 failed, 2 usage.)";

struct Settings {
  cosim_run::Options run;
  double delay_us = 1;
  std::string json, report;
};

/// A line that is drawn over on a terminal, a line every tenth elsewhere.
class Bar {
 public:
  explicit Bar(uint64_t goal) : goal_(goal), terminal_(isatty(STDERR_FILENO) != 0) {}
  void show(const cosim_run::Progress& p) {
    const auto now = std::chrono::steady_clock::now();
    const uint64_t tenth = p.completed * 10 / goal_;
    if (terminal_ ? now < next_ : tenth <= tenth_) return;
    next_ = now + std::chrono::milliseconds(100);
    tenth_ = tenth;
    const auto filled = static_cast<unsigned>(p.completed * 30 / goal_);
    std::string line;
    for (unsigned i = 0; i < 30; ++i) line += i < filled ? "█" : "░";
    const double seconds = std::chrono::duration<double>(now - start_).count();
    fmt::print(stderr, "{}{} {}/{} transactions, {} MADs, {} cycles, {:.0f} k cycles/s{}", terminal_ ? "\r\033[K" : "", line, p.completed, goal_, p.mads,
               p.cycles, static_cast<double>(p.cycles) / seconds / 1e3, terminal_ ? "" : "\n");
  }
  ~Bar() {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  uint64_t goal_;
  bool terminal_;
  uint64_t tenth_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), next_{};
};

bool write(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  if (out.flush()) return true;
  fmt::print(stderr, "tidemill: {} cannot be written; name a file in a folder that exists\n", file);
  return false;
}

int run(Settings& s) {
  s.run.faults.delay = Nanoseconds(static_cast<int64_t>(s.delay_us * 1000));
  s.run.faults.delay_jitter = s.run.faults.delay / 2;
  Result<cosim_run::Result> result = [&] {
    Bar bar(s.run.transactions);
    return cosim_run::run(s.run, [&bar](const cosim_run::Progress& p) { bar.show(p); });
  }();
  if (!result) {
    fmt::print(stderr, "tidemill: {}\n", result.error().message);
    return kUsageError;
  }
  if (s.json == "-")
    fmt::print("{}\n", cosim_run::json_report(s.run, *result).dump(2));
  else
    fmt::print("{}", cosim_run::terminal_summary(s.run, *result));
  bool written = true;
  if (!s.json.empty() && s.json != "-") written &= write(s.json, cosim_run::json_report(s.run, *result).dump(2) + "\n");
  if (!s.report.empty()) {
    written &= write(s.report, cosim_run::html_report(s.run, *result));
    if (written && s.json != "-") fmt::print("charts: {}\n", s.report);
  }
  return !written ? kUsageError : result->passed() ? kSuccess : kFailure;
}

}  // namespace

void add_cosim(CLI::App& app, int& status) {
  const auto settings = std::make_shared<Settings>();
  cosim_run::Options& o = settings->run;
  CLI::App* command = app.add_subcommand("cosim", "Co-simulate the RTL with real traffic and check every rule");
  command->footer(kFooter);
  command->add_option("--seed", o.seed, "Draws another run")->capture_default_str();
  command->add_option("--transactions", o.transactions, "Sends to post")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_option("--fabric", o.nodes, "Channel adapters of the fabric")->capture_default_str()->check(CLI::Range(1u, 4096u));
  command->add_option("--agents", o.agents, "Agents on node 0")->capture_default_str()->check(CLI::Range(1u, 500u));
  command->add_option("--depth", o.depth, "Sends outstanding of each agent")->capture_default_str()->check(CLI::Range(1u, 4096u));
  command->add_option("--window", o.window, "Window of each agent; 0 for the default")->capture_default_str();
  command->add_option("--idle", o.idle_ns, "Nanoseconds between two sends of an agent")->capture_default_str();
  for (const auto& [name, value, text] :
       {std::tuple{"--loss", &o.faults.loss, "MADs lost"}, {"--dup", &o.faults.duplication, "MADs that come twice"},
        {"--reorder", &o.faults.reordering, "MADs overtaken"}, {"--stale", &o.faults.stale, "old responses that come again"},
        {"--forged", &o.faults.forged, "responses nobody sent"}, {"--stall", &o.stall, "cycles in which a handshake is withheld, on every port"},
        {"--axi-errors", &o.axi_errors, "accesses to host memory that fail"}})
    command->add_option(name, *value, fmt::format("Share of {}", text))->capture_default_str()->check(CLI::Range(0.0, 1.0))->group("Faults");
  command->add_option("--delay", settings->delay_us, "Microseconds a MAD takes one way")->capture_default_str()->check(CLI::Range(0.0, 1e6))->group("Faults");
  command->add_option("--trace", o.trace, "Write a waveform (FST) to FILE")->type_name("FILE")->group("Output");
  command->add_option("--trace-from", o.trace_from, "First cycle of the waveform")->group("Output");
  command->add_option("--report", settings->report, "Write a page of charts to FILE")->type_name("FILE")->group("Output");
  command->add_option("--json", settings->json, "Write everything counted to FILE, - for standard output")->type_name("FILE")->group("Output");
  command->callback([settings, &status] { status = run(*settings); });
}

}  // namespace tidemill::tool
