// SPDX-License-Identifier: Apache-2.0
#include "device_node.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tidemill::verbs {
namespace {

struct DeviceNodeTest : testing::Test {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("tidemill_device_node." + std::to_string(::getpid()));
  void SetUp() override {
    std::filesystem::create_directories(folder);
    for (const char* name : {"uverbs0", "uverbs1"}) std::ofstream(folder / name).put('x');
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
};

TEST_F(DeviceNodeTest, NoticesThatItsNodeHasGone) {
  DeviceNode node("uverbs0", folder.c_str());
  EXPECT_FALSE(node.removed());
  std::filesystem::remove(folder / "uverbs0");
  pollfd fd{node.event_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&fd, 1, 1000), 1);
  EXPECT_TRUE(node.removed());
  EXPECT_FALSE(node.removed());
}

TEST_F(DeviceNodeTest, AnotherNodeIsNoneOfItsBusiness) {
  DeviceNode node("uverbs0", folder.c_str());
  std::filesystem::remove(folder / "uverbs1");
  EXPECT_FALSE(node.removed());
}

TEST_F(DeviceNodeTest, AFolderThatIsNotThereIsNoError) {
  DeviceNode node("uverbs0", "/no/such/folder");
  EXPECT_FALSE(node.removed());
}

}  // namespace
}  // namespace tidemill::verbs
