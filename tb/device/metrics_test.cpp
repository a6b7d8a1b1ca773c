// SPDX-License-Identifier: Apache-2.0
/// The text exposition format, as its specification has it, and back.
#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "device_tool/exposition.hpp"
#include "tb/device/shell.hpp"

namespace tidemill::test {
namespace {

using ::testing::HasSubstr;

/// Everything there is to tell.
metrics::Metrics everything() {
  metrics::Metrics m;
  device::CardCounters card;
  card.counts[0] = 0xffffffff;
  card.dropped[1] = 3;
  metrics::add_card(m, card);
  PortStats port;
  port.transmitted = uint64_t{1} << 40;
  port.sent_by_class[0x81] = 5;
  metrics::add_port(m, 1, port);
  metrics::add_port(m, 2, {});
  AgentStats agent;
  agent.name = "a \"quoted\\ name\"\nof two lines";
  agent.id = 7;
  metrics::add_agent(m, 1, agent);
  return m;
}

/// What is wrong with a text by the rules of the format; empty if nothing is.
std::string violation(const std::string& text) {
  if (text.empty() || text.back() != '\n') return "the last line has no end";
  static const std::regex help(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (?:[^\\]|\\\\|\\n)*)");
  static const std::regex type(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge))");
  static const std::regex sample(
      R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"(?:,[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*")*\})? [0-9]+)re");
  std::set<std::string> done, samples;
  std::string current, helped, kind, line;
  std::istringstream lines(text);
  while (std::getline(lines, line)) {
    std::smatch m;
    if (std::regex_match(line, m, help)) {
      if (!done.insert(m[1]).second) return "two groups of " + m[1].str();
      helped = m[1];
    } else if (std::regex_match(line, m, type)) {
      if (m[1] != helped) return "TYPE without HELP: " + line;
      current = m[1];
      kind = m[2];
      if ((kind == "counter") != current.ends_with("_total")) return "name and type differ: " + line;
    } else if (std::regex_match(line, m, sample)) {
      if (m[1] != current) return "a sample outside its group: " + line;
      if (!samples.insert(m[1].str() + m[2].str()).second) return "the same sample twice: " + line;
    } else {
      return "no line of the format: " + line;
    }
  }
  return {};
}

TEST(Exposition, KeepsTheRulesOfTheFormat) {
  EXPECT_EQ(violation(everything().exposition()), "");
}

TEST(Exposition, EscapesLabels) {
  EXPECT_THAT(everything().exposition(), HasSubstr(R"(name="a \"quoted\\ name\"\nof two lines")"));
}

TEST(Exposition, IsTakenByPromtool) {
  if (shell("promtool --version 2>&1").status != 0) {
    ASSERT_EQ(std::getenv("TIDEMILL_CI"), nullptr) << "promtool is missing (Debian: prometheus)";
    GTEST_SKIP() << "promtool is not installed (Debian: prometheus)";
  }
  const std::string file = ::testing::TempDir() + "/tidemill_" + std::to_string(getpid()) + ".prom";
  std::ofstream(file) << everything().exposition();
  const Outcome o = shell("promtool check metrics < " + file + " 2>&1");
  std::filesystem::remove(file);
  EXPECT_EQ(o.status, 0) << o.output;
  EXPECT_EQ(o.output, "");
}

TEST(Exposition, ReadsBackAsWritten) {
  const metrics::Metrics written = everything();
  const auto read = device_tool::parse_exposition(written.exposition());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().exposition(), written.exposition());
}

TEST(Exposition, NamesTheLineThatIsNoSample) {
  const auto read = device_tool::parse_exposition("# HELP a b\n# TYPE a gauge\na{x=\"1} 3\n");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("line 3"));
}

TEST(Exposition, SumsByLabel) {
  const metrics::Metrics m = everything();
  EXPECT_EQ(m.sum("tidemill_port_transmitted_total"), uint64_t{1} << 40);
  EXPECT_EQ(m.sum("tidemill_card_dropped_total", {"cause", "stale"}), 3u);
  EXPECT_EQ(m.sum("tidemill_card_dropped_total", {"cause", "cancelled"}), 0u);
  EXPECT_EQ(m.sum("nothing"), 0u);
}

}  // namespace
}  // namespace tidemill::test
