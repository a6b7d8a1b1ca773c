// SPDX-License-Identifier: Apache-2.0
#include "device_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include "device/plugin.hpp"
#include "device/uri.hpp"
#include "device_tool/card_rig.hpp"
#include "device_tool/exposition.hpp"
#include "device_tool/load.hpp"
#include "device_tool/selftest.hpp"
#include "device_tool/watch.hpp"
#include "device_tool/watched.hpp"

namespace tidemill::tool {
namespace {

using device_tool::Look;
using device_tool::Outcome;
using nlohmann::json;

constexpr const char* kFooter = R"(Examples:
  tidemill device list
  tidemill device program tidemill_u50.xclbin --device xrt:0000:3b:00.1
  tidemill device selftest --device 'xrt:0?xclbin=tidemill_emulation.xclbin'
  TIDEMILL_METRICS=/run/opensm.prom opensm &        a program that has the card
  tidemill device watch --from /run/opensm.prom     and what it does with it

A card is one process's: info, reset, stats --device and selftest want one that nobody uses.
Exit status: 0 good, 1 the device is not, 2 usage.)";

struct Settings {
  std::string device = "xrt:0";
  std::string json_file, from, xclbin;
  bool prometheus = false;
  uint64_t load = 0;
  bool watch_load = false;
  double interval = 1;
  uint64_t looks = 0;
};

int complain(const Error& e) {
  fmt::print(stderr, "tidemill: {}\n", e.message);
  return e.code == Errc::device_failed || e.code == Errc::file_failed ? kFailure : kUsageError;
}

/// Standard output for a program to read: XRT's emulation writes there as it likes, also when the process ends. What it
/// says goes to standard error from now on.
std::FILE* machine_output() {
  static std::FILE* const kept = [] {
    std::fflush(stdout);
    std::FILE* const out = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    return out;
  }();
  return kept;
}

void keep_output_clean(const Settings& s) {
  if (s.prometheus || s.json_file == "-") machine_output();
}

/// To the file of --json, - for standard output.
int print_json(const Settings& s, const json& j, int status) {
  if (s.json_file == "-") {
    fmt::print(machine_output(), "{}\n", j.dump(2));
    std::fflush(machine_output());
    return status;
  }
  std::ofstream file(s.json_file);
  file << j.dump(2) << '\n';
  if (file.flush()) return status;
  fmt::print(stderr, "tidemill: {} cannot be written; name a file in a folder that exists\n", s.json_file);
  return kUsageError;
}

bool is_soft(const Settings& s) {
  return s.device.starts_with("soft:");
}

int list(const Settings& s) {
  const auto cards = device::list_cards();
  if (!cards) {
    if (cards.code() != Errc::unknown_device) return complain(cards.error());
    fmt::print(stderr, "tidemill: {}; cards need XRT (Debian: libxrt1)\n", cards.error().message);
    return kFailure;
  }
  if (!s.json_file.empty()) {
    json all = json::array();
    for (const auto& c : cards.value()) all.push_back({{"uri", c.uri}, {"platform", c.name}, {"offline", c.offline}});
    return print_json(s, all, kSuccess);
  }
  for (const auto& c : cards.value())
    fmt::print("{:<20} {}{}\n", c.uri, c.name, c.offline ? "  (offline: it is being reset)" : "");
  if (cards.value().empty())
    fmt::print(
        "XRT finds no card in this machine. The emulated one is not listed; it is\n"
        "  xrt:0?xclbin=tidemill_emulation.xclbin\n"
        "and cosim: is the same card without XRT.\n");
  return kSuccess;
}

using Facts = std::vector<std::pair<std::string, json>>;

Facts soft_facts(const DeviceInfo& i) {
  return {{"kind", i.kind},   {"abi", fmt::format("{}.{}", i.abi_major, i.abi_minor)},
          {"slots", i.slots}, {"banks", i.banks},
          {"lanes", i.lanes}, {"registers", "none: the engine runs in this process"}};
}

Facts card_facts(device::Card& card) {
  namespace reg = abi::reg;
  Facts facts{{"kind", card.kind()}};
  for (const auto& [name, value] : card.description()) facts.emplace_back(name, value);
  const uint32_t magic = card.read(reg::magic);
  facts.emplace_back("magic", fmt::format("{:#010x}", magic));
  if (magic != abi::kMagicReset) return facts;
  // One that has just been made is still in its first reset.
  uint32_t state = card.read(reg::state);
  for (unsigned i = 0; (state & 2u) != 0 && i < 10'000; ++i) state = card.read(reg::state);
  const uint32_t version = card.read(reg::version), failure = card.read(reg::failure);
  facts.emplace_back("abi", fmt::format("{}.{}", version >> 16, version & 0xffffu));
  facts.emplace_back("slots", card.read(reg::slots));
  facts.emplace_back("banks", card.read(reg::banks));
  facts.emplace_back("lanes", card.read(reg::lanes));
  facts.emplace_back("clock khz", card.read(reg::clock_khz));
  facts.emplace_back("tick", card.read(reg::time));
  facts.emplace_back("state", (state & 2u) != 0 ? "in reset" : (state & 1u) != 0 ? "idle" : "busy");
  facts.emplace_back("failure",
                     failure < abi::kFailureCount ? abi::name_of(static_cast<abi::Failure>(failure)) : "unknown");
  if (failure != 0)
    facts.emplace_back("failure address", fmt::format("{:#x}", uint64_t{card.read(reg::failure_address_high)} << 32 |
                                                                   card.read(reg::failure_address_low)));
  return facts;
}

int print_facts(const Settings& s, const Facts& facts) {
  if (!s.json_file.empty()) {
    json j{{"uri", s.device}};
    for (const auto& [name, value] : facts) j[name] = value;
    return print_json(s, j, kSuccess);
  }
  fmt::print("{:<16} {}\n", "device", s.device);
  for (const auto& [name, value] : facts)
    fmt::print("{:<16} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  return kSuccess;
}

int info(const Settings& s) {
  if (is_soft(s)) {
    const auto opened = Device::open(s.device, {.progress = Progress::poll, .clock = {}});
    return opened ? print_facts(s, soft_facts(opened.value().info())) : complain(opened.error());
  }
  const auto card = device::open_card(s.device);
  if (!card) return complain(card.error());
  const Facts facts = card_facts(*card.value());
  const int status = print_facts(s, facts);
  if (card.value()->read(abi::reg::magic) == abi::kMagicReset) return status;
  fmt::print(stderr, "tidemill: {}: no Tidemill card answers: load its xclbin (tidemill device program)\n", s.device);
  return kFailure;
}

/// `uri` with this xclbin in place of what it names.
Result<std::string> with_xclbin(const std::string& uri, const std::string& xclbin) {
  auto parsed = device::parse_uri(uri);
  if (!parsed) return parsed.error();
  if (parsed->scheme != "xrt")
    return Error{Errc::bad_uri,
                 fmt::format("device URI '{}': only a card of XRT can be programmed; write --device xrt:0", uri)};
  std::string made = fmt::format("xrt:{}?xclbin={}", parsed->path, xclbin);
  for (const auto& [name, value] : parsed->options)
    if (name != "xclbin") made += fmt::format("&{}={}", name, value);
  return made;
}

int program(const Settings& s) {
  const auto uri = with_xclbin(s.device, s.xclbin);
  if (!uri) return complain(uri.error());
  const auto card = device::open_card(uri.value());
  if (!card) return complain(card.error());
  if (const uint32_t magic = card.value()->read(abi::reg::magic); magic != abi::kMagicReset) {
    fmt::print(stderr, "tidemill: {} is loaded, but register magic is {:#010x}, not {:#010x}: it is not Tidemill's\n",
               s.xclbin, magic, abi::kMagicReset);
    return kFailure;
  }
  const uint32_t version = card.value()->read(abi::reg::version);
  if (version >> 16 != abi::kVersionMajor) {
    fmt::print(stderr,
               "tidemill: {} is loaded, but speaks ABI {}.{} and this command {}.{}: take a bitstream of the same "
               "major version\n",
               s.xclbin, version >> 16, version & 0xffffu, abi::kVersionMajor, abi::kVersionMinor);
    return kFailure;
  }
  for (const auto& [name, value] : card.value()->description()) fmt::print("{:<16} {}\n", name, value);
  fmt::print("{:<16} {}.{}\n", "abi", version >> 16, version & 0xffffu);
  return kSuccess;
}

int reset(const Settings& s) {
  const auto card = device::open_card(s.device);
  if (!card) return complain(card.error());
  if (card.value()->read(abi::reg::magic) != abi::kMagicReset) {
    fmt::print(stderr, "tidemill: {}: no Tidemill card answers, there is nothing to reset\n", s.device);
    return kFailure;
  }
  const uint32_t failure = card.value()->read(abi::reg::failure);
  if (!device_tool::reset_card(*card.value())) {
    fmt::print(stderr, "tidemill: {}: the card does not come out of reset; program it again\n", s.device);
    return kFailure;
  }
  fmt::print("{} is reset{}\n", s.device,
             failure == 0 ? ""
                          : fmt::format("; it had stopped: {}", failure < abi::kFailureCount
                                                                    ? abi::name_of(static_cast<abi::Failure>(failure))
                                                                    : "unknown reason"));
  return kSuccess;
}

int stats(const Settings& s) {
  int status = kSuccess;
  Result<metrics::Metrics> m = [&]() -> Result<metrics::Metrics> {
    if (!s.from.empty()) {
      auto published = device_tool::read_published(s.from);
      if (!published) return published.error();
      return std::move(published->metrics);
    }
    if (s.load == 0) {
      const auto source = device_tool::card_source(s.device);
      if (!source) return source.error();
      return source.value()();
    }
    const auto load = device_tool::Load::open(s.device);
    if (!load) return load.error();
    // What was counted up to there is shown all the same: it says where they were lost.
    if (const auto stalled = load.value()->complete(s.load)) status = complain(*stalled);
    return device_tool::parse_exposition(load.value()->metrics());
  }();
  if (!m) return complain(m.error());
  if (m->sum("tidemill_card_failure") != 0) status = kFailure;
  if (s.prometheus) {
    fmt::print(machine_output(), "{}", m->exposition());
    std::fflush(machine_output());
  }
  if (!s.json_file.empty()) return print_json(s, device_tool::to_json(*m), status);
  if (!s.prometheus) fmt::print("{}", device_tool::to_table(*m));
  return status;
}

const char* word(Outcome o) {
  return o == Outcome::passed ? "ok" : o == Outcome::failed ? "FAILED" : "skipped";
}

int selftest(const Settings& s) {
  const bool quiet = s.json_file == "-";
  device_tool::SelftestHooks hooks{// Before it is tried: a crash shows in which part.
                                   .begins =
                                       [&](const std::string& part) {
                                         if (quiet) return;
                                         fmt::print("{:<15}", part);
                                         std::fflush(stdout);
                                       },
                                   .ended =
                                       [&](const device_tool::PartResult& r) {
                                         if (!quiet) fmt::print("{:<8} {}\n", word(r.outcome), r.detail);
                                       }};
  auto report = device_tool::selftest(s.device, hooks);
  if (!report) return complain(report.error());
  const auto failed = std::find_if(report->parts.begin(), report->parts.end(),
                                   [](const auto& p) { return p.outcome == Outcome::failed; });
  if (!quiet) {
    if (failed == report->parts.end())
      fmt::print("passed\n");
    else
      fmt::print("FAILED: {}\n", failed->name);
  }
  const int status = report->passed() ? kSuccess : kFailure;
  if (s.json_file.empty()) return status;
  json parts = json::array();
  for (const auto& p : report->parts)
    parts.push_back({{"part", p.name}, {"outcome", word(p.outcome)}, {"detail", p.detail}, {"seconds", p.seconds}});
  json j{{"device", report->device}, {"passed", report->passed()}, {"parts", parts}};
  if (failed != report->parts.end()) j["failed"] = failed->name;
  return print_json(s, j, status);
}

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) {
  interrupted = 1;
}

Result<std::unique_ptr<device_tool::Watched>> watched(const Settings& s) {
  if (!s.from.empty()) return device_tool::watch_published(s.from);
  return s.watch_load ? device_tool::watch_load(s.device) : device_tool::watch_card(s.device);
}

/// Until Ctrl-C, or for so many looks.
std::optional<Error> watch_on(const Settings& s, device_tool::Watched& what, device_tool::WatchView& view) {
  using std::chrono::steady_clock;
  constexpr Nanoseconds kStep = std::chrono::milliseconds(50);
  const auto interval = std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(s.interval));
  for (uint64_t looks = 0; interrupted == 0;) {
    const auto until = steady_clock::now() + interval;
    auto look = what.look(view);
    if (!look) return look.error();
    if (look->outcome == Look::Outcome::closed) {
      fmt::print(stderr, "tidemill: {}: the process has closed its device\n", s.from);
      break;
    }
    fmt::print("{}", look->text);
    std::fflush(stdout);
    if (look->outcome == Look::Outcome::nothing_new) {
      if (auto wrong = what.pass(kStep)) return wrong;
      continue;
    }
    if (s.looks != 0 && looks++ == s.looks) break;
    while (interrupted == 0 && steady_clock::now() < until)
      if (auto wrong = what.pass(std::min<Nanoseconds>(until - steady_clock::now(), kStep))) return wrong;
  }
  return std::nullopt;
}

int watch(const Settings& s) {
  auto what = watched(s);
  if (!what) return complain(what.error());
  device_tool::WatchView view(s.from.empty() ? s.device : s.from, isatty(STDOUT_FILENO) != 0);
  interrupted = 0;
  const auto before = std::signal(SIGINT, interrupt);
  auto wrong = watch_on(s, *what.value(), view);
  std::signal(SIGINT, before);
  if (!wrong) wrong = what.value()->finish();
  return wrong ? complain(*wrong) : kSuccess;
}

}  // namespace

void add_device(CLI::App& app, int& status) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* const device = app.add_subcommand("device", "Lists, programs, tests and watches cards");
  device->footer(kFooter);
  device->require_subcommand(1);
  const auto verb = [&](const char* name, const char* text, int (*run)(const Settings&), bool opens) {
    CLI::App* const sub = device->add_subcommand(name, text);
    if (opens)
      sub->add_option("--device", settings->device, "Device URI: xrt:0?xclbin=FILE, cosim:, soft:")
          ->envname("TIDEMILL_DEVICE")
          ->capture_default_str();
    sub->callback([settings, &status, run] {
      keep_output_clean(*settings);
      status = run(*settings);
    });
    return sub;
  };
  const auto add_json = [&](CLI::App* sub) {
    sub->add_option("--json", settings->json_file, "As JSON, to FILE or to standard output")
        ->type_name("[FILE]")
        ->expected(0, 1)
        ->default_str("-");
  };
  add_json(verb("list", "Cards that XRT finds in this machine", list, false));
  add_json(verb("info", "What the device is: platform, xclbin, version, sizes, state", info, true));
  verb("program", "Loads an xclbin, if it was made for this card's platform", program, true)
      ->add_option("xclbin", settings->xclbin, "The file")
      ->required();
  verb("reset", "Resets the card: it forgets everything", reset, true);
  CLI::App* const show = verb("stats", "Every counter, once", stats, true);
  add_json(show);
  show->add_flag("--prometheus", settings->prometheus, "In Prometheus's text exposition format");
  CLI::Option* const from =
      show->add_option("--from", settings->from, "What another process publishes (its TIDEMILL_METRICS)")
          ->type_name("FILE");
  show->add_option("--load", settings->load, "First send so many requests over a wire in loopback")->excludes(from);
  add_json(verb("selftest", "Tries every part and says which one fails", selftest, true));
  CLI::App* const live = verb("watch", "Rates, occupancy, timeouts and errors as they happen", watch, true);
  CLI::Option* const source =
      live->add_option("--from", settings->from, "What another process publishes (its TIDEMILL_METRICS)")
          ->type_name("FILE");
  live->add_flag("--load", settings->watch_load, "Send requests over a wire in loopback meanwhile")->excludes(source);
  live->add_option("--interval", settings->interval, "Seconds between two looks")
      ->capture_default_str()
      ->check(CLI::Range(0.05, 3600.0));
  live->add_option("--count", settings->looks, "Look so many times; 0 until Ctrl-C")->capture_default_str();
}

}  // namespace tidemill::tool
