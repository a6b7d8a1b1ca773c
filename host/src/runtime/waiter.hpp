// SPDX-License-Identifier: Apache-2.0
/// Who waits for one send instead of the agent's handlers: a blocked call or a suspended coroutine.
#pragma once
#include <optional>
#include <vector>

#include "tidemill/agent.hpp"

namespace tidemill::detail {

/// Called where callbacks run; completed() is the last touch.
class Waiter {
 public:
  void received(const Received& r) {
    response_.emplace(r.mad);
    from_ = r.from;
    if (r.message.size() > kMadBytes) message_.assign(r.message.begin(), r.message.end());
  }
  virtual void completed(const SendCompletion& c) = 0;

 protected:
  ~Waiter() = default;
  Result<Response> result(const SendCompletion& c) const;

  std::optional<Mad> response_;
  Address from_;
  std::vector<std::byte> message_;
};

}  // namespace tidemill::detail
