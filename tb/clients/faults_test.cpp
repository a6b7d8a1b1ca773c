// SPDX-License-Identifier: Apache-2.0
/// Programs on a fabric that loses MADs, and programs that die.
#include "tb/clients/fixture.hpp"

namespace tidemill::test {
namespace {

using testing::HasSubstr;

class Faults : public Clients {};

TEST_F(Faults, FortyPercentLossOnOnePortIsOvercomeByRetries) {
  NEEDS("ibsim", "ibnetdiscover", "smpquery");
  start_ibsim(two_switches());
  ibsim_->command("Error \"Switch2\"[2] 40");  // towards Hca4
  uint64_t retried = 0;
  bool whole = false;
  // ibsim's dice have no seed; a sweep of ten or so SMPs with four tries each fails now and then, ten in a row do not.
  for (int i = 0; i < 10 && !(whole && retried > 0); ++i) {
    const Ran r = run("Hca1", {"ibnetdiscover", "-t", "50"});
    whole |= r.status == 0 && r.output.find("\"Hca4\"") != std::string::npos && r.completed("timeout") == 0;
    retried += r.port("retried");
    EXPECT_EQ(r.completed("flushed") + r.completed("error"), 0u);
  }
  EXPECT_TRUE(whole);
  EXPECT_GT(retried, 0u);
  bool answered = false;
  for (int i = 0; i < 10 && !answered; ++i)
    answered =
        run("Hca1", {"smpquery", "-t", "50", "-D", "nodedesc", "0,1,3,2"}).output.find("Hca4") != std::string::npos;
  EXPECT_TRUE(answered);
}

TEST_F(Faults, ADeadNodeCostsItsTimeoutsAndNoMore) {
  NEEDS("ibsim", "smpquery");
  start_ibsim(two_switches());
  ibsim_->command("Error \"Switch2\"[2] 100");
  Ran r;
  // The console is read when ibsim comes to it.
  for (int i = 0; i < 20 && r.status != 1; ++i) r = run("Hca1", {"smpquery", "-t", "100", "-D", "nodedesc", "0,1,3,2"});
  EXPECT_NE(r.status, 0);
  EXPECT_GT(r.completed("timeout"), 0u);
  EXPECT_GE(r.took, 300ms) << "libibmad asks three times or four";
  EXPECT_LT(r.took, 3s);
}

TEST_F(Faults, ASilentPeerSubnetManagerDoesNotHangASweep) {
  NEEDS("ibsim", "opensm");
  start_ibsim(two_switches());
  // A port that says it is a subnet manager's, and answers nothing.
  auto silent = Ibsim::connect({.socket = ibsim_->socket(), .host = "Hca4"}).value();
  ASSERT_EQ(silent.set_issm(true), Errc::ok);
  const auto hidden = silent.wire().value();
  const Ran r = run("Hca1", {"opensm", "-o", "-f", work_.file("once.log"), "-t", "100"}, 60s);
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_GT(r.completed("timeout"), 0u);
}

TEST_F(Faults, AProgramKilledInMidTrafficDisturbsNobody) {
  NEEDS("ibsim", "opensm", "ibping", "saquery");
  start_ibsim(two_switches());
  start_opensm();
  const std::string lid = std::to_string(lid_of("Hca1", "Hca1"));
  auto victim = launch("Hca2", {"ibping", "-f", "-c", "1000000", lid}, "victim");
  std::this_thread::sleep_for(300ms);
  victim.signal(SIGKILL);
  EXPECT_EQ(victim.wait(), 128 + SIGKILL);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(count_matches(run("Hca3", {"saquery", "PR"}).output, "PathRecord dump"), 36u);
  EXPECT_TRUE(opensm_->running());
}

TEST_F(Faults, ManyNodesComeUpAllAtOnce) {
  NEEDS("ibsim", "opensm", "saquery");
  // 512 hosts, 32 leaves, 16 spines: 560 nodes, each with a path to each.
  const std::string net = work_.file("fat_tree.net");
  std::ofstream(net) << ibsim_fabric::fat_tree(512, 32).value();
  start_ibsim(net);
  start_opensm();
  scoreboard_ = false;  // a hundred thousand segments need no trace
  const Ran r = run("H1", {"saquery", "-p", "-t", "20000"}, 120s);
  scoreboard_ = true;
  EXPECT_EQ(r.status, 0);
  std::size_t records = 0;
  for (std::size_t at = r.output.find("PathRecord dump"); at != std::string::npos;
       at = r.output.find("PathRecord dump", at + 1))
    ++records;
  EXPECT_EQ(records, 313'600u);
  const auto stats = stop_opensm();
  EXPECT_EQ(stats["port"]["completed"].value("timeout", 0), 0);
  EXPECT_EQ(stats["port"]["completed"].value("error", 0), 0);
}

}  // namespace
}  // namespace tidemill::test
