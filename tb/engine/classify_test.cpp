// SPDX-License-Identifier: Apache-2.0
/// What counts as a response.
#include "hls/classify.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace tidemill::test {
namespace {

using hls::is_response;
constexpr uint8_t kGet = 0x01, kSet = 0x02, kSend = 0x03, kTrap = 0x05, kTrapRepress = 0x07, kGetResp = 0x81;
constexpr uint8_t kClassSubnAdm = 0x03, kClassBm = 0x05, kClassCm = 0x07;

TEST(Classify, EveryMethodWithTheResponseBitIsAResponse) {
  for (unsigned method = 0x80; method < 0x100; ++method)
    EXPECT_TRUE(is_response(kClassSubnAdm, static_cast<uint8_t>(method), 0)) << method;
  EXPECT_TRUE(is_response(kClassSubnAdm, kGetResp, 0));
}

TEST(Classify, TrapRepressIsAResponseWithoutTheBit) {
  for (unsigned mgmt_class = 0; mgmt_class < 0x100; ++mgmt_class)
    EXPECT_TRUE(is_response(static_cast<uint8_t>(mgmt_class), kTrapRepress, 0)) << mgmt_class;
}

TEST(Classify, OfTheBmClassTheAttributeModifierDecides) {
  EXPECT_FALSE(is_response(kClassBm, kSend, 0));
  EXPECT_TRUE(is_response(kClassBm, kSend, 1));
  EXPECT_FALSE(is_response(kClassBm, kSend, 2));
  EXPECT_TRUE(is_response(kClassBm, kSend, 0x80000001u));
  EXPECT_TRUE(is_response(kClassBm, kGetResp, 0));
}

TEST(Classify, NothingElseIsAResponse) {
  for (unsigned method = 0; method < 0x80; ++method)
    for (unsigned mgmt_class = 0; mgmt_class < 0x100; ++mgmt_class) {
      if (method == kTrapRepress || mgmt_class == kClassBm) continue;
      EXPECT_FALSE(is_response(static_cast<uint8_t>(mgmt_class), static_cast<uint8_t>(method), 1));
    }
  for (const uint8_t method : {kGet, kSet, kTrap}) EXPECT_FALSE(is_response(kClassSubnAdm, method, 0));
}

TEST(Classify, CmMessagesAreNeverResponses) {
  for (const uint32_t modifier : {0u, 1u, 0xffffffffu}) EXPECT_FALSE(is_response(kClassCm, kSend, modifier));
}

}  // namespace
}  // namespace tidemill::test
