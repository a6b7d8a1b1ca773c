// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <unistd.h>

#include <atomic>
#include <map>
#include <shared_mutex>

namespace tidemill::umad {
namespace {

/// Never destroyed: threads of the program may come here until the very end.
struct Files {
  std::shared_mutex mutex;
  std::map<int, std::shared_ptr<PortFile>> by_fd;
  pid_t owner = ::getpid();
};

/// A forked child has none: those of its parent end with threads that it does not have, and are left as they are.
Files& files() {
  static std::atomic<Files*> current{new Files};
  Files* f = current.load();
  if (f->owner == ::getpid()) return *f;
  auto* const own = new Files;
  if (current.compare_exchange_strong(f, own)) return *own;
  delete own;
  return *f;
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
