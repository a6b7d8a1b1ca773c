// SPDX-License-Identifier: Apache-2.0
#include "async_events.hpp"

#include <gtest/gtest.h>

namespace tidemill::verbs {
namespace {

ibv_async_event of_port(ibv_event_type type, int port) {
  ibv_async_event e{};
  e.event_type = type;
  e.element.port_num = port;
  return e;
}

TEST(AsyncEvents, OfOurPortAreTold) {
  EXPECT_EQ(meaning_of(of_port(IBV_EVENT_PORT_ERR, 1), 1, nullptr), Meaning::link_lost);
  EXPECT_EQ(meaning_of(of_port(IBV_EVENT_PORT_ACTIVE, 1), 1, nullptr), Meaning::link_back);
  for (const auto type :
       {IBV_EVENT_GID_CHANGE, IBV_EVENT_LID_CHANGE, IBV_EVENT_PKEY_CHANGE, IBV_EVENT_CLIENT_REREGISTER})
    EXPECT_EQ(meaning_of(of_port(type, 1), 1, nullptr), Meaning::addresses_changed);
}

TEST(AsyncEvents, OfAnotherPortMeanNothing) {
  for (const auto type : {IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE, IBV_EVENT_GID_CHANGE, IBV_EVENT_LID_CHANGE})
    EXPECT_EQ(meaning_of(of_port(type, 2), 1, nullptr), Meaning::nothing);
}

TEST(AsyncEvents, OfOurQueuePairStartItsRecovery) {
  ibv_qp ours{}, other{};
  ibv_async_event e{};
  e.event_type = IBV_EVENT_QP_FATAL;
  e.element.qp = &ours;
  EXPECT_EQ(meaning_of(e, 1, &ours), Meaning::queue_pair_failed);
  EXPECT_EQ(meaning_of(e, 1, &other), Meaning::nothing);
}

TEST(AsyncEvents, OfTheDeviceEndTheWire) {
  EXPECT_EQ(meaning_of(of_port(IBV_EVENT_DEVICE_FATAL, 0), 1, nullptr), Meaning::removed);
  EXPECT_EQ(meaning_of(of_port(IBV_EVENT_CQ_ERR, 0), 1, nullptr), Meaning::removed);
}

TEST(AsyncEvents, OthersMeanNothing) {
  for (const auto type : {IBV_EVENT_COMM_EST, IBV_EVENT_SQ_DRAINED, IBV_EVENT_SRQ_ERR, IBV_EVENT_SM_CHANGE})
    EXPECT_EQ(meaning_of(of_port(type, 1), 1, nullptr), Meaning::nothing);
}

}  // namespace
}  // namespace tidemill::verbs
