// SPDX-License-Identifier: Apache-2.0
/// Whose file TIDEMILL_METRICS may replace.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tidemill.hpp"

namespace tidemill::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Published : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    publish_to(file_);
  }
  void TearDown() override {
    unsetenv("TIDEMILL_METRICS");
    std::filesystem::remove_all(folder_);
  }
  static void publish_to(const std::string& file) { setenv("TIDEMILL_METRICS", file.c_str(), 1); }
  static Result<Device> open() { return Device::open("soft:", {.progress = Progress::poll}); }
  static std::string text(const std::string& file) {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  }
  void write(const std::string& what) const { std::ofstream(file_) << what; }

  std::string folder_ = ::testing::TempDir() + "tidemill_published_" + std::to_string(getpid());
  std::string file_ = folder_ + "/device.prom";
};

TEST_F(Published, EachDeviceOfAProcessHasAFile) {
  auto first = open(), second = open();
  ASSERT_TRUE(first.ok() && second.ok());
  first->poll();
  second->poll();
  const std::string other = folder_ + "/device.2.prom";
  EXPECT_THAT(text(file_), StartsWith("# HELP tidemill_device_info"));
  EXPECT_THAT(text(other), StartsWith("# HELP tidemill_device_info"));
  { const Device ends = std::move(second).value(); }
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_TRUE(std::filesystem::exists(file_));
}

TEST_F(Published, AForeignFileStaysAsItIs) {
  write("accounts of 1926\n");
  auto device = open();
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("'" + file_ + "' is nothing that Tidemill wrote"));
  EXPECT_EQ(text(file_), "accounts of 1926\n");

  publish_to("/dev/null");
  EXPECT_FALSE(open().ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(Published, TheFileOfALivingProcessStaysItsOwn) {
  const std::string parent =
      "# HELP tidemill_device_info x\ntidemill_device_info{pid=\"" + std::to_string(getppid()) + "\"} 1\n";
  write(parent);
  auto device = open();
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("is written by process " + std::to_string(getppid())));
  EXPECT_EQ(text(file_), parent);
}

TEST_F(Published, WhatADeadProcessLeftIsReplaced) {
  write("# HELP tidemill_device_info x\ntidemill_device_info{pid=\"2000000000\"} 1\n");
  auto device = open();
  ASSERT_TRUE(device.ok()) << device.error().message;
  device->poll();
  EXPECT_THAT(text(file_), HasSubstr("pid=\"" + std::to_string(getpid()) + "\""));
}

}  // namespace
}  // namespace tidemill::test
