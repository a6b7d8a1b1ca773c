// SPDX-License-Identifier: Apache-2.0
#include "tidemill/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "trace_file.hpp"

namespace tidemill::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

SendCompletion completion(SendId id, SendStatus status, unsigned tries, Nanoseconds elapsed) {
  return {.id = id, .status = status, .tries = tries, .elapsed = elapsed};
}

json timeline(const Trace& trace) {
  const TraceFile file("json");
  EXPECT_TRUE(trace.write_timeline(file.path()).ok());
  std::ifstream in(file.path());
  return json::parse(in);
}

/// Events of one phase, in the order of the file.
std::vector<json> phase(const json& file, const std::string& ph) {
  std::vector<json> events;
  for (const json& e : file["traceEvents"]) {
    if (e["ph"] == ph) events.push_back(e);
  }
  return events;
}

TEST(TraceTimeline, ATransactionIsOneSliceWithItsTries) {
  Trace trace;
  trace.agent_registered(7, "pinger", Nanoseconds(0));
  const SendId id{.slot = 3, .generation = 4};
  trace.send_posted(7, id, mad_class::perf, 0x0000000700000001, Nanoseconds(1'500));
  trace.transmitted(7, id, 1, Nanoseconds(2'000));
  trace.transmitted(7, id, 2, Nanoseconds(12'000));
  trace.response_matched(7, id, Nanoseconds(13'001));
  trace.send_completed(7, completion(id, SendStatus::success, 2, Nanoseconds(11'502)), Nanoseconds(13'002));

  const json file = timeline(trace);
  const auto begins = phase(file, "b"), ends = phase(file, "e"), instants = phase(file, "n");
  ASSERT_EQ(begins.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(begins[0]["name"], "Perf");
  EXPECT_EQ(begins[0]["ts"], 1.5);
  EXPECT_EQ(ends[0]["ts"], 13.002);
  for (const char* member : {"id", "cat", "name", "pid", "tid"}) EXPECT_EQ(begins[0][member], ends[0][member]) << member;
  EXPECT_EQ(begins[0]["args"]["tid"], "0x0000000700000001");
  EXPECT_EQ(begins[0]["args"]["class"], 4);
  EXPECT_EQ(begins[0]["args"]["tries"], 2);
  EXPECT_EQ(begins[0]["args"]["status"], "success");
  EXPECT_EQ(begins[0]["args"]["slot"], 3);
  ASSERT_EQ(instants.size(), 3u);
  EXPECT_EQ(instants[0]["name"], "try 1");
  EXPECT_EQ(instants[1]["name"], "try 2");
  EXPECT_EQ(instants[1]["ts"], 12.0);
  EXPECT_EQ(instants[2]["name"], "matched");
  for (const json& instant : instants) EXPECT_EQ(instant["id"], begins[0]["id"]);
}

TEST(TraceTimeline, EveryAgentHasATrackOfItsName) {
  Trace trace;
  trace.agent_registered(1, "sweep", Nanoseconds(0));
  trace.agent_registered(2, "", Nanoseconds(0));
  for (const uint32_t agent : {1u, 2u, 3u}) {
    trace.send_posted(agent, {}, mad_class::subn_adm, agent, Nanoseconds(1));
    trace.send_completed(agent, completion({}, SendStatus::timeout, 1, Nanoseconds(1)), Nanoseconds(2));
  }
  const json file = timeline(trace);
  std::map<int, std::string> names;
  for (const json& e : phase(file, "M")) {
    if (e["name"] == "thread_name") names[e["tid"]] = e["args"]["name"];
  }
  const std::map<int, std::string> expected{{1, "sweep"}, {2, "agent 2"}, {3, "agent 3"}};
  EXPECT_EQ(names, expected);
  std::set<int> tracks;
  for (const json& e : phase(file, "b")) tracks.insert(e["tid"].get<int>());
  EXPECT_THAT(tracks, ElementsAre(1, 2, 3));
}

TEST(TraceTimeline, OverlappingTransactionsOfASlotStayApart) {
  Trace trace;
  for (uint16_t generation = 0; generation < 3; ++generation) {
    const SendId id{.slot = 9, .generation = generation};
    const Nanoseconds at(generation * 10);
    trace.send_posted(1, id, mad_class::perf, generation, at);
    if (generation > 0) {
      const SendId before{.slot = 9, .generation = static_cast<uint16_t>(generation - 1)};
      trace.send_completed(1, completion(before, SendStatus::success, 1, Nanoseconds(10)), at);
    }
  }
  const json file = timeline(trace);
  const auto begins = phase(file, "b"), ends = phase(file, "e");
  ASSERT_EQ(begins.size(), 3u);
  ASSERT_EQ(ends.size(), 3u);
  std::set<std::string> ids;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(begins[i]["id"], ends[i]["id"]);
    ids.insert(begins[i]["id"]);
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(begins[2]["args"]["status"], "outstanding") << "the last one has not completed";
}

TEST(TraceTimeline, ShowsEveryOutcome) {
  Trace trace;
  std::vector<SendStatus> all{SendStatus::success, SendStatus::timeout, SendStatus::deadline,
                              SendStatus::flushed, SendStatus::error,   SendStatus::duplicate};
  for (std::size_t i = 0; i < all.size(); ++i) {
    SendCompletion c = completion({.slot = static_cast<uint16_t>(i)}, all[i], 1, Nanoseconds(5));
    c.vendor = all[i] == SendStatus::error ? 0x42 : 0;
    trace.send_posted(1, c.id, mad_class::perf, i, Nanoseconds(0));
    trace.send_completed(1, c, Nanoseconds(5));
  }
  const json file = timeline(trace);
  const auto begins = phase(file, "b");
  ASSERT_EQ(begins.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(begins[i]["args"]["status"], describe(all[i]));
  EXPECT_EQ(begins[4]["args"]["vendor"], 0x42);
}

TEST(TraceTimeline, NamesMayHoldAnyBytes) {
  Trace trace;
  trace.agent_registered(1, "quote \" slash \\ line\n tab\t bell\a high\xff\xc3\xa4", Nanoseconds(0));
  const json file = timeline(trace);
  EXPECT_THAT(phase(file, "M")[0]["args"]["name"].get<std::string>(), HasSubstr("quote \" slash \\ line\n tab\t"));
}

TEST(TraceTimeline, KeepsTheNewestAndSaysHowManyAreLost) {
  Trace trace({.max_events = 100});
  constexpr uint16_t kSends = 5000;
  for (uint16_t i = 0; i < kSends; ++i) {
    trace.send_posted(1, {.slot = i}, mad_class::perf, i, Nanoseconds(2 * i));
    trace.send_completed(1, completion({.slot = i}, SendStatus::success, 1, Nanoseconds(1)), Nanoseconds(2 * i + 1));
  }
  const json file = timeline(trace);
  EXPECT_EQ(file["otherData"]["lost_events"], 2 * kSends - 100);
  const auto begins = phase(file, "b");
  ASSERT_EQ(begins.size(), 50u);
  EXPECT_EQ(begins.front()["args"]["slot"], kSends - 50);
  EXPECT_EQ(begins.back()["args"]["slot"], kSends - 1);
}

TEST(TraceTimeline, ACompletionWhosePostIsLostStillHasItsLength) {
  Trace trace({.max_events = 1});
  trace.send_posted(1, {.slot = 1}, mad_class::perf, 1, Nanoseconds(1000));
  trace.send_completed(1, completion({.slot = 1}, SendStatus::timeout, 3, Nanoseconds(4000)), Nanoseconds(5000));
  const json file = timeline(trace);
  const auto begins = phase(file, "b");
  ASSERT_EQ(begins.size(), 1u);
  EXPECT_EQ(begins[0]["ts"], 1.0);
  EXPECT_EQ(begins[0]["args"]["tries"], 3);
}

TEST(TraceTimeline, AnEmptyTraceIsAValidFile) {
  const json file = timeline(Trace());
  EXPECT_TRUE(file["traceEvents"].empty());
  EXPECT_EQ(file["otherData"]["lost_events"], 0);
  EXPECT_TRUE(timeline(Trace({.max_events = 0}))["traceEvents"].empty());
}

TEST(TraceTimeline, ThreadsRecordAtTheSameTimeAsItIsWritten) {
  Trace trace;
  constexpr uint16_t kSends = 2000;
  std::vector<std::thread> threads;
  for (uint32_t agent = 1; agent <= 3; ++agent) {
    threads.emplace_back([&trace, agent] {
      trace.agent_registered(agent, "thread", Nanoseconds(0));
      for (uint16_t i = 0; i < kSends; ++i) {
        trace.send_posted(agent, {.slot = i}, mad_class::perf, i, Nanoseconds(i));
        trace.transmitted(agent, {.slot = i}, 1, Nanoseconds(i));
        trace.send_completed(agent, completion({.slot = i}, SendStatus::success, 1, Nanoseconds(0)), Nanoseconds(i));
        trace.mad_on_wire(true, Qp::gsi, Address{}, Mad().bytes(), Nanoseconds(i));
      }
    });
  }
  for (int i = 0; i < 5; ++i) {
    timeline(trace);
    const TraceFile file("pcapng");
    EXPECT_TRUE(trace.write_capture(file.path()).ok());
  }
  for (std::thread& thread : threads) thread.join();
  const json file = timeline(trace);
  EXPECT_EQ(phase(file, "b").size(), 3u * kSends);
  EXPECT_EQ(phase(file, "e").size(), 3u * kSends);
  EXPECT_EQ(phase(file, "n").size(), 3u * kSends);
  for (const json& e : phase(file, "b")) EXPECT_EQ(e["args"]["status"], "success");
}

TEST(TraceFiles, TellWhyTheyCannotBeWritten) {
  const Trace trace;
  const auto timeline_file = trace.write_timeline("/nonexistent/trace.json");
  EXPECT_EQ(timeline_file.code(), Errc::file_failed);
  EXPECT_THAT(timeline_file.error().message, HasSubstr("/nonexistent/trace.json: No such file"));
  EXPECT_EQ(trace.write_capture("/nonexistent/trace.pcapng").code(), Errc::file_failed);
}

TEST(TraceFiles, TellThatTheDiskIsFull) {
  if (!std::ofstream("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  Trace trace;
  trace.mad_on_wire(true, Qp::gsi, Address{}, Mad().bytes(), Nanoseconds(0));
  EXPECT_THAT(trace.write_capture("/dev/full").error().message, HasSubstr("No space left"));
}

}  // namespace
}  // namespace tidemill::test
