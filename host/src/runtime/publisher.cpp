// SPDX-License-Identifier: Apache-2.0
#include "runtime/publisher.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>

#include "environment.hpp"
#include "fmt/format.h"

namespace tidemill::detail {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds kInterval{1};
/// How every text starts, so that we know our own files.
constexpr std::string_view kFirstWords = "# HELP tidemill_";

/// The files that devices of this process write.
std::mutex taken_mutex;
std::set<std::string> taken;

/// Of several devices in a process each has a file: `a.prom`, `a.2.prom`, `a.3.prom`.
std::string take(const std::string& path) {
  const std::lock_guard lock(taken_mutex);
  const fs::path first(path);
  std::string mine = path;
  for (unsigned n = 2; !taken.insert(mine).second; ++n)
    mine =
        fs::path(first).replace_filename(fmt::format("{}.{}{}", first.stem().string(), n, first.extension().string()));
  return mine;
}

void give_back(const std::string& path) {
  const std::lock_guard lock(taken_mutex);
  taken.erase(path);
}

/// The process a text of ours says it is from.
std::optional<pid_t> writer_of(std::string_view text) {
  constexpr std::string_view kLabel = "pid=\"";
  const auto at = text.find(kLabel);
  if (at == std::string_view::npos) return {};
  return static_cast<pid_t>(std::strtol(std::string(text.substr(at + kLabel.size(), 12)).c_str(), nullptr, 10));
}

/// Why a file must not be replaced; empty if it may.
std::string protest(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status)) return {};
  constexpr std::string_view kForeign = "is nothing that Tidemill wrote and stays as it is; name another file";
  if (!fs::is_regular_file(status)) return std::string(kForeign);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string was = text.str();
  if (!was.starts_with(kFirstWords)) return was.empty() ? std::string() : std::string(kForeign);
  const auto writer = writer_of(was);
  if (writer && *writer != getpid() && kill(*writer, 0) == 0)
    return fmt::format("is written by process {}; name another file", *writer);
  return {};
}

}  // namespace

Result<std::unique_ptr<Publisher>> Publisher::from_environment() {
  const std::string path = environment("TIDEMILL_METRICS");
  if (path.empty()) return std::unique_ptr<Publisher>();
  std::unique_ptr<Publisher> publisher(new Publisher(take(path)));
  std::string why = protest(publisher->path_);
  if (why.empty()) {
    publisher->owns_ = publisher->write("");
    if (publisher->owns_) return publisher;
    why = "cannot be written; name a file in a folder that exists";
  }
  return Error{Errc::file_failed, fmt::format("TIDEMILL_METRICS: '{}' {}", publisher->path_, why)};
}

Publisher::Publisher(std::string path)
    : process_(getpid()), path_(std::move(path)), draft_(fmt::format("{}.{}", path_, process_)) {}

Publisher::~Publisher() {
  if (getpid() != process_) return;
  if (owns_) std::remove(path_.c_str());
  give_back(path_);
}

Nanoseconds Publisher::due_in() const {
  return std::max<Nanoseconds>(next_ - std::chrono::steady_clock::now(), Nanoseconds(0));
}

void Publisher::publish(const std::string& text) {
  next_ = std::chrono::steady_clock::now() + kInterval;
  write(text);  // the next one may find room again
}

bool Publisher::write(const std::string& text) const {
  std::ofstream out(draft_);
  out << text;
  out.close();
  if (out && std::rename(draft_.c_str(), path_.c_str()) == 0) return true;
  std::remove(draft_.c_str());
  return false;
}

}  // namespace tidemill::detail
