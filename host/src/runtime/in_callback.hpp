// SPDX-License-Identifier: Apache-2.0
/// Knows, for this thread, in whose callbacks it is: what must not wait for a callback asks here.
#pragma once

namespace tidemill::detail {

class DeviceState;

class InCallback {
 public:
  explicit InCallback(const DeviceState* device) : device_(device), outer_(innermost_) { innermost_ = this; }
  ~InCallback() { innermost_ = outer_; }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

  static bool of(const DeviceState* device) {
    for (const InCallback* at = innermost_; at != nullptr; at = at->outer_)
      if (at->device_ == device) return true;
    return false;
  }

 private:
  static inline thread_local const InCallback* innermost_ = nullptr;
  const DeviceState* device_;
  const InCallback* outer_;
};

}  // namespace tidemill::detail
