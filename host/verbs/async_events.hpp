// SPDX-License-Identifier: Apache-2.0
/// What an asynchronous event of the device means to a wire. Source: IBA 11.6.3.
#pragma once
#include <infiniband/verbs.h>

#include <cstdint>

namespace tidemill::verbs {

enum class Meaning : uint8_t {
  nothing,
  link_lost,
  link_back,
  addresses_changed,
  queue_pair_failed,  ///< Recovers.
  removed,            ///< The device, or what cannot be made again.
};

/// Events of another port or queue pair mean nothing.
Meaning meaning_of(const ibv_async_event& event, uint8_t port, const ibv_qp* qp);

}  // namespace tidemill::verbs
