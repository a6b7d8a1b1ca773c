// SPDX-License-Identifier: Apache-2.0
/// The scoreboard over a trace names what is wrong with it: one planted fault a test.
#include "trace_board.hpp"

#include <gmock/gmock.h>

namespace tidemill::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TraceBoardTest : public ::testing::Test {
 protected:
  void event(const char* phase, const std::string& name, double at, const char* id = "0x1") {
    events_.push_back({{"ph", phase}, {"name", name}, {"cat", "mad"}, {"id", id}, {"ts", at}});
  }
  void begin(double at, const char* status, unsigned tries, const char* id = "0x1", const char* tid = "0x31") {
    event("b", "Perf", at, id);
    events_.back()["args"] = {{"tid", tid}, {"class", 4}, {"tries", tries}, {"status", status}};
  }
  std::vector<std::string> found() {
    const json trace = {{"traceEvents", events_}};
    return TraceBoard(trace).violations();
  }
  std::vector<json> events_;
};

TEST_F(TraceBoardTest, IsSilentWhereAllIsWell) {
  begin(1, "success", 2);
  event("n", "try 1", 2);
  event("n", "try 2", 3);
  event("n", "matched", 4);
  event("e", "Perf", 4);
  begin(5, "timeout", 1, "0x2");
  event("n", "try 1", 6, "0x2");
  event("e", "Perf", 7, "0x2");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TraceBoardTest, FindsAMissingAndASecondCompletion) {
  begin(1, "success", 0);
  begin(1, "success", 0, "0x2");
  event("e", "Perf", 4, "0x2");
  event("e", "Perf", 5, "0x2");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("0x1: I1: completed 0"), HasSubstr("0x2: I1: completed 2")));
}

TEST_F(TraceBoardTest, FindsACompletionOfWhatWasNotPosted) {
  event("e", "Perf", 4);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("I2: posted 0 times")));
}

TEST_F(TraceBoardTest, FindsAMatchThatIsNoSuccess) {
  begin(1, "timeout", 1);
  event("n", "try 1", 2);
  event("n", "matched", 3);
  event("e", "Perf", 4);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("I3: matched, but completed as timeout")));
}

TEST_F(TraceBoardTest, FindsASecondMatchAndOneAfterTheCompletion) {
  begin(1, "success", 1);
  event("n", "try 1", 2);
  event("n", "matched", 3);
  event("e", "Perf", 4);
  event("n", "matched", 5);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("I5"), HasSubstr("I4: matched 2 times")));
}

TEST_F(TraceBoardTest, FindsAMatchOfWhatWasNeverSent) {
  begin(1, "success", 0);
  event("n", "matched", 3);
  event("e", "Perf", 4);
  EXPECT_THAT(found(), ElementsAre(HasSubstr("I2: matched before it was sent")));
}

TEST_F(TraceBoardTest, FindsTriesThatDoNotCount) {
  begin(1, "success", 2);
  event("n", "try 1", 2);
  event("e", "Perf", 4);
  begin(1, "success", 1, "0x2");
  event("n", "try 2", 2, "0x2");
  event("e", "Perf", 4, "0x2");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("0x1: I13: completed after 2 tries, 1"),
                                   HasSubstr("0x2: I13: try 2 is its try 1")));
}

TEST_F(TraceBoardTest, FindsTwoLiveSendsOfOneName) {
  for (const char* id : {"0x1", "0x2"}) {
    begin(1, "success", 1, id);
    event("n", "try 1", 2, id);
    event("n", "matched", 3, id);
    event("e", "Perf", 4, id);
  }
  EXPECT_THAT(found(), ElementsAre(HasSubstr("I9: shares TID 0x31")));
}

}  // namespace
}  // namespace tidemill::test
