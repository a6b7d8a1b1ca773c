// SPDX-License-Identifier: Apache-2.0
/// `tidemill soak` as a user meets it: exit status, messages, files.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace tidemill::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Outcome {
  int status;
  std::string output;  ///< Both streams.
};

Outcome shell(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");  // NOLINT(bugprone-command-processor): our own words
  if (pipe == nullptr) return {-1, "no shell"};
  std::string output;
  std::array<char, 4096> chunk{};
  for (size_t n; (n = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) output.append(chunk.data(), n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}
Outcome tidemill(const std::string& arguments) { return shell(std::string(TIDEMILL_TOOL) + " " + arguments); }
Outcome planted(const std::string& fault, const std::string& arguments) {
  return shell(std::string(TIDEMILL_PLANTED) + " " + fault + " " + arguments);
}

std::string scratch(const std::string& name) {
  return (std::filesystem::path(::testing::TempDir()) / ("tidemill_" + std::to_string(getpid()) + name)).string();
}
std::string contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

TEST(SoakCommand, ExitsWithZeroAndDrawsItsSummary) {
  const Outcome o = tidemill("soak --transactions 5000 --seed 2");
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.output, AllOf(HasSubstr("passed"), HasSubstr("5,000 sends accepted and completed"), HasSubstr("█"),
                              HasSubstr("Completions by status"), HasSubstr("dropped by cause")));
}

TEST(SoakCommand, TellsItsProgressInLinesWhereThereIsNoTerminal) {
  const Outcome o = tidemill("soak --transactions 20000");
  EXPECT_THAT(o.output, AllOf(HasSubstr("100 %"), HasSubstr("MADs/s"), ::testing::Not(HasSubstr("\x1b"))));
}

TEST(SoakCommand, WritesAllItCountedAsJson) {
  const std::string path = scratch(".json");
  ASSERT_EQ(tidemill("soak --transactions 3000 --seed 4 --json " + path).status, 0);
  const auto json = nlohmann::json::parse(contents(path));
  EXPECT_EQ(json["accepted"], 3000);
  EXPECT_EQ(json["completed"], 3000);
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["replay"], "tidemill soak --seed 4 --transactions 3000");
  uint64_t statuses = 0;
  for (const auto& [name, count] : json["by_status"].items()) statuses += count.get<uint64_t>();
  EXPECT_EQ(statuses, 3000u);
}

TEST(SoakCommand, WritesAPageThatNeedsNothingElse) {
  const std::string path = scratch(".html");
  ASSERT_EQ(tidemill("soak --transactions 3000 --report " + path).status, 0);
  const std::string page = contents(path);
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), HasSubstr("Outstanding sends over time"), HasSubstr("Completions by status")));
  for (const char* outside : {"http:", "https:", "<script", "<link", "<img", "url("}) EXPECT_THAT(page, ::testing::Not(HasSubstr(outside)));
}

TEST(SoakCommand, FailsWithTheRuleAndTheCommandThatRepeatsIt) {
  const std::string path = scratch(".json"), page = scratch(".html");
  const Outcome o = planted("second-completion", "soak --seed 5 --loss 0.25 --transactions 50000 --json " + path + " --report " + page);
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, AllOf(HasSubstr("FAILED"), HasSubstr("I1 "), ::testing::Not(HasSubstr("passed"))));
  const auto json = nlohmann::json::parse(contents(path));
  EXPECT_EQ(json["passed"], false);
  EXPECT_THAT(contents(page), AllOf(HasSubstr("Broken rules"), HasSubstr("I1 ")));

  const size_t at = o.output.find("replay: tidemill ");
  ASSERT_NE(at, std::string::npos) << o.output;
  const std::string command = o.output.substr(at + 17, o.output.find('\n', at) - at - 17);
  EXPECT_THAT(command, HasSubstr("--loss 0.25"));
  const Outcome again = planted("second-completion", command);
  EXPECT_EQ(again.status, 1);
  const auto verdict = [](const Outcome& of) {
    const size_t from = of.output.find("FAILED");
    return of.output.substr(from, of.output.find("replay:", from) - from);
  };
  EXPECT_EQ(verdict(again), verdict(o));
}

TEST(SoakCommand, EndsAfterTheTimeItWasGiven) {
  const Outcome o = tidemill("soak --seconds 0.2");
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.output, HasSubstr("passed"));
}

struct Mistake {
  const char* arguments;
  const char* option;
  const char* way_out;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.arguments; }
class UsageError : public ::testing::TestWithParam<Mistake> {};

TEST_P(UsageError, NamesTheOptionAndTheWayOut) {
  const Outcome o = tidemill(GetParam().arguments);
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.output, AllOf(HasSubstr(GetParam().option), HasSubstr(GetParam().way_out)));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, UsageError,
    ::testing::Values(Mistake{"soak --los 0.1", "--los", "did you mean --loss?"}, Mistake{"soak --loss 1.5", "--loss", "from 0 to 1"},
                      Mistake{"soak --dup -0.1", "--dup", "from 0 to 1"}, Mistake{"soak --forged often", "--forged", "from 0 to 1"},
                      Mistake{"soak --stale", "--stale", "needs a value"}, Mistake{"soak --banks 6", "--banks", "give 4 or 8"},
                      Mistake{"soak --banks 32", "--banks", "from 1 to 16"}, Mistake{"soak --banks 8 --size tiny", "--banks", "--banks 4"},
                      Mistake{"soak --agents 0", "--agents", "from 1 to 512"}, Mistake{"soak --transactions 0", "--transactions", "from 1"},
                      Mistake{"soak --seed -1", "--seed", "from 0"}, Mistake{"soak --seconds 0", "--seconds", "above 0"},
                      Mistake{"soak --seconds 1 --transactions 5", "--transactions", "excludes --seconds"},
                      Mistake{"soak --json /nowhere/at/all.json", "--json", "name another file"},
                      Mistake{"soka", "soka", "did you mean soak?"}, Mistake{"soak more", "more", "--help"}),
    [](const auto& test) {
      std::string name = test.param.arguments;
      std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

TEST(UsageHelp, TeachesWithAnExampleForEachSubcommand) {
  EXPECT_EQ(tidemill("--help").status, 0);
  const Outcome o = tidemill("soak --help");
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.output, AllOf(HasSubstr("Examples:"), HasSubstr("tidemill soak --seed 7"), HasSubstr("--wire-error")));
}

}  // namespace
}  // namespace tidemill::test
