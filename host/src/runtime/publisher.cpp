// SPDX-License-Identifier: Apache-2.0
#include "runtime/publisher.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "environment.hpp"
#include "fmt/format.h"

namespace tidemill::detail {
namespace {

constexpr std::chrono::seconds kInterval{1};

}  // namespace

Result<std::unique_ptr<Publisher>> Publisher::from_environment() {
  const std::string path = environment("TIDEMILL_METRICS");
  if (path.empty()) return std::unique_ptr<Publisher>();
  std::unique_ptr<Publisher> publisher(new Publisher(path));
  if (!publisher->write(""))
    return Error{Errc::file_failed,
                 fmt::format("TIDEMILL_METRICS: '{}' cannot be written; name a file in a folder that exists", path)};
  return publisher;
}

Publisher::Publisher(std::string path)
    : process_(getpid()), path_(std::move(path)), draft_(fmt::format("{}.{}", path_, process_)) {}

Publisher::~Publisher() {
  if (getpid() != process_) return;
  std::remove(draft_.c_str());
  std::remove(path_.c_str());
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
  return out && std::rename(draft_.c_str(), path_.c_str()) == 0;
}

}  // namespace tidemill::detail
