// SPDX-License-Identifier: Apache-2.0
#include "device_node.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

namespace tidemill::verbs {

DeviceNode::DeviceNode(std::string name, const char* folder)
    : name_(std::move(name)), inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  inotify_add_watch(inotify_, folder, IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR);
}

DeviceNode::~DeviceNode() {
  if (inotify_ >= 0) close(inotify_);
}

bool DeviceNode::removed() {
  bool gone = false;
  alignas(inotify_event) std::array<char, 4096> bytes;
  for (ssize_t got = 0; (got = read(inotify_, bytes.data(), bytes.size())) > 0;) {
    for (ssize_t at = 0; at < got;) {
      inotify_event e{};
      std::memcpy(&e, bytes.data() + at, sizeof e);
      if (e.len != 0 && name_ == bytes.data() + at + sizeof e) gone = true;
      at += static_cast<ssize_t>(sizeof e + e.len);
    }
  }
  return gone;
}

}  // namespace tidemill::verbs
