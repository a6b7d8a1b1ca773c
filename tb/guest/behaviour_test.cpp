// SPDX-License-Identifier: Apache-2.0
/// The same mishap, told by the kernel's MAD layer to a program of libibumad and by Tidemill to one of its own, over
/// the same devices. Prints `BEHAVIOUR` lines for the documentation; judges only what Tidemill promises.
#include <cstdio>
#include <future>

#include "kernel_agent.hpp"
#include "wires.hpp"

namespace tidemill::guest {
namespace {

using Clock = std::chrono::steady_clock;

double ms(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

/// How often a later one came before an earlier one.
unsigned overtaken(const std::vector<uint64_t>& order) {
  unsigned n = 0;
  for (std::size_t i = 1; i < order.size(); ++i) n += order[i] < order[i - 1] ? 1 : 0;
  return n;
}

/// Requests of our own to a queue pair nobody has.
struct Behaviour : testing::Test {
  static void SetUpTestSuite() { umad_init(); }
  std::unique_ptr<VerbsWire> wire = open_wire({.device = "rxe1"});
  Address nobody{.qpn = 0x123456,
                 .grh = GlobalRoute{.gid = gid_of(kGidOfRxe0), .gid_index = wire->identity().gid_index}};
  Device device = Device::open("soft:").value();
  Port port = device.open_port(1, std::move(wire)).value();
  std::mutex mutex;
  std::vector<SendCompletion> ended;
  std::atomic<bool> removed{false};
  Mad mad = Mad::make(kEchoClass, 1, mad_method::get, 1);
  Agent agent = port.register_agent(
                        {.on_send =
                             [this](const SendCompletion& c) {
                               const std::lock_guard lock(mutex);
                               ended.push_back(c);
                             },
                         .on_receive = [](const Received&) {},
                         .on_port_event = [this](PortEvent e) { removed = removed || e == PortEvent::device_removed; },
                         .window = 0})
                    .value();

  void send(unsigned count, Pace pace, std::optional<uint32_t> tid = {}) {
    for (unsigned i = 0; i < count; ++i)
      ASSERT_TRUE(agent.send({.mad = mad.bytes(), .to = nobody, .pace = pace, .tid = tid, .context = i}).ok());
  }
  bool all_ended(std::size_t count) {
    return soon([&] {
      const std::lock_guard lock(mutex);
      return ended.size() == count;
    });
  }
};

TEST_F(Behaviour, NoAnswer) {
  KernelAgent kernel(false);
  // Once before: the kernel may take a second to find its neighbour the first time.
  ASSERT_EQ(kernel.ask(9, kGidOfRxe1, 10, 0), 0);
  ASSERT_TRUE(kernel.receive(5000));
  const auto start = Clock::now();
  ASSERT_EQ(kernel.ask(1, kGidOfRxe1, 100, 3), 0);
  ASSERT_TRUE(kernel.receive(5000));
  std::printf("BEHAVIOUR no answer, 4 tries of 100 ms: ib_umad status %d after %.1f ms\n", kernel.status(),
              ms(Clock::now() - start));
  send(1, {.timeout = 100ms, .retries = 3});
  ASSERT_TRUE(all_ended(1));
  EXPECT_EQ(ended[0].status, SendStatus::timeout);
  EXPECT_EQ(ended[0].tries, 4u);
  EXPECT_GE(ended[0].elapsed, 400ms);
  std::printf("BEHAVIOUR no answer, 4 tries of 100 ms: tidemill %s after %.1f ms\n",
              std::string(describe(ended[0].status)).c_str(), ms(ended[0].elapsed));
}

TEST_F(Behaviour, SixtyFourEqualTimeouts) {
  KernelAgent kernel(false);
  std::vector<Clock::time_point> posted(64);
  for (uint32_t i = 0; i < 64; ++i) {
    posted[i] = Clock::now();
    ASSERT_EQ(kernel.ask(i + 1, kGidOfRxe1, 200, 0), 0);
  }
  std::vector<uint64_t> order;
  double latest = 0;
  for (unsigned i = 0; i < 64; ++i) {
    ASSERT_TRUE(kernel.receive(5000));
    order.push_back(kernel.tid());
    latest = std::max(latest, ms(Clock::now() - posted[kernel.tid() - 1]) - 200);
  }
  std::printf("BEHAVIOUR 64 equal timeouts: ib_umad %u out of order, latest %.1f ms late\n", overtaken(order), latest);
  send(64, {.timeout = 200ms});
  ASSERT_TRUE(all_ended(64));
  order.clear();
  latest = 0;
  for (const SendCompletion& c : ended) {
    EXPECT_EQ(c.status, SendStatus::timeout);
    EXPECT_GE(c.elapsed, 200ms);
    order.push_back(c.context);
    latest = std::max(latest, ms(c.elapsed) - 200);
  }
  std::printf("BEHAVIOUR 64 equal timeouts: tidemill %u out of order, latest %.1f ms late\n", overtaken(order), latest);
}

TEST_F(Behaviour, UnregisterWithSendsOutstanding) {
  KernelAgent kernel(false);
  for (uint32_t i = 0; i < 8; ++i) ASSERT_EQ(kernel.ask(i + 1, kGidOfRxe1, 10000, 0), 0);
  auto start = Clock::now();
  EXPECT_EQ(kernel.unregister(), 0);
  const double kernel_took = ms(Clock::now() - start);
  unsigned told = 0;
  while (kernel.receive(300)) ++told;
  std::printf("BEHAVIOUR unregister with 8 outstanding: ib_umad %.2f ms, told of %u\n", kernel_took, told);
  send(8, {.timeout = 10s});
  start = Clock::now();
  EXPECT_EQ(agent.deregister(), Errc::ok);
  const double took = ms(Clock::now() - start);
  EXPECT_EQ(ended.size(), 8u);
  for (const SendCompletion& c : ended) EXPECT_EQ(c.status, SendStatus::flushed);
  std::printf("BEHAVIOUR unregister with 8 outstanding: tidemill %.2f ms, told of %zu, flushed\n", took, ended.size());
}

TEST_F(Behaviour, DuplicateTids) {
  KernelAgent kernel(false);
  ASSERT_EQ(kernel.ask(7, kGidOfRxe1, 300, 0), 0);
  errno = 0;
  const int second = kernel.ask(7, kGidOfRxe1, 300, 0);
  std::printf("BEHAVIOUR duplicate TID: ib_umad second send returns %d (%s)\n", second,
              second < 0 ? "refused" : "taken");
  send(2, {.timeout = 300ms}, 7u);
  ASSERT_TRUE(all_ended(2));
  std::sort(ended.begin(), ended.end(), [](const auto& a, const auto& b) { return a.context < b.context; });
  EXPECT_EQ(ended[0].status, SendStatus::timeout);
  EXPECT_EQ(ended[1].status, SendStatus::duplicate);
  std::printf("BEHAVIOUR duplicate TID: tidemill second send completes with %s, the first is not disturbed\n",
              std::string(describe(ended[1].status)).c_str());
}

TEST_F(Behaviour, LinkRemoved) {
  {
    KernelAgent kernel(false);
    for (uint32_t i = 0; i < 3; ++i) ASSERT_EQ(kernel.ask(i + 1, kGidOfRxe1, 10000, 0), 0);
    shell("/usr/bin/rdma link del rxe0");
    unsigned told = 0;
    errno = 0;
    while (kernel.receive(1000)) ++told;
    std::printf("BEHAVIOUR link removed with 3 outstanding: ib_umad told of %u sends, then error %d\n", told, errno);
  }
  shell("/usr/bin/rdma link add rxe0 type rxe netdev va");
  send(3, {.timeout = 10s});
  const auto start = Clock::now();
  auto removal = std::async(std::launch::async, [] { return std::system("/usr/bin/rdma link del rxe1"); });
  ASSERT_TRUE(all_ended(3));
  for (const SendCompletion& c : ended) EXPECT_EQ(c.status, SendStatus::flushed);
  EXPECT_TRUE(soon([&] { return removed.load(); }));
  std::printf(
      "BEHAVIOUR link removed with 3 outstanding: tidemill told of the event and of %zu sends, flushed, after %.1f "
      "ms\n",
      ended.size(), ms(Clock::now() - start));
  EXPECT_EQ(removal.get(), 0);
  agent = {};
  port = {};
  shell("/usr/bin/rdma link add rxe1 type rxe netdev vb");
  std::this_thread::sleep_for(200ms);
}

}  // namespace
}  // namespace tidemill::guest
