// SPDX-License-Identifier: Apache-2.0
/// The xclbin of our writer, read back by XRT's own parser, and what opening says of one that does not fit.
#include <experimental/xrt_xclbin.h>
#include <gmock/gmock.h>
#include <xclbin.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tidemill.hpp"

namespace tidemill::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string error_of(const std::string& uri) {
  const auto device = Device::open(uri);
  return device.ok() ? "opened" : device.error().message;
}

std::string written(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(Xclbin, ReadsBackAsWritten) {
  const xrt::xclbin read{std::string(TEST_XCLBIN)};
  EXPECT_EQ(read.get_xsa_name(), "tidemill_emulation_shell_1_0");
  EXPECT_EQ(read.get_target_type(), xrt::xclbin::target_type::hw_emu);
  const auto kernels = read.get_kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].get_name(), "tidemill_shell");
  EXPECT_EQ(kernels[0].get_cus().at(0).get_base_address(), 0x1800000u);
  EXPECT_EQ(kernels[1].get_name(), "tidemill_emulation");
  EXPECT_EQ(kernels[1].get_cus().at(0).get_base_address(), 0x1810000u);
  const auto memories = read.get_mems();
  ASSERT_EQ(memories.size(), 2u);
  EXPECT_EQ(memories[1].get_tag(), "HOST[0]");
  EXPECT_EQ(memories[1].get_base_address(), 0x2000000000u);
  EXPECT_EQ(memories[1].get_size_kb(), 1u << 20);
}

TEST(Xclbin, CarriesItsSimulatorAndItsLength) {
  const std::string all = bytes_of(TEST_XCLBIN);
  const auto* const top = reinterpret_cast<const axlf*>(all.data());
  EXPECT_EQ(top->m_header.m_length, all.size());
  const axlf_section_header* const bitstream = xclbin::get_axlf_section(top, BITSTREAM);
  ASSERT_NE(bitstream, nullptr);
  const std::string_view zip = std::string_view(all).substr(bitstream->m_sectionOffset, bitstream->m_sectionSize);
  EXPECT_EQ(zip.substr(0, 4), "PK\3\4");
  EXPECT_THAT(std::string(zip), HasSubstr("behav_waveform/xsim/simulate.sh"));
  EXPECT_THAT(std::string(zip), HasSubstr("behav_waveform/xsim/tidemill-device-process"));
}

TEST(XrtErrors, NameTheUriThatNamesNoXclbin) {
  unsetenv("TIDEMILL_XCLBIN");
  EXPECT_THAT(error_of("xrt:0"), AllOf(HasSubstr("which xclbin?"), HasSubstr("TIDEMILL_XCLBIN")));
  EXPECT_THAT(error_of("xrt:card?xclbin=x"), HasSubstr("neither the index of a card nor its BDF"));
  EXPECT_THAT(error_of("xrt:0?speed=9"), HasSubstr("unknown option 'speed'"));
  EXPECT_THAT(error_of("xrt:0?poll=never"), HasSubstr("poll=never"));
}

TEST(XrtErrors, NameAMissingXclbin) {
  EXPECT_THAT(error_of("xrt:0?xclbin=/nowhere/card.xclbin"),
              AllOf(HasSubstr("/nowhere/card.xclbin"), HasSubstr("No such file")));
}

TEST(XrtErrors, NameATruncatedXclbin) {
  const std::string all = bytes_of(TEST_XCLBIN);
  const std::string half = written("half.xclbin", all.substr(0, all.size() / 2));
  EXPECT_THAT(error_of("xrt:0?xclbin=" + half),
              AllOf(HasSubstr("is truncated"), HasSubstr(std::to_string(all.size() / 2)),
                    HasSubstr(std::to_string(all.size()))));
  EXPECT_THAT(error_of("xrt:0?xclbin=" + written("head.xclbin", all.substr(0, 100))), HasSubstr("is no xclbin"));
}

TEST(XrtErrors, NameAFileThatIsNoXclbin) {
  EXPECT_THAT(error_of("xrt:0?xclbin=" + written("text.xclbin", std::string(5000, 'x'))), HasSubstr("is no xclbin"));
}

TEST(XrtErrors, NameBothPlatforms) {
  EXPECT_THAT(error_of("xrt:0?xclbin=" TEST_OTHER_PLATFORM),
              AllOf(HasSubstr("tidemill_emulation_shell_1_0"), HasSubstr("vendor_board_other_1_0")));
}

TEST(XrtErrors, NameTheKernelThatIsMissing) {
  EXPECT_THAT(error_of("xrt:0?xclbin=" TEST_NO_SHELL),
              AllOf(HasSubstr("no kernel 'tidemill_shell'"), HasSubstr("it has: tidemill_emulation")));
}

TEST(XrtErrors, NameBothVersions) {
  setenv("TIDEMILL_EMULATION", "version=0x00630002", 1);
  EXPECT_THAT(error_of("xrt:0?xclbin=" TEST_XCLBIN),
              AllOf(HasSubstr("the card speaks ABI 99.2"), HasSubstr("this runtime")));
}

TEST(XrtErrors, TellThatTheCardIsBusy) {
  const auto first = Device::open("xrt:0?xclbin=" TEST_XCLBIN);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_THAT(error_of("xrt:0?xclbin=" TEST_XCLBIN), HasSubstr("busy"));
}

}  // namespace
}  // namespace tidemill::test
