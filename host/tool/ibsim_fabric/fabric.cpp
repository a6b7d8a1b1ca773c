// SPDX-License-Identifier: Apache-2.0
#include "ibsim_fabric/fabric.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "fmt/format.h"
#include "tidemill/ibsim.hpp"
#include "tidemill/send.hpp"

namespace tidemill::ibsim_fabric {

namespace fs = std::filesystem;

Result<std::string> umad_folder() {
  std::error_code none;
  const fs::path self = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const fs::path& place : {self / "umad", self / "../umad", fs::path(TIDEMILL_UMAD_INSTALLED)})
    if (fs::exists(place / "libibumad.so.3", none)) return fs::weakly_canonical(place, none).string();
  return Error{
      Errc::file_failed,
      fmt::format(
          "Tidemill's libibumad.so.3 is neither beside {} nor in {}; build the target tidemill_libibumad, or install it",
          self.string(), TIDEMILL_UMAD_INSTALLED)};
}

WorkFolder::WorkFolder(const std::string& name) {
  std::error_code none;
  std::string pattern = (fs::temp_directory_path(none) / (name + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

WorkFolder::~WorkFolder() {
  std::error_code none;
  if (!keep_ && !path_.empty()) fs::remove_all(path_, none);
}

std::map<std::string, std::string> environment(const Seat& seat, const std::string& umad) {
  const char* const before =
      std::getenv("LD_LIBRARY_PATH");  // NOLINT(concurrency-mt-unsafe): no thread of ours changes it
  std::map<std::string, std::string> e{
      {"LD_LIBRARY_PATH", before != nullptr && *before != '\0' ? umad + ":" + before : umad},
      {"IBSIM_SOCKNAME", seat.socket},
      {"TIDEMILL_DEVICE", seat.device}};
  if (!seat.host.empty()) e["SIM_HOST"] = seat.host;
  if (!seat.trace.empty()) e["TIDEMILL_TRACE"] = seat.trace;
  if (!seat.stats.empty()) e["TIDEMILL_STATS"] = seat.stats;
  return e;
}

Result<IbsimProcess> IbsimProcess::start(const NetFile& net, const std::string& output) {
  IbsimProcess ibsim;
  ibsim.socket_ = fmt::format("tidemill-{}", ::getpid());
  // Its console reads standard input, and ends with it.
  auto process = Process::start({.arguments = {"ibsim", "-s", net.path},
                                 .environment = {{"IBSIM_SOCKNAME", ibsim.socket_}},
                                 .output = output,
                                 .hold_input = true});
  if (!process) return process.error();
  ibsim.process_ = std::move(process).value();
  for (int i = 0; i < 500; ++i) {
    if (!ibsim.process_.running())
      return Error{Errc::device_failed,
                   fmt::format("ibsim does not take net file '{}'; what it says is in {}", net.path, output)};
    if (Ibsim::connect({.socket = ibsim.socket_, .host = net.hosts.front()}).ok()) return ibsim;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return Error{Errc::device_failed, fmt::format("ibsim has not answered for 10 s; what it says is in {}", output)};
}

Result<SubnetManager> SubnetManager::start(std::map<std::string, std::string> variables, const WorkFolder& work,
                                           unsigned most_smps, const std::string& folder) {
  SubnetManager sm;
  sm.log_ = work.file("opensm.log");
  variables["OSM_CACHE_DIR"] = variables["OSM_TMP_DIR"] = work.path();
  variables["OSM_UMAD_MAX_PENDING"] = "20000";  // its own table must hold them all
  // Or its log tells that the subnet is up when the next page of it is full.
  const std::string configuration = work.file("opensm.conf");
  std::ofstream(configuration) << "force_log_flush TRUE\n";
  auto process = Process::start({.arguments = {"opensm", "-F", configuration, "--maxsmps", std::to_string(most_smps),
                                               "-f", sm.log_},
                                 .environment = variables,
                                 .output = work.file("opensm.out"),
                                 .folder = folder});
  if (!process) return process.error();
  sm.process_ = std::move(process).value();
  return sm;
}

bool SubnetManager::up() const {
  std::ifstream in(log_);
  for (std::string line; std::getline(in, line);)
    if (line.find("SUBNET UP") != std::string::npos) return true;
  return false;
}

std::string describe_counts(const std::string& stats_file) {
  std::ifstream in(stats_file);
  const auto j = nlohmann::json::parse(in, nullptr, false);
  if (j.is_discarded()) return {};
  const auto& port = j["port"];
  const auto count = [](const nlohmann::json& of, const char* name) { return of.value(name, uint64_t{0}); };
  std::string text = fmt::format("sent {}, matched {}, retried {}, timed out {}, unsolicited {}",
                                 count(port, "transmitted"), count(port, "matched"), count(port, "retried"),
                                 count(port["completed"], std::string(describe(SendStatus::timeout)).c_str()),
                                 count(port, "unsolicited"));
  if (const uint64_t cycles = count(j, "cycles"); cycles != 0) text += fmt::format("; {} cycles of the card", cycles);
  return text;
}

}  // namespace tidemill::ibsim_fabric
