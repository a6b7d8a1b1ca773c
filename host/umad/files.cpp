// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <map>
#include <shared_mutex>

namespace tidemill::umad {
namespace {

/// Never destroyed: threads of the program may come here until the very end.
struct Files {
  std::shared_mutex mutex;
  std::map<int, std::shared_ptr<PortFile>> by_fd;
};

Files& files() {
  static auto* const f = new Files;
  return *f;
}

}  // namespace

int add_file(std::shared_ptr<PortFile> file) {
  const std::unique_lock lock(files().mutex);
  const int fd = file->fd();
  files().by_fd[fd] = std::move(file);
  return fd;
}

std::shared_ptr<PortFile> find_file(int fd) {
  const std::shared_lock lock(files().mutex);
  const auto found = files().by_fd.find(fd);
  return found == files().by_fd.end() ? nullptr : found->second;
}

std::shared_ptr<PortFile> take_file(int fd) {
  const std::unique_lock lock(files().mutex);
  const auto found = files().by_fd.find(fd);
  if (found == files().by_fd.end()) return nullptr;
  auto file = std::move(found->second);
  files().by_fd.erase(found);
  return file;
}

}  // namespace tidemill::umad
