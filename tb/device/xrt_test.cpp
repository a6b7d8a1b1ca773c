// SPDX-License-Identifier: Apache-2.0
/// The verbs over XRT: its cards, of which a test machine has none, and its emulation of one.
#include <gmock/gmock.h>

#include <future>
#include <nlohmann/json.hpp>

#include "tb/device/shell.hpp"

namespace tidemill::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kEmulated = "--device 'xrt:0?xclbin=" TEST_XCLBIN "'";

TEST(XrtDevice, ListsCardsAndSaysHowToSeeTheEmulatedOne) {
  const Outcome o = device("list");
  EXPECT_EQ(o.status, 0) << o.output;
  EXPECT_THAT(o.output, ::testing::AnyOf(HasSubstr("no card in this machine"), HasSubstr("xrt:")));
  EXPECT_TRUE(nlohmann::json::parse(device_output("list --json").output).is_array());
}

TEST(XrtDevice, PassesTheSelftest) {
  const Outcome o = device_output("selftest --json " + kEmulated);
  EXPECT_EQ(o.status, 0) << o.output;
  const auto json = nlohmann::json::parse(o.output);
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["parts"].size(), 17u);
  for (const auto& part : json["parts"]) EXPECT_EQ(part["outcome"], "ok") << part;
}

TEST(XrtDevice, OfAnotherAbiFailsInItsRegisters) {
  const Outcome o = device("selftest " + kEmulated, "TIDEMILL_EMULATION=version=0x00630002");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, AllOf(HasSubstr("register version says ABI 99.2"), HasSubstr("FAILED: registers"),
                              HasSubstr("not tried: the card cannot be set up")));
}

TEST(XrtDevice, IsProgrammed) {
  const Outcome o = device("program " TEST_XCLBIN);
  EXPECT_EQ(o.status, 0) << o.output;
  EXPECT_THAT(o.output, AllOf(HasSubstr("tidemill_emulation_shell_1_0"), HasSubstr("xclbin uuid")));
}

TEST(XrtDevice, TwoProcessesHaveADeviceEach) {
  const auto traffic = [] {
    return shell("'" TIDEMILL_TOOL "' demo --transactions 500 " + kEmulated + " 2>&1");
  };
  auto other = std::async(std::launch::async, traffic);
  const Outcome mine = traffic(), its = other.get();
  for (const Outcome& o : {mine, its}) {
    EXPECT_EQ(o.status, 0) << o.output;
    EXPECT_THAT(o.output, HasSubstr("accepted 500 = completed 500"));
  }
}

TEST(XrtDevice, RefusesAnXclbinOfAnotherPlatform) {
  const Outcome o = device("program " TEST_OTHER_PLATFORM);
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, AllOf(HasSubstr("the card is a 'tidemill_emulation_shell_1_0'"),
                              HasSubstr("was made for 'vendor_board_other_1_0'")));
}

TEST(XrtDevice, RefusesWhatIsNoXclbin) {
  const Outcome o = device("program '" TIDEMILL_TOOL "'");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, HasSubstr("is no xclbin"));
  EXPECT_THAT(device("info --device xrt:0", "TIDEMILL_XCLBIN=").output, HasSubstr("which xclbin?"));
}

TEST(XrtDevice, WritesNothingButMetricsToStandardOutput) {
  const Outcome o = device_output("stats --prometheus --load 64 " + kEmulated);
  EXPECT_EQ(o.status, 0);
  EXPECT_TRUE(o.output.starts_with("# HELP tidemill_device_info")) << o.output;
  EXPECT_THAT(o.output, AllOf(HasSubstr("kind=\"xrt\""), HasSubstr("\ntidemill_card_matched_total 64\n"),
                              Not(HasSubstr("INFO"))));
}

}  // namespace
}  // namespace tidemill::test
