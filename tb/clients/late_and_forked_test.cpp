// SPDX-License-Identifier: Apache-2.0
/// An ibsim that answers late, and state that a fork must not share.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <mutex>
#include <thread>

#include "host/src/ibsim/protocol.hpp"
#include "host/umad/per_process.hpp"
#include "tidemill/ibsim.hpp"

namespace tidemill::test {
namespace {

/// Takes a client, says nothing to its first question until it is told to, and answers every other one at once.
class LateIbsim {
 public:
  explicit LateIbsim(const std::string& base) {
    using ibsim::SocketName;
    const SocketName control(base, "ctl"), out(base, "out1");
    if (::bind(control_, control.get(), control.length) != 0 || ::bind(data_, out.get(), out.length) != 0) return;
    thread_ = std::thread([this] { serve(); });
  }
  ~LateIbsim() {
    ::shutdown(control_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ::close(control_);
    ::close(data_);
  }
  LateIbsim(const LateIbsim&) = delete;
  LateIbsim& operator=(const LateIbsim&) = delete;

  void answer_the_first() {
    const std::lock_guard lock(mutex_);
    reply(kept_, from_, 0xaa);
  }
  /// When the next question is there already.
  void answer_the_first_late() {
    const std::lock_guard lock(mutex_);
    late_ = true;
  }

 private:
  void reply(ibsim::Control c, const sockaddr_un& to, uint8_t marker) {
    if (c.type == static_cast<uint32_t>(ibsim::Request::connect)) {
      const uint32_t client = 1;
      std::memcpy(c.data, &client, sizeof client);
    } else {
      c.data[0] = std::byte{marker};
    }
    ::sendto(control_, &c, sizeof c, MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to), length_);
  }
  void serve() {
    bool kept = false;
    for (;;) {
      ibsim::Control c{};
      sockaddr_un from{};
      socklen_t length = sizeof from;
      if (::recvfrom(control_, &c, sizeof c, 0, reinterpret_cast<sockaddr*>(&from), &length) <= 0) return;
      const std::lock_guard lock(mutex_);
      length_ = length;
      if (!kept && c.type != static_cast<uint32_t>(ibsim::Request::connect)) {
        kept = true;
        kept_ = c;
        from_ = from;
      } else {
        if (std::exchange(late_, false)) reply(kept_, from_, 0xaa);
        reply(c, from, 0xbb);
      }
    }
  }
  const int control_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const int data_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  std::mutex mutex_;
  bool late_ = false;
  ibsim::Control kept_{};
  sockaddr_un from_{};
  socklen_t length_ = 0;
  std::thread thread_;
};

TEST(IbsimQuestions, ALateAnswerIsNotTakenForTheNextOnes) {
  const std::string base = "tidemill-late-" + std::to_string(::getpid());
  LateIbsim server(base);
  auto ibsim = Ibsim::connect({.socket = base, .host = "H0"});
  ASSERT_TRUE(ibsim.ok()) << ibsim.error().message;
  EXPECT_EQ(ibsim->node_info().code(), Errc::device_failed) << "no answer within two seconds";
  server.answer_the_first();
  const auto port = ibsim->port_info();
  ASSERT_TRUE(port.ok()) << port.error().message;
  EXPECT_EQ(port.value()[0], std::byte{0xbb});
}

TEST(IbsimQuestions, ALateAnswerIsSkippedThoughTheNextQuestionWasFirst) {
  for (const bool same_question : {false, true}) {
    const std::string base = "tidemill-later-" + std::to_string(::getpid()) + (same_question ? "a" : "b");
    LateIbsim server(base);
    auto ibsim = Ibsim::connect({.socket = base, .host = "H0"});
    ASSERT_TRUE(ibsim.ok()) << ibsim.error().message;
    EXPECT_EQ(ibsim->node_info().code(), Errc::device_failed) << "no answer within two seconds";
    server.answer_the_first_late();
    const auto answer = same_question ? ibsim->node_info() : ibsim->port_info();
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer.value()[0], std::byte{0xbb});
  }
}

TEST(PerProcess, AChildNeverWaitsForALockOfItsParents) {
  umad::PerProcess<std::mutex> of;
  const std::lock_guard held(of.get());
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a hang ends it with a signal
    const std::lock_guard own(of.get());
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tidemill::test
