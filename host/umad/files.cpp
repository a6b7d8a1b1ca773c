// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <map>
#include <shared_mutex>

#include "per_process.hpp"

namespace tidemill::umad {
namespace {

struct Files {
  std::shared_mutex mutex;
  std::map<int, std::shared_ptr<PortFile>> by_fd;
};

/// A forked child has none: those of its parent end with threads that it does not have, and are left as they are.
Files& files() {
  static auto* const of = new PerProcess<Files>;
  return of->get();
}

}  // namespace

int add_file(std::shared_ptr<PortFile> file) {
  Files& all = files();
  const std::unique_lock lock(all.mutex);
  const int fd = file->fd();
  all.by_fd[fd] = std::move(file);
  return fd;
}

std::shared_ptr<PortFile> find_file(int fd) {
  Files& all = files();
  const std::shared_lock lock(all.mutex);
  const auto found = all.by_fd.find(fd);
  return found == all.by_fd.end() ? nullptr : found->second;
}

void drop_files() {
  Files& all = files();
  std::map<int, std::shared_ptr<PortFile>> open;
  const std::unique_lock lock(all.mutex);
  open.swap(all.by_fd);
}

std::shared_ptr<PortFile> take_file(int fd) {
  Files& all = files();
  const std::unique_lock lock(all.mutex);
  const auto found = all.by_fd.find(fd);
  if (found == all.by_fd.end()) return nullptr;
  auto file = std::move(found->second);
  all.by_fd.erase(found);
  return file;
}

}  // namespace tidemill::umad
