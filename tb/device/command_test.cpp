// SPDX-License-Identifier: Apache-2.0
/// The verbs on soft:, their usage errors, and what another process publishes.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tb/device/shell.hpp"

namespace tidemill::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string scratch(const std::string& name) {
  return (std::filesystem::path(::testing::TempDir()) / ("tidemill_" + std::to_string(getpid()) + name)).string();
}

TEST(SoftDevice, PassesWhatItHasAndSaysWhatItHasNot) {
  for (const char* banks : {"1", "2", "8"}) {
    const Outcome o = device(std::string("selftest --device soft:?banks=") + banks);
    EXPECT_EQ(o.status, 0) << o.output;
    EXPECT_THAT(o.output, AllOf(HasSubstr("registers      skipped  soft: has none"), HasSubstr("timeout wheel  ok"),
                                HasSubstr("loopback       ok"), HasSubstr("\npassed\n"), Not(HasSubstr("FAILED"))));
  }
}

TEST(SoftDevice, HasNoRegistersToShow) {
  EXPECT_THAT(device("info --device soft:").output, HasSubstr("registers        none"));
  for (const char* verb : {"stats", "reset", "watch"}) {
    const Outcome o = device(std::string(verb) + " --device soft:");
    EXPECT_EQ(o.status, 2) << verb;
    EXPECT_THAT(o.output, HasSubstr("no registers")) << verb;
  }
}

TEST(SoftDevice, CountsALoadOfItsOwn) {
  const Outcome o = device_output("stats --device soft: --load 500 --json");
  ASSERT_EQ(o.status, 0);
  const auto json = nlohmann::json::parse(o.output);
  EXPECT_EQ(json["tidemill_port_matched_total"][0]["value"], 500);
  EXPECT_EQ(json["tidemill_port_retried_total"][0]["value"], 31) << "every sixteenth request is lost once";
}

TEST(Device, IsTakenFromTheEnvironment) {
  EXPECT_THAT(device("info", "TIDEMILL_DEVICE=soft:?banks=2").output, HasSubstr("banks            2"));
}

/// A process that has a device and publishes; it does not end by itself.
class Publisher {
 public:
  explicit Publisher(const std::string& file)
      : pid_(std::stoi(shell("env TIDEMILL_METRICS=" + file +
                             " '" TIDEMILL_TOOL
                             "' demo --real-time --nodes 4 --transactions 4000000000 >/dev/null 2>&1 & echo $!")
                           .output)) {}
  ~Publisher() { end(); }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;
  void end() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    for (int i = 0; i < 100 && kill(pid_, 0) == 0; ++i) usleep(20'000);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

TEST(Published, CanBeWatchedWhileAnotherProcessHasTheDevice) {
  const std::string file = scratch(".prom");
  Publisher publisher(file);
  for (int i = 0; i < 100 && device("stats --from " + file).status != 0; ++i) usleep(50'000);
  const Outcome watched = device("watch --count 1 --interval 1.2 --from " + file);
  EXPECT_EQ(watched.status, 0);
  EXPECT_THAT(watched.output, AllOf(HasSubstr("completed"), Not(HasSubstr("completed 0/s")), HasSubstr("of 65536")));
  const Outcome stats = device_output("stats --prometheus --from " + file);
  EXPECT_EQ(stats.status, 0);
  EXPECT_THAT(stats.output, AllOf(HasSubstr("kind=\"soft\""), HasSubstr("name=\"client 0\"")));

  // One that is killed leaves its file: it is not taken for a device that stands still.
  publisher.end();
  const Outcome after = device("stats --from " + file);
  EXPECT_EQ(after.status, 1);
  EXPECT_THAT(after.output, HasSubstr("has ended without closing its device"));
  std::filesystem::remove(file);
}

TEST(Published, GoesWithTheDevice) {
  const std::string file = scratch("_gone.prom");
  ASSERT_EQ(shell("env TIDEMILL_METRICS=" + file + " '" TIDEMILL_TOOL "' demo --transactions 1000 2>&1").status, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
  const Outcome o = device("watch --from " + file);
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, HasSubstr("TIDEMILL_METRICS=" + file));
}

TEST(Published, NowhereIsAnErrorOfTheProgramThatPublishes) {
  const Outcome o = shell("env TIDEMILL_METRICS=/nowhere/at/all '" TIDEMILL_TOOL "' demo --transactions 10 2>&1");
  EXPECT_NE(o.status, 0);
  EXPECT_THAT(o.output, HasSubstr("TIDEMILL_METRICS: '/nowhere/at/all'"));
}

struct Mistake {
  const char* arguments;
  const char* words;
};
void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.arguments;
}
class DeviceUsage : public ::testing::TestWithParam<Mistake> {};

TEST_P(DeviceUsage, NamesTheMistakeAndTheWayOut) {
  const Outcome o = device(GetParam().arguments);
  EXPECT_EQ(o.status, 2) << o.output;
  EXPECT_THAT(o.output, HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(Mistakes, DeviceUsage,
                         ::testing::Values(Mistake{"", "tidemill device --help"}, Mistake{"lst", "did you mean list?"},
                                           Mistake{"info --devic soft:", "did you mean --device?"},
                                           Mistake{"program", "xclbin"},
                                           Mistake{"program x.xclbin --device cosim:", "only a card of XRT"},
                                           Mistake{"info --device nothing", "has no scheme"},
                                           Mistake{"info --device card:", "no card 'card:'"},
                                           Mistake{"info --device soft:?banks=3", "choose 1, 2 or 8"},
                                           Mistake{"selftest --device soft:?banks=3", "choose 1, 2 or 8"},
                                           Mistake{"watch --interval 0 --device soft: --load", "--interval"},
                                           Mistake{"stats --load 5 --from x --device soft:", "--from"}),
                         [](const auto& test) {
                           std::string name = test.param.arguments;
                           if (name.empty()) name = "nothing";
                           std::replace_if(
                               name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace tidemill::test
