// SPDX-License-Identifier: Apache-2.0
#include "async_events.hpp"

namespace tidemill::verbs {

Meaning meaning_of(const ibv_async_event& event, uint8_t port, const ibv_qp* qp) {
  const auto here = [&](Meaning m) { return event.element.port_num == port ? m : Meaning::nothing; };
  switch (event.event_type) {
    case IBV_EVENT_PORT_ERR:
      return here(Meaning::link_lost);
    case IBV_EVENT_PORT_ACTIVE:
      return here(Meaning::link_back);
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
      return here(Meaning::addresses_changed);
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      return event.element.qp == qp ? Meaning::queue_pair_failed : Meaning::nothing;
    case IBV_EVENT_CQ_ERR:  // completions were lost: no book can be kept any more
    case IBV_EVENT_DEVICE_FATAL:
      return Meaning::removed;
    default:
      return Meaning::nothing;
  }
}

}  // namespace tidemill::verbs
