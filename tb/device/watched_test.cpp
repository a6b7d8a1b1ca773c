// SPDX-License-Identifier: Apache-2.0
/// `watch --from`: rates of what is written when it likes and looked at when we like.
#include "device_tool/watched.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tb/device/shell.hpp"

namespace tidemill::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using device_tool::Look;
using device_tool::WatchView;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A file as a device of this process would publish it.
class Published {
 public:
  explicit Published(const std::string& name)
      : path_(fs::path(::testing::TempDir()) / ("tidemill_" + std::to_string(getpid()) + "_" + name + ".prom")) {}
  ~Published() { fs::remove(path_); }

  std::string path() const { return path_.string(); }
  void write(uint64_t transmitted, Nanoseconds ago = 0s) {
    metrics::Metrics m;
    m.gauge("tidemill_device_info", "", {{"pid", std::to_string(getpid())}}, 1);
    PortStats s;
    s.transmitted = transmitted;
    metrics::add_port(m, 1, s);
    const fs::path draft = path_.string() + ".draft";
    std::ofstream(draft) << m.exposition();
    if (ago != 0s) fs::last_write_time(draft, fs::file_time_type::clock::now() - ago);
    fs::rename(draft, path_);
  }

 private:
  fs::path path_;
};

TEST(WatchFrom, TellsRatesByTheTimeBetweenTwoSnapshots) {
  Published file("rates");
  const auto watched = device_tool::watch_published(file.path());
  WatchView view("file", false);
  file.write(1000, 3s);
  EXPECT_EQ(watched->look(view).value().outcome, Look::Outcome::shown);
  EXPECT_EQ(watched->look(view).value().outcome, Look::Outcome::nothing_new) << "the same snapshot has no rate";
  file.write(4000, 1s);
  // Written two seconds later, looked at a moment later.
  EXPECT_THAT(watched->look(view).value().text, AllOf(StartsWith("   2.0 s"), HasSubstr("transmitted 1.5k/s")));
}

TEST(WatchFrom, SaysThatNothingNewHasCome) {
  Published file("stale");
  file.write(1000, 8s);
  const auto watched = device_tool::watch_published(file.path());
  WatchView view("file", false), screen("file", true);
  for (int look = 0; look < 2; ++look)
    EXPECT_THAT(watched->look(view).value().text, HasSubstr("stale: the last snapshot is 8 s old"));
  EXPECT_THAT(device_tool::watch_published(file.path())->look(screen).value().text,
              AllOf(HasSubstr("transmitted"), HasSubstr("stale: the last snapshot is 8 s old")));
  const Outcome o = device("watch --count 2 --interval 0.1 --from " + file.path());
  EXPECT_EQ(o.status, 0);
  EXPECT_THAT(o.output, HasSubstr("stale"));
}

TEST(WatchFrom, SaysThatTheDeviceIsClosed) {
  Published file("closed");
  file.write(1000);
  const auto watched = device_tool::watch_published(file.path());
  WatchView view("file", false);
  ASSERT_TRUE(watched->look(view).ok());
  fs::remove(file.path());
  EXPECT_EQ(watched->look(view).value().outcome, Look::Outcome::closed);
}

TEST(WatchFrom, TellsTheRateHoweverOftenItLooks) {
  Published file("steady");
  std::atomic<bool> stop = false;
  const auto begin = std::chrono::steady_clock::now();
  const auto write = [&] {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    file.write(static_cast<uint64_t>(ms.count()) * 1000);
  };
  write();
  std::thread writer([&] {
    for (int i = 1; !stop; ++i)
      if (std::this_thread::sleep_for(20ms); i % 50 == 0) write();
  });
  const Outcome o = device("watch --count 3 --interval 0.3 --from " + file.path());
  stop = true;
  writer.join();
  EXPECT_EQ(o.status, 0);
  std::istringstream lines(o.output);
  unsigned seen = 0;
  const std::string before = "transmitted ";
  for (std::string line; std::getline(lines, line); ++seen) {
    const std::size_t at = line.find(before);
    ASSERT_NE(at, std::string::npos) << line;
    const double rate = std::stod(line.substr(at + before.size())) * (line.find("M/s") < line.find("/s") ? 1000 : 1);
    EXPECT_NEAR(rate, 1000, 100) << line << ": a million a second";
  }
  EXPECT_EQ(seen, 3u);
}

}  // namespace
}  // namespace tidemill::test
