// SPDX-License-Identifier: Apache-2.0
#include "issm_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace tidemill::umad {

Session::IssmFile::IssmFile(std::function<void(bool)> set) {
  std::error_code none;
  const auto folder = std::filesystem::temp_directory_path(none);
  if (none) return;
  std::string path = (folder / "tidemill-issm-XXXXXX").string();
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) return;
  ::close(file);
  inotify_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  if (::inotify_add_watch(inotify_, path.c_str(), IN_OPEN | IN_CLOSE) < 0) {
    ::unlink(path.c_str());
    return;
  }
  path_ = path;
  thread_ = std::thread([this, set = std::move(set)] { watch(set); });
}

Session::IssmFile::~IssmFile() {
  if (thread_.joinable()) {
    ::eventfd_write(stop_, 1);
    thread_.join();
    ::unlink(path_.c_str());
  }
  ::close(inotify_);
  ::close(stop_);
}

void Session::IssmFile::watch(const std::function<void(bool)>& set) const {
  int open = 0;
  for (;;) {
    pollfd fds[] = {{inotify_, POLLIN, 0}, {stop_, POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents != 0) return;
    alignas(inotify_event) char buffer[1024];
    const ssize_t n = ::read(inotify_, buffer, sizeof buffer);
    const int before = open;
    for (ssize_t at = 0; at < n;) {
      const auto* const e = reinterpret_cast<const inotify_event*>(buffer + at);
      open += (e->mask & IN_OPEN) != 0 ? 1 : (e->mask & IN_CLOSE) != 0 ? -1 : 0;
      at += static_cast<ssize_t>(sizeof *e + e->len);
    }
    if ((before > 0) != (open > 0)) set(open > 0);
  }
}

}  // namespace tidemill::umad
