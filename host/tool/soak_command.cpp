// SPDX-License-Identifier: Apache-2.0
#include "soak_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "soak/progress.hpp"
#include "soak/report.hpp"
#include "soak/run.hpp"

namespace tidemill::tool {
namespace {

constexpr const char* kFooter = R"(Examples:
  tidemill soak                                   a million sends, seed 1
  tidemill soak --seed 7 --report soak.html       another run, with a page of charts
  tidemill soak --loss 0.5 --dup 0.2 --wire-error 0.01    a bad fabric
  tidemill soak --size tiny --banks 1 --outstanding 64    everything full all the time
  tidemill soak --seconds 3600                    for an hour
  tidemill soak --unbounded                       until Ctrl-C

Every option but --seconds and --unbounded decides what happens, tick by tick: the same
options repeat the same run on any machine. A run that fails names the rule that broke
and the one command that repeats it. Exit status: 0 passed, 1 a rule broke, 2 usage.)";

/// Set by Ctrl-C: no new sends, let the outstanding ones end, report.
volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

struct Settings {
  soak::Options options;
  double seconds = 0;
  bool unbounded = false;
  std::string size = name_of(soak::Size::card);
  std::string json;
  std::string report;
};

CLI::Validator rate() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= 0 && value <= 1) return {};
        return fmt::format("{} is no rate: give a probability from 0 to 1, for example 0.05", text);
      },
      "0..1");
}

CLI::Validator power_of_two(uint32_t most) {
  return CLI::Validator(
      [most](std::string& text) -> std::string {
        uint32_t value = 0;
        if (text.starts_with("-") || !CLI::detail::lexical_cast(text, value) || value == 0 || value > most)
          return fmt::format("{} is out of range: give a power of two from 1 to {}", text, most);
        if (std::has_single_bit(value)) return {};
        return fmt::format("{} is no power of two: give {} or {}", text, std::bit_floor(value), std::bit_ceil(value));
      },
      fmt::format("1..{}, a power of two", most));
}

CLI::Validator duration() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value > 0) return {};
        return fmt::format("{} is no duration: give seconds above 0, for example 60", text);
      },
      "above 0");
}

CLI::Validator size() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        return text == "card" || text == "tiny" ? std::string{} : fmt::format("{} is no size: give card or tiny", text);
      },
      "card|tiny");
}

CLI::Validator between(uint64_t low, uint64_t high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        uint64_t value = 0;
        const bool positive = !text.starts_with("-");  // else it would be taken modulo 2^64
        if (positive && CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return {};
        return fmt::format("{} is out of range: give a whole number from {} to {}", text, low, high);
      },
      fmt::format("{}..{}", low, high));
}

/// Opens a file to be written at the end, so that a wrong name shows at the start.
void check_writable(const char* option, const std::string& path) {
  if (path.empty()) return;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(folder, ignored))
    throw UsageError(fmt::format("{}: there is no folder {}; make it or name another file", option, folder.string()));
  if (!std::ofstream(path, std::ios::app))
    throw UsageError(fmt::format("{}: cannot write {}; name another file", option, path));
}

int soak_and_report(const Settings& settings, const soak::EngineMaker& make_engine) {
  check_writable("--json", settings.json);
  check_writable("--report", settings.report);
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const bool bounded = !settings.unbounded && settings.seconds == 0;

  interrupted = 0;
  const auto previous = std::signal(SIGINT, interrupt);
  soak::Progress progress(stdout, terminal,
                          {.sends = bounded ? settings.options.transactions : 0,
                           .time = std::chrono::duration<double>(settings.seconds)});
  const soak::Hooks hooks{
      .stop = [&] { return interrupted != 0 || (settings.seconds > 0 && progress.seconds() >= settings.seconds); },
      .progress = [&](const soak::Tally& tally, uint32_t) { progress.update(tally); },
      .make_engine = make_engine};
  const soak::Result result = soak::run(settings.options, hooks);
  const soak::Report report{result, progress.seconds()};
  progress.done();
  std::signal(SIGINT, previous);

  const bool plain = std::getenv("NO_COLOR") != nullptr;  // NOLINT(concurrency-mt-unsafe): no thread changes it
  fmt::print("{}", soak::terminal_summary(report, terminal && !plain));
  if (!settings.json.empty()) std::ofstream(settings.json) << soak::json_report(report);
  if (!settings.report.empty()) {
    std::ofstream(settings.report) << soak::html_report(report);
    fmt::print("charts: {}\n", settings.report);
  }
  return result.passed() ? kSuccess : kFailure;
}

}  // namespace

void add_soak(CLI::App& app, int& status, const soak::EngineMaker& make_engine) {
  // Owned by the callback, which lives as long as the command line.
  const auto settings = std::make_shared<Settings>();
  soak::Options& options = settings->options;
  CLI::App* soak = app.add_subcommand("soak", "Run the engine for long under random faults and check every rule");
  soak->footer(kFooter);

  CLI::Option* transactions =
      soak->add_option("--transactions", options.transactions, "Sends to post")->check(between(1, 1'000'000'000'000))->capture_default_str();
  soak->add_option("--seed", options.seed, "Draws another run")->check(between(0, ~uint64_t{0}))->capture_default_str();
  soak->add_option("--banks", options.banks, "Banks of the engine")->check(power_of_two(soak::kMaxBanks))->capture_default_str();
  soak->add_option("--agents", options.agents, "Agents that send")->check(between(1, soak::kMaxAgents))->capture_default_str();
  soak->add_option("--outstanding", options.outstanding, "Most sends outstanding at a time")
      ->check(between(1, 65536))
      ->capture_default_str();
  soak->add_option("--size", settings->size, "card: 65,536 slots; tiny: 64 slots and a matcher for half of them, 1 to 4 banks")
      ->check(size())
      ->capture_default_str();
  CLI::Option* seconds = soak->add_option("--seconds", settings->seconds, "Post for so long instead of --transactions")
                             ->check(duration());
  CLI::Option* unbounded = soak->add_flag("--unbounded", settings->unbounded, "Post until Ctrl-C");
  seconds->excludes(transactions)->excludes(unbounded);
  unbounded->excludes(transactions);
  for (const soak::RateInfo& info : soak::kRates)
    soak->add_option(fmt::format("--{}", info.name), options.rates.*info.value, info.help)->check(rate())->capture_default_str()->group("Faults, each a probability");
  soak->add_option("--json", settings->json, "Write everything counted to FILE")->type_name("FILE")->group("Output");
  soak->add_option("--report", settings->report, "Write a page of charts to FILE")->type_name("FILE")->group("Output");

  soak->callback([settings, &status, make_engine, seconds, unbounded] {
    soak::Options& wanted = settings->options;
    wanted.size = settings->size == name_of(soak::Size::tiny) ? soak::Size::tiny : soak::Size::card;
    if (wanted.size == soak::Size::tiny && settings->options.banks > soak::kMaxTinyBanks)
      throw UsageError(fmt::format("--banks: the tiny engine has 1 to {} banks; add --banks {}", soak::kMaxTinyBanks, soak::kMaxTinyBanks));
    if (seconds->count() != 0 || unbounded->count() != 0) wanted.transactions = soak::kUnlimited;
    status = soak_and_report(*settings, make_engine);
  });
}

}  // namespace tidemill::tool
