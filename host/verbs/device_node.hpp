// SPDX-License-Identifier: Apache-2.0
/// Notices that the kernel removes the device. Drivers that can take a device away from its users say so with an
/// asynchronous event; the others (rdma_rxe in Linux 6.1) say nothing and wait until all have closed it, but its node
/// in /dev/infiniband goes first.
#pragma once
#include <string>

namespace tidemill::verbs {

class DeviceNode {
 public:
  /// `name`: of the node, such as uverbs0. Where the folder cannot be watched nothing is noticed.
  explicit DeviceNode(std::string name, const char* folder = "/dev/infiniband");
  ~DeviceNode();
  DeviceNode(const DeviceNode&) = delete;
  DeviceNode& operator=(const DeviceNode&) = delete;

  /// Readable when removed() may have something; -1 without inotify.
  int event_fd() const { return inotify_; }
  /// The node has gone since the last call.
  bool removed();

 private:
  std::string name_;
  int inotify_;
};

}  // namespace tidemill::verbs
