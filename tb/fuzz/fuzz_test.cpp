// SPDX-License-Identifier: Apache-2.0
/// The harnesses of the fuzzers without a fuzzer: inputs that once found new ground, and random ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "harness.hpp"

namespace tidemill::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr unsigned kRandomInputs = 1500;

struct Target {
  const char* name;
  std::string (*run)(std::span<const uint8_t>);
};
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

class Fuzz : public ::testing::TestWithParam<Target> {};

TEST_P(Fuzz, FindsNothingInTheCorpus) {
  unsigned files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TIDEMILL_FUZZ_CORPUS) / GetParam().name)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(GetParam().run(bytes), "") << entry.path();
    ++files;
  }
  EXPECT_GT(files, 0u);
}

TEST_P(Fuzz, FindsNothingInRandomInputs) {
  const auto seed = static_cast<unsigned>(::testing::UnitTest::GetInstance()->random_seed());
  SCOPED_TRACE("--gtest_random_seed=" + std::to_string(seed));
  std::mt19937 dice(seed);
  for (unsigned i = 0; i < kRandomInputs; ++i) {
    Bytes bytes(dice() % 1024);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(dice());
    ASSERT_EQ(GetParam().run(bytes), "") << "input " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Harness, Fuzz, ::testing::Values(Target{"bank", run_bank}, Target{"engine", run_engine}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tidemill::fuzz
