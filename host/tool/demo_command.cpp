// SPDX-License-Identifier: Apache-2.0
#include "demo_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>

#include "fabric_run/tables.hpp"

namespace tidemill::tool {
namespace {

constexpr const char* kDemoFooter = R"(Examples:
  tidemill demo                              100,000 transactions, 5 % loss, virtual time
  tidemill demo --loss 0.3 --seed 7          a bad fabric, another run
  tidemill demo --timeline demo.json         open it in ui.perfetto.dev
  tidemill demo --capture demo.pcapng        open it in Wireshark
  tidemill demo --real-time --nodes 8        on the wall clock

The same options repeat the same run. Exit status: 0 if every accepted send completed, once.)";
constexpr const char* kStatsFooter = R"(Examples:
  tidemill stats                             every counter after 20,000 transactions
  tidemill stats --transactions 1000 --json -    the same as JSON on standard output)";

struct Settings {
  FabricRunOptions run;
  bool real_time = false;
  std::string json;
};

/// A line that is drawn over on a terminal; nothing elsewhere, where the summary says it all.
class Bar {
 public:
  explicit Bar(uint64_t goal) : goal_(goal), terminal_(isatty(STDERR_FILENO) != 0) {}
  void show(uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    const auto filled = static_cast<unsigned>(goal_ == 0 ? 40 : done * 40 / goal_);
    std::string line;
    for (unsigned i = 0; i < 40; ++i) line += i < filled ? "█" : "░";
    const double seconds = std::chrono::duration<double>(now - start_).count();
    fmt::print(stderr, "\r{} {}/{} transactions, {:.0f} k/s ", line, done, goal_, seconds > 0 ? static_cast<double>(done) / seconds / 1e3 : 0);
  }
  ~Bar() {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  uint64_t goal_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), next_{};
};

void add_common(CLI::App& command, Settings& s) {
  FabricRunOptions& o = s.run;
  command.add_option("--transactions", o.transactions, "How many sends")->capture_default_str()->check(CLI::PositiveNumber);
  command.add_option("--device", o.device, "Device URI")->capture_default_str();
  command.add_option("--nodes", o.nodes, "Channel adapters of the fabric")->capture_default_str()->check(CLI::Range(1u, 4096u));
  command.add_option("--agents", o.agents, "Agents on node 0")->capture_default_str()->check(CLI::Range(1u, 1024u));
  command.add_option("--depth", o.depth, "Sends outstanding of each agent")->capture_default_str()->check(CLI::Range(1u, 1024u));
  command.add_option("--seed", o.seed, "Of everything random")->capture_default_str();
  for (const auto& [name, value, text] :
       {std::tuple{"--loss", &o.faults.loss, "MADs lost"}, {"--dup", &o.faults.duplication, "MADs that come twice"},
        {"--reorder", &o.faults.reordering, "MADs overtaken"}, {"--stale", &o.faults.stale, "old responses that come again"},
        {"--forged", &o.faults.forged, "responses nobody sent"}})
    command.add_option(name, *value, fmt::format("Share of {}", text))->capture_default_str()->check(CLI::Range(0.0, 1.0));
  command.add_flag("--real-time", s.real_time, "On the wall clock instead of virtual time");
  command.add_option("--json", s.json, "Write the counters to this file, - for standard output");
}

int run(Settings& s, bool with_counters) {
  s.run.virtual_time = !s.real_time;
  Result<FabricRunResult> result = [&] {
    Bar bar(s.run.transactions);
    return run_on_fabric(s.run, [&bar](uint64_t done) { bar.show(done); });
  }();
  if (!result) {
    fmt::print(stderr, "tidemill: {}\n", result.error().message);
    return result.code() == Errc::bad_uri || result.code() == Errc::unknown_device || result.code() == Errc::bad_option ? kUsageError
                                                                                                                         : kFailure;
  }
  if (s.json != "-") {
    fmt::print("{}", summary(s.run, *result));
    if (with_counters) fmt::print("\n{}", counters(*result));
  }
  if (s.json == "-") {
    fmt::print("{}\n", to_json(s.run, *result).dump(2));
  } else if (!s.json.empty()) {
    std::ofstream file(s.json);
    file << to_json(s.run, *result).dump(2) << '\n';
    if (!file.flush()) {
      fmt::print(stderr, "tidemill: {} cannot be written; name a file in a folder that exists\n", s.json);
      return kUsageError;
    }
  }
  return result->accepted == result->completed && result->accepted == s.run.transactions ? kSuccess : kFailure;
}

}  // namespace

void add_demo(CLI::App& app, int& status) {
  auto settings = std::make_shared<Settings>();
  settings->run.faults = {.loss = 0.05, .duplication = 0.01, .reordering = 0.02, .stale = 0.01, .forged = 0.01};
  CLI::App* command = app.add_subcommand("demo", "100,000 transactions over a lossy fabric of 64 nodes");
  add_common(*command, *settings);
  command->add_option("--timeline", settings->run.timeline, "Write a Chrome trace to this file");
  command->add_option("--capture", settings->run.capture, "Write the MADs on the wire to this pcapng file");
  command->footer(kDemoFooter);
  command->callback([settings, &status] { status = run(*settings, false); });
}

void add_stats(CLI::App& app, int& status) {
  auto settings = std::make_shared<Settings>();
  settings->run.transactions = 20'000;
  settings->run.faults = {.loss = 0.05, .duplication = 0.01};
  CLI::App* command = app.add_subcommand("stats", "The same traffic, and every counter of port, classes and agents");
  add_common(*command, *settings);
  command->footer(kStatsFooter);
  command->callback([settings, &status] { status = run(*settings, true); });
}

}  // namespace tidemill::tool
