// SPDX-License-Identifier: Apache-2.0
/// The verbs on cosim:, and that the self-test names the part that a planted bug is in.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tb/device/shell.hpp"

namespace tidemill::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CosimDevice, PassesTheSelftest) {
  for (const char* uri : {"cosim:", "'cosim:?stall=0.3&seed=5'"}) {
    const Outcome o = device(std::string("selftest --device ") + uri);
    EXPECT_EQ(o.status, 0) << o.output;
    EXPECT_THAT(o.output, AllOf(HasSubstr("registers      ok"), HasSubstr("loopback       ok"), HasSubstr("8 banks"),
                                Not(HasSubstr("FAILED")), Not(HasSubstr("skipped"))));
  }
}

TEST(CosimDevice, ShowsWhatItIs) {
  const auto json = nlohmann::json::parse(device_output("info --json --device cosim:").output);
  EXPECT_EQ(json["magic"], "0x54494445");
  EXPECT_EQ(json["slots"], 65536);
  EXPECT_EQ(json["banks"], 8);
  EXPECT_EQ(json["failure"], "none");
}

TEST(CosimDevice, CountsInItsRegistersWhatTheRuntimeCounts) {
  const Outcome o = device_output("stats --json --load 320 --device cosim:");
  ASSERT_EQ(o.status, 0);
  const auto json = nlohmann::json::parse(o.output);
  EXPECT_EQ(json["tidemill_card_matched_total"], 320);
  EXPECT_EQ(json["tidemill_card_transmitted_total"], json["tidemill_port_transmitted_total"][0]["value"]);
  EXPECT_EQ(json["tidemill_card_retried_total"], 20);
}

TEST(CosimDevice, IsResetAndWatched) {
  EXPECT_THAT(device("reset --device cosim:").output, HasSubstr("cosim: is reset"));
  const Outcome o = device("watch --device cosim: --load --count 2 --interval 0.3");
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.output, AllOf(HasSubstr("transmitted"), Not(HasSubstr("transmitted 0/s"))));
}

TEST(CosimDevice, WhoseHostMemoryFailsIsSaidToHaveStopped) {
  const Outcome o = device("selftest --device 'cosim:?axi_errors=0.2'");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output,
              AllOf(HasSubstr("registers      ok"), HasSubstr("command ring   FAILED"), HasSubstr("has stopped: ")));
}

TEST(CosimDevice, OfMutantsPassesWithoutAny) {
  EXPECT_EQ(device("selftest --device 'cosim:?stall=0.2'", "TIDEMILL_PLUGINS=" TEST_MUTANT_PLUGIN).status, 0);
}

struct Planted {
  const char* mutant;
  const char* part;
};
void PrintTo(const Planted& planted, std::ostream* out) {
  *out << planted.mutant;
}
class PlantedBug : public ::testing::TestWithParam<Planted> {};

unsigned number_of(const std::string& mutant) {
  std::istringstream all(TEST_MUTANTS);
  unsigned number = 1;
  for (std::string name; std::getline(all, name, ','); ++number)
    if (name == mutant) return number;
  return 0;
}

TEST(CosimDevice, ThatFailsEndsALoad) {
  const Outcome o = device("stats --load 5000 --device 'cosim:?axi_errors=0.02'", "timeout 60");
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, AllOf(HasSubstr(" of 5000 requests have completed, the next was refused (device failed)"),
                              HasSubstr("card errors")));
}

std::string with_mutant(const std::string& name) {
  return "TIDEMILL_PLUGINS=" TEST_MUTANT_PLUGIN " TIDEMILL_MUTANT=" + std::to_string(number_of(name));
}

TEST(LostCompletions, EndALoadThatCountsRequests) {
  const Outcome o = device("stats --load 500 --device cosim:", "timeout 60 env " + with_mutant("wrong_generation"));
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, AllOf(HasSubstr(" of 500 requests have completed, then none within 10s"),
                              HasSubstr("tidemill device selftest"), HasSubstr("card matched")));
}

TEST(LostCompletions, EndALoadThatIsWatched) {
  const Outcome o = device("watch --load --device cosim:", "timeout 60 env " + with_mutant("wrong_generation"));
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, HasSubstr(" requests sent have completed, then none within 10s"));
}

TEST(LostCompletions, DoNotKeepAWatchFromItsEnd) {
  const Outcome o =
      device("watch --load --count 1 --device cosim:", "timeout 60 env " + with_mutant("wrong_generation"));
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.output, HasSubstr(" requests have completed, then none within 10s"));
}

TEST_P(PlantedBug, IsFoundInItsPart) {
  ASSERT_NE(number_of(GetParam().mutant), 0u) << "no such mutant";
  const Outcome o = device_output("selftest --json --device 'cosim:?stall=0.2'", with_mutant(GetParam().mutant));
  EXPECT_EQ(o.status, 1);
  const auto json = nlohmann::json::parse(o.output);
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["failed"], GetParam().part) << json.dump(1);
}

INSTANTIATE_TEST_SUITE_P(Mutants, PlantedBug,
                         ::testing::Values(Planted{"lost_doorbell", "doorbells"},
                                           Planted{"dropped_completion", "card's rings"},
                                           Planted{"credit_leak", "wire credit"},
                                           Planted{"wrong_generation", "tracker"},
                                           Planted{"ring_ends_early", "send ring"}),
                         [](const auto& test) { return std::string(test.param.mutant); });

}  // namespace
}  // namespace tidemill::test
