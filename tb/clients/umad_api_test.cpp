// SPDX-License-Identifier: Apache-2.0
/// The drop-in's calls one by one, in this process, on a fabric of ibsim's.
#include <arpa/inet.h>
#include <infiniband/umad.h>
#include <infiniband/umad_str.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <future>

#include "tb/clients/fixture.hpp"
#include "tidemill.hpp"

namespace tidemill::test {
namespace {

using testing::StrEq;

constexpr uint8_t kVendorClass = 0x32;
constexpr uint16_t kNodeInfo = 0x0011;

/// A buffer as programs have it: header, then the MAD.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes = kMadBytes) : bytes_(umad_size() + bytes), length_(static_cast<int>(bytes)) {}
  void* umad() { return bytes_.data(); }
  uint8_t* mad() { return static_cast<uint8_t*>(umad_get_mad(umad())); }
  int& length() { return length_; }
  Buffer& fill(const Mad& from) {
    std::memcpy(mad(), from.bytes().data(), std::min<std::size_t>(kMadBytes, bytes_.size() - umad_size()));
    return *this;
  }

 private:
  std::vector<char> bytes_;
  int length_;
};

class Umad : public Clients {
 protected:
  void SetUp() override {
    if (lacks({"ibsim"})) GTEST_SKIP();
    start_ibsim(two_switches());
    ::setenv("IBSIM_SOCKNAME", ibsim_->socket().c_str(), 1);
    ::setenv("SIM_HOST", "Hca1", 1);
    ASSERT_EQ(umad_init(), 0);
    port_ = umad_open_port(nullptr, 0);
    ASSERT_GE(port_, 0);
  }
  void TearDown() override {
    if (port_ >= 0) umad_close_port(port_);
  }
  int smi_agent() { return umad_register(port_, mad_class::subn_directed, 1, 0, nullptr); }
  int vendor_agent(bool server = false) {
    long mask[16 / sizeof(long)] = {};
    if (server) mask[0] = 1 << mad_method::get;
    return umad_register(port_, kVendorClass, 1, 1, mask);
  }
  /// Asks our own node, which ibsim answers.
  static Mad ask_self(uint32_t tid = 7) {
    return Mad::make(mad_class::subn_directed, 1, mad_method::get, kNodeInfo).tid(tid).dr_slid(0xffff).dr_dlid(0xffff);
  }
  static void to_self(Buffer& b) { umad_set_addr(b.umad(), 0xffff, 0, 0, 0); }
  /// Asks a LID that nobody has.
  static Mad ask_nobody(uint32_t tid = 9) { return Mad::make(mad_class::perf, 1, mad_method::get, 0x0012).tid(tid); }
  static void to_nobody(Buffer& b) { umad_set_addr(b.umad(), 0x1234, 1, 0, static_cast<int>(kGsiQkey)); }

  int port_ = -1;
};

TEST_F(Umad, TellsWhatAdapterAndPortThereAre) {
  char names[4][UMAD_CA_NAME_LEN];
  ASSERT_EQ(umad_get_cas_names(names, 4), 1);
  umad_ca_t ca;
  ASSERT_EQ(umad_get_ca(names[0], &ca), 0);
  EXPECT_EQ(ca.node_type, 1u);
  EXPECT_EQ(ca.numports, 2);
  ASSERT_NE(ca.ports[1], nullptr);
  EXPECT_THAT(ca.ports[1]->link_layer, StrEq("IB"));
  EXPECT_EQ(ca.ports[1]->phys_state, 5u) << "LinkUp";
  EXPECT_EQ(umad_release_ca(&ca), 0);
  umad_port_t port;
  ASSERT_EQ(umad_get_port(nullptr, 0, &port), 0);
  EXPECT_EQ(port.portnum, 1);
  EXPECT_EQ(port.pkeys[0], 0xffff);
  EXPECT_EQ(umad_release_port(&port), 0);
  EXPECT_EQ(umad_get_port("mlx5_0", 1, &port), -ENODEV);
  EXPECT_EQ(umad_open_port("mlx5_0", 1), -ENODEV);
  __be64 guids[3];
  EXPECT_EQ(umad_get_ca_portguids(nullptr, guids, 3), 3);
  EXPECT_EQ(umad_get_ca_portguids(nullptr, guids, 2), -ENOMEM);
  umad_device_node* list = umad_get_ca_device_list();
  ASSERT_NE(list, nullptr);
  EXPECT_THAT(list->ca_name, StrEq(names[0]));
  EXPECT_EQ(umad_sort_ca_device_list(&list, 0), 0);
  umad_free_ca_device_list(list);
  EXPECT_THAT(umad_class_str(0x03), StrEq("SubnAdm"));
  EXPECT_THAT(umad_attribute_str(0x03, htons(0x35)), StrEq("PathRecord"));
}

TEST_F(Umad, ARequestIsAnswered) {
  const int agent = smi_agent();
  ASSERT_GE(agent, 0);
  Buffer ask, got;
  ask.fill(ask_self(0x1234));
  to_self(ask);
  ASSERT_EQ(umad_send(port_, agent, ask.umad(), kMadBytes, 1000, 3), 0);
  EXPECT_EQ(MadView(std::span<const std::byte, kMadBytes>(reinterpret_cast<std::byte*>(ask.mad()), kMadBytes)).tid(),
            0x1234u)
      << "the caller's buffer is its own";
  ASSERT_EQ(umad_recv(port_, got.umad(), &got.length(), 1000), agent);
  EXPECT_EQ(umad_status(got.umad()), 0);
  EXPECT_EQ(got.length(), 256);
  const MadView answer(std::span<const std::byte, kMadBytes>(reinterpret_cast<std::byte*>(got.mad()), kMadBytes));
  EXPECT_EQ(answer.method(), mad_method::get_resp);
  EXPECT_EQ(static_cast<uint32_t>(answer.tid()), 0x1234u);
  EXPECT_NE(answer.tid() >> 32, 0u) << "the agent's id, as the kernel has it";
}

TEST_F(Umad, NoAnswerIsReportedWithinTheWaitOfItsCaller) {
  const int agent = umad_register(port_, mad_class::perf, 1, 0, nullptr);
  Buffer ask, got;
  ask.fill(ask_nobody());
  to_nobody(ask);
  for (const int timeout : {20, 100}) {
    ASSERT_EQ(umad_send(port_, agent, ask.umad(), kMadBytes, timeout, 0), 0);
    got.length() = 256;
    // The same time: a program must hear of the send's end, not of its own impatience.
    ASSERT_EQ(umad_recv(port_, got.umad(), &got.length(), timeout), agent);
    EXPECT_EQ(umad_status(got.umad()), ETIMEDOUT);
    EXPECT_EQ(got.length(), 24);
  }
  got.length() = 256;
  EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 10), -ETIMEDOUT) << "once each";
  EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 0), -EWOULDBLOCK);
}

TEST_F(Umad, ATidMayBeOutstandingOnceInAClass) {
  const int agent = umad_register(port_, mad_class::perf, 1, 0, nullptr);
  Buffer ask;
  ask.fill(ask_nobody());
  to_nobody(ask);
  ASSERT_EQ(umad_send(port_, agent, ask.umad(), kMadBytes, 1000, 0), 0);
  EXPECT_EQ(umad_send(port_, agent, ask.umad(), kMadBytes, 1000, 0), -EIO);
  EXPECT_EQ(errno, EINVAL);
  ask.fill(ask_nobody(10));
  EXPECT_EQ(umad_send(port_, agent, ask.umad(), kMadBytes, 1000, 0), 0);
}

TEST_F(Umad, MethodsHaveOneOwner) {
  ASSERT_GE(vendor_agent(true), 0);
  EXPECT_LT(vendor_agent(true), 0);
  EXPECT_GE(vendor_agent(false), 0);
  const int other = umad_open_port(nullptr, 0);
  long mask[16 / sizeof(long)] = {1 << mad_method::get};
  EXPECT_LT(umad_register(other, kVendorClass, 1, 1, mask), 0) << "also of another file";
  umad_close_port(other);
}

TEST_F(Umad, AFileHasThirtyTwoAgents) {
  int last = -1;
  for (int i = 0; i < 32; ++i) ASSERT_GE(last = smi_agent(), 0) << i;
  EXPECT_LT(smi_agent(), 0);
  EXPECT_EQ(umad_unregister(port_, last), 0);
  EXPECT_GE(smi_agent(), 0);
}

TEST_F(Umad, UnregisteringDiscardsWhatIsPendingAndKeepsWhatHasArrived) {
  const int agent = smi_agent(), waiting = umad_register(port_, mad_class::perf, 1, 0, nullptr);
  Buffer ask, got;
  ask.fill(ask_self());
  to_self(ask);
  ASSERT_EQ(umad_send(port_, agent, ask.umad(), kMadBytes, 1000, 0), 0);
  ASSERT_EQ(umad_poll(port_, 1000), 0);
  ask.fill(ask_nobody());
  to_nobody(ask);
  ASSERT_EQ(umad_send(port_, waiting, ask.umad(), kMadBytes, 200, 0), 0);
  EXPECT_EQ(umad_unregister(port_, agent), 0);
  EXPECT_EQ(umad_unregister(port_, waiting), 0);
  EXPECT_EQ(umad_unregister(port_, waiting), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 1000), agent);
  got.length() = 256;
  EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 400), -ETIMEDOUT) << "nothing of the one that waited";
}

TEST_F(Umad, WhatDoesNotFitIsRefusedAndNothingIsSent) {
  const int agent = umad_register(port_, mad_class::subn_adm, 2, 1, nullptr);
  ASSERT_GE(agent, 0);
  Buffer ask(8192);
  ask.fill(Mad::make(mad_class::subn_adm, 2, 0x12, 0x35).tid(3));
  umad_set_addr(ask.umad(), 1, 1, 0, static_cast<int>(kGsiQkey));
  const auto refused = [&](int a, int length) {
    const int result = umad_send(port_, a, ask.umad(), length, 100, 0);
    return result == -EIO && errno == EINVAL;
  };
  for (int length = 0; length < 36; ++length) EXPECT_TRUE(refused(agent, length)) << length;
  for (const int length : {-1, 257, 8192, 0x7fffffff})
    EXPECT_TRUE(refused(agent, length)) << length << " bytes, no RMPP";
  for (const int a : {-1, 32, 31, 0x7fffffff}) EXPECT_TRUE(refused(a, 256)) << "agent " << a;
  // Active RMPP of a kind no program may send, or too short for its class.
  uint8_t* const mad = ask.mad();
  mad[26] = 1;
  for (const auto& [version, type, segment] :
       {std::tuple{2, 1, 0}, {255, 1, 0}, {1, 2, 0}, {1, 3, 0}, {1, 4, 0}, {1, 9, 0}, {1, 1, 2}}) {
    mad[24] = static_cast<uint8_t>(version);
    mad[25] = static_cast<uint8_t>(type);
    mad[31] = static_cast<uint8_t>(segment);
    EXPECT_TRUE(refused(agent, 1000)) << version << " " << type << " " << segment;
  }
  mad[24] = mad[25] = 1;
  mad[31] = 0;
  for (int length = 36; length < 56; ++length)
    EXPECT_TRUE(refused(agent, length)) << length << " bytes of an SA message";
  EXPECT_EQ(umad_send(-1, agent, ask.umad(), 256, 100, 0), -EIO);
  EXPECT_EQ(errno, EBADF);
  // Nothing of all that is outstanding: no end comes.
  Buffer got;
  EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 300), -ETIMEDOUT);
  EXPECT_EQ(umad_recv(port_, nullptr, &got.length(), 0), -EINVAL);
}

TEST_F(Umad, ShortMadsAreFilledUpWithZeros) {
  const int agent = smi_agent();
  Buffer ask(256), got;
  ask.fill(ask_self());
  to_self(ask);
  for (const int length : {64, 100, 255}) {
    ask.fill(ask_self(static_cast<uint32_t>(length)));
    ASSERT_EQ(umad_send(port_, agent, ask.umad(), length, 1000, 0), 0) << length;
    got.length() = 256;
    EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 1000), agent) << length;
  }
}

TEST_F(Umad, ABufferTooSmallLosesNothing) {
  const int agent = smi_agent();
  Buffer ask, got;
  ask.fill(ask_self());
  to_self(ask);
  ASSERT_EQ(umad_send(port_, agent, ask.umad(), kMadBytes, 1000, 0), 0);
  ASSERT_EQ(umad_poll(port_, 1000), 0);
  got.length() = 100;
  EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 0), -EINVAL);
  EXPECT_EQ(got.length(), 256) << "what it needs";
  EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 0), agent);
}

TEST_F(Umad, ClosingWakesWhoeverWaits) {
  auto waits = std::async(std::launch::async, [this] {
    Buffer got;
    return umad_recv(port_, got.umad(), &got.length(), 20'000);
  });
  std::this_thread::sleep_for(200ms);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(umad_close_port(port_), 0);
  port_ = -1;
  EXPECT_LT(waits.get(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST_F(Umad, AChildHasNoneOfItsParentsFiles) {
  const int agent = smi_agent();
  ASSERT_GE(agent, 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a hang ends it with a signal
    Buffer ask;
    ask.fill(ask_self());
    to_self(ask);
    const bool refused = umad_send(port_, agent, ask.umad(), kMadBytes, 100, 0) == -EIO && errno == EBADF;
    ::_exit(refused && umad_close_port(port_) == -EBADF ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Buffer ask, got;
  ask.fill(ask_self());
  to_self(ask);
  ASSERT_EQ(umad_send(port_, agent, ask.umad(), kMadBytes, 1000, 0), 0) << "the parent's work on";
  EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 2000), agent);
}

TEST_F(Umad, EndlessRetriesDoNotDelayAReceiver) {
  const int agent = smi_agent();
  Buffer ask, got;
  ask.fill(ask_nobody());
  to_nobody(ask);
  const int other = umad_register(port_, mad_class::perf, 1, 0, nullptr);
  ASSERT_GE(agent, 0);
  ASSERT_EQ(umad_send(port_, other, ask.umad(), kMadBytes, 1000, INT_MAX), 0);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 10), -ETIMEDOUT);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 150ms) << "no end is due";
}

TEST_F(Umad, AThreadCancelledInReceiveLeavesTheLibraryWhole) {
  const int agent = smi_agent();
  const int port = port_;
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void* p) -> void* {
                  Buffer got;
                  umad_recv(*static_cast<const int*>(p), got.umad(), &got.length(), -1);
                  return nullptr;
                },
                const_cast<int*>(&port)),
            0);
  std::this_thread::sleep_for(50ms);
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  Buffer ask, got;
  ask.fill(ask_self());
  to_self(ask);
  ASSERT_EQ(umad_send(port_, agent, ask.umad(), kMadBytes, 1000, 0), 0);
  EXPECT_EQ(umad_recv(port_, got.umad(), &got.length(), 1000), agent);
}

TEST_F(Umad, WhenIbsimDiesEveryCallSaysSoAndNothingSpins) {
  const int agent = smi_agent(), waiting = umad_register(port_, mad_class::perf, 1, 0, nullptr);
  Buffer ask;
  ask.fill(ask_nobody());
  to_nobody(ask);
  ASSERT_EQ(umad_send(port_, waiting, ask.umad(), kMadBytes, 10'000, 0), 0);
  auto receiver = std::async(std::launch::async, [this] {
    Buffer got;
    const int first = umad_recv(port_, got.umad(), &got.length(), -1);
    const int status = first >= 0 ? umad_status(got.umad()) : 0;
    got.length() = 256;
    return std::tuple(first, status, umad_recv(port_, got.umad(), &got.length(), -1));
  });
  std::this_thread::sleep_for(50ms);
  ibsim_->kill();
  ASSERT_EQ(receiver.wait_for(5s), std::future_status::ready);
  const auto [first, status, second] = receiver.get();
  // The send that waited ends first, or has not been told yet when the end of the wire is: both are heard, each once.
  if (first >= 0) {
    EXPECT_EQ(first, waiting);
    EXPECT_NE(status, 0) << "no failed send is silent";
  }
  EXPECT_EQ(second < 0 ? second : -EIO, -EIO);
  Buffer got;
  for (int i = 0; i < 3; ++i) {
    got.length() = 256;
    const int result = umad_recv(port_, got.umad(), &got.length(), 100);
    EXPECT_TRUE(result == -EIO || (i == 0 && result == waiting)) << result;
  }
  to_self(ask);
  EXPECT_EQ(umad_send(port_, agent, ask.umad(), kMadBytes, 100, 0), -EIO);
  EXPECT_EQ(errno, EIO);
  EXPECT_LT(smi_agent(), 0);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  std::this_thread::sleep_for(1s);
  getrusage(RUSAGE_SELF, &after);
  const auto used = [](const rusage& u) {
    return u.ru_utime.tv_sec * 1000 + u.ru_utime.tv_usec / 1000 + u.ru_stime.tv_sec * 1000 + u.ru_stime.tv_usec / 1000;
  };
  EXPECT_LT(used(after) - used(before), 300) << "ms of processor time in a second of doing nothing";
}

TEST_F(Umad, OpeningTheIssmFileMakesTheNodeASubnetManagers) {
  char path[256];
  ASSERT_EQ(umad_get_issm_path(nullptr, 0, path, sizeof path), 0);
  char too_short[4];
  EXPECT_EQ(umad_get_issm_path(nullptr, 0, too_short, sizeof too_short), -ENAMETOOLONG);
  const auto is_sm = [] {
    umad_port_t p;
    if (umad_get_port(nullptr, 0, &p) != 0) return false;
    const bool set = (ntohl(p.capmask) & 2u) != 0;
    umad_release_port(&p);
    return set;
  };
  const auto becomes = [&is_sm](bool wanted) {
    for (int i = 0; i < 200 && is_sm() != wanted; ++i) std::this_thread::sleep_for(10ms);
    return is_sm() == wanted;
  };
  EXPECT_FALSE(is_sm());
  FILE* const file = std::fopen(path, "r");
  ASSERT_NE(file, nullptr);
  EXPECT_TRUE(becomes(true));
  std::fclose(file);
  EXPECT_TRUE(becomes(false));
}

}  // namespace
}  // namespace tidemill::test
