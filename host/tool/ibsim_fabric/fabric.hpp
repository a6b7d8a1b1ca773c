// SPDX-License-Identifier: Apache-2.0
/// An ibsim of our own, and programs on it by the drop-in libibumad.
#pragma once
#include <csignal>
#include <map>
#include <memory>
#include <string>

#include "ibsim_fabric/net_file.hpp"
#include "ibsim_fabric/process.hpp"

namespace tidemill::ibsim_fabric {

/// The folder of the drop-in libibumad.so.3: beside this program, or where it was installed.
Result<std::string> umad_folder();

/// A folder for logs and tables, gone with this unless kept.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& name);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  void keep() { keep_ = true; }

 private:
  std::string path_;
  bool keep_ = false;
};

/// How a program comes to the fabric.
struct Seat {
  std::string socket;  ///< ibsim's name.
  std::string host;
  std::string device = "soft:";
  std::string trace{};  ///< Prefix of trace files.
  std::string stats{};  ///< File for its counts.
};
std::map<std::string, std::string> environment(const Seat& seat, const std::string& umad);

/// Starts ibsim on a net file under a name of its own and waits until it answers.
class IbsimProcess {
 public:
  static Result<IbsimProcess> start(const NetFile& net, const std::string& output);
  const std::string& socket() const { return socket_; }
  bool running() { return process_.running(); }
  pid_t pid() const { return process_.pid(); }
  /// A command on its console.
  void command(const std::string& line) const { process_.type(line); }
  void kill() { process_.signal(SIGKILL); }

 private:
  Process process_;
  std::string socket_;
};

/// opensm on a host of the fabric.
class SubnetManager {
 public:
  /// `variables`: its environment(). Its tables and logs go to `work`. `most_smps` requests at once; 0: all of them,
  /// for arbitration is the device's business. It runs in `folder`, by default where this program does.
  static Result<SubnetManager> start(std::map<std::string, std::string> variables, const WorkFolder& work,
                                     unsigned most_smps = 0, const std::string& folder = {});
  bool running() { return process_.running(); }
  /// Its log has said that the subnet is up.
  bool up() const;
  void terminate() { process_.terminate(); }

 private:
  Process process_;
  std::string log_;
};

/// "sent 121, matched 120, retried 0, timed out 0" of a stats file; empty if there is none.
std::string describe_counts(const std::string& stats_file);

}  // namespace tidemill::ibsim_fabric
