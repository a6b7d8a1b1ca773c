// SPDX-License-Identifier: Apache-2.0
#include "device_tool/watch.hpp"

#include <gmock/gmock.h>

namespace tidemill::test {
namespace {

using device_tool::WatchView;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

metrics::Metrics port_with(uint64_t transmitted, uint64_t timeouts) {
  metrics::Metrics m;
  m.gauge("tidemill_device_slots", "", {}, 64);
  PortStats s;
  s.transmitted = transmitted;
  s.completed[static_cast<unsigned>(SendStatus::timeout)] = timeouts;
  metrics::add_port(m, 1, s);
  AgentStats a;
  a.outstanding = 16;
  metrics::add_agent(m, 1, a);
  return m;
}

TEST(Watch, TellsRatesOfTheIntervalInALine) {
  WatchView view("cosim:", false);
  EXPECT_EQ(view.look(port_with(1000, 5), 0), "") << "one look has no rate";
  const std::string line = view.look(port_with(4000, 7), 2);
  EXPECT_THAT(line, AllOf(HasSubstr("transmitted 1.5k/s"), HasSubstr("timeouts 1/s"), HasSubstr("outstanding 16 of 64"),
                          Not(HasSubstr("\033"))));
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
}

TEST(Watch, DrawsOverItselfOnATerminal) {
  WatchView view("cosim:", true);
  view.look(port_with(0, 0), 0);
  view.look(port_with(100, 0), 1);
  const std::string screen = view.look(port_with(300, 4), 1);
  EXPECT_TRUE(screen.starts_with("\033[H")) << "from the top, without clearing what stands";
  EXPECT_THAT(screen, AllOf(HasSubstr("200/s"), HasSubstr("▄█"), HasSubstr("████████░"), HasSubstr("16 of 64 slots")));
}

TEST(Watch, TakesACountThatWentBackAsANewBeginning) {
  WatchView view("xrt:0", false);
  view.look(port_with(1000, 0), 0);
  EXPECT_THAT(view.look(port_with(10, 0), 1), HasSubstr("transmitted 0/s"));
  EXPECT_THAT(view.look(port_with(30, 0), 1), HasSubstr("transmitted 20/s"));
}

TEST(Watch, SaysThatACardHasStopped) {
  metrics::Metrics m;
  device::CardCounters card;
  card.failure = 2;
  metrics::add_card(m, card);
  WatchView view("xrt:0", false);
  view.look(m, 0);
  EXPECT_THAT(view.look(m, 1), HasSubstr("STOPPED: write_error"));
}

TEST(Watch, WritesNumbersInFewCharacters) {
  for (const auto& [value, text] : {std::pair{0.0, "0"},
                                    {1.5, "1.5"},
                                    {950.0, "950"},
                                    {999.6, "1.0k"},
                                    {12'340.0, "12.3k"},
                                    {4'560'000.0, "4.56M"}})
    EXPECT_EQ(device_tool::brief(value), text);
}

}  // namespace
}  // namespace tidemill::test
