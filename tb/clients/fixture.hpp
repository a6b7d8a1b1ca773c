// SPDX-License-Identifier: Apache-2.0
/// A fabric of ibsim's and programs on it, through our libibumad.
#pragma once
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>

#include "ibsim_fabric/fabric.hpp"
#include "tb/clients/trace_board.hpp"
#include "tidemill.hpp"

namespace tidemill::test {

using namespace std::chrono_literals;

inline std::string read_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::size_t count_matches(const std::string& text, const std::string& pattern) {
  const std::regex re(pattern);
  return static_cast<std::size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), re), {}));
}

struct Ran {
  int status = -1;
  std::string output;
  std::chrono::duration<double> took{0};
  nlohmann::json stats;

  uint64_t port(const char* name) const { return stats.is_object() ? stats["port"].value(name, uint64_t{0}) : 0; }
  uint64_t completed(const char* status_name) const {
    return stats.is_object() ? stats["port"]["completed"].value(status_name, uint64_t{0}) : 0;
  }
};
inline void PrintTo(const Ran& r, std::ostream* out) {
  *out << "status " << r.status << " after " << r.took.count() << " s:\n" << r.output;
}

class Clients : public testing::Test {
 protected:
  static std::string two_switches() { return TIDEMILL_CLIENT_NETS "/two_switches.net"; }
  static bool installed(const std::string& program) {
    std::istringstream path(std::getenv("PATH"));
    for (std::string folder; std::getline(path, folder, ':');)
      if (std::filesystem::exists(folder + "/" + program)) return true;
    return std::filesystem::exists("/usr/sbin/" + program);
  }
  /// True, and the test skipped (failed where everything must be there), if one is missing.
  static bool lacks(const std::vector<std::string>& programs) {
    for (const std::string& p : programs) {
      if (installed(p)) continue;
      if (std::getenv("TIDEMILL_CI") != nullptr)
        ADD_FAILURE() << p << " is not installed (Debian: ibsim-utils opensm infiniband-diags)";
      else
        std::cout << "SKIPPED: " << p << " is not installed (Debian: ibsim-utils opensm infiniband-diags)\n";
      return true;
    }
    return false;
  }

  void start_ibsim(const std::string& net) {
    net_ = ibsim_fabric::NetFile::read(net).value();
    auto started = ibsim_fabric::IbsimProcess::start(net_, work_.file("ibsim.log"));
    ASSERT_TRUE(started.ok()) << started.error().message << "\n" << read_file(work_.file("ibsim.log"));
    ibsim_.emplace(std::move(started).value());
  }
  /// On the first host.
  void start_opensm(const std::string& device = "soft:", std::chrono::seconds limit = 60s) {
    auto started = ibsim_fabric::SubnetManager::start(ibsim_fabric::environment({.socket = ibsim_->socket(),
                                                                                 .host = net_.hosts.front(),
                                                                                 .device = device,
                                                                                 .trace = trace("opensm"),
                                                                                 .stats = work_.file("opensm.json")},
                                                                                TIDEMILL_UMAD_FOLDER),
                                                      work_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    opensm_.emplace(std::move(started).value());
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!opensm_->up() && opensm_->running() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(20ms);
    ASSERT_TRUE(opensm_->up()) << read_file(work_.file("opensm.log")) << read_file(work_.file("opensm.out"));
  }
  std::string trace(const std::string& name) const { return scoreboard_ ? work_.file(name + "_trace") : std::string(); }
  /// Of a program that has ended by itself.
  void judge(const std::string& name) const {
    if (!scoreboard_) return;
    const TraceBoard board(nlohmann::json::parse(read_file(trace(name) + ".json")));
    for (const std::string& what : board.violations()) ADD_FAILURE() << name << ", " << what;
  }
  nlohmann::json stop_opensm() {
    opensm_->terminate();
    opensm_.reset();
    judge("opensm");
    return nlohmann::json::parse(read_file(work_.file("opensm.json")), nullptr, false);
  }

  ibsim_fabric::Process launch(const std::string& host, std::vector<std::string> arguments, const std::string& name,
                               const std::string& device = "soft:") {
    const ibsim_fabric::Seat seat{.socket = ibsim_->socket(),
                                  .host = host,
                                  .device = device,
                                  .trace = trace(name),
                                  .stats = work_.file(name + ".json")};
    auto started = ibsim_fabric::Process::start({.arguments = std::move(arguments),
                                                 .environment = ibsim_fabric::environment(seat, TIDEMILL_UMAD_FOLDER),
                                                 .output = work_.file(name + ".out")});
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    return started.ok() ? std::move(started).value() : ibsim_fabric::Process();
  }
  /// Runs a program to its end; one that takes longer than `limit` is killed and has status 124.
  Ran run(const std::string& host, std::vector<std::string> arguments, std::chrono::seconds limit = 30s,
          const std::string& device = "soft:") {
    const std::string name = "run" + std::to_string(runs_++);
    const auto start = std::chrono::steady_clock::now();
    auto process = launch(host, std::move(arguments), name, device);
    while (process.running() && std::chrono::steady_clock::now() - start < limit) std::this_thread::sleep_for(2ms);
    Ran ran;
    ran.took = std::chrono::steady_clock::now() - start;
    if (process.running()) {
      process.signal(SIGKILL);
      process.wait();
      ran.status = 124;
    } else {
      ran.status = process.wait().value_or(-1);
      judge(name);
    }
    ran.output = read_file(work_.file(name + ".out"));
    ran.stats = nlohmann::json::parse(read_file(work_.file(name + ".json")), nullptr, false);
    return ran;
  }
  /// LID of a host, as the subnet administrator tells it.
  unsigned lid_of(const std::string& asker, const std::string& host) {
    const Ran r = run(asker, {"saquery", "NR"});
    const std::regex record("lid\\.+(\\d+)[^]*?NodeDescription\\.+(\\S+)");
    for (auto at = std::sregex_iterator(r.output.begin(), r.output.end(), record); at != std::sregex_iterator(); ++at)
      if ((*at)[2] == host) return static_cast<unsigned>(std::stoul((*at)[1]));
    ADD_FAILURE() << "no node record of " << host << "\n" << r.output;
    return 0;
  }

  ibsim_fabric::WorkFolder work_{"tidemill-clients"};
  ibsim_fabric::NetFile net_;
  std::optional<ibsim_fabric::IbsimProcess> ibsim_;
  std::optional<ibsim_fabric::SubnetManager> opensm_;
  int runs_ = 0;
  bool scoreboard_ = true;  ///< Programs that end by themselves are traced, and their traces judged.
};

#define NEEDS(...) \
  if (lacks({__VA_ARGS__})) GTEST_SKIP()

}  // namespace tidemill::test
