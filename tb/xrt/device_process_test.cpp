// SPDX-License-Identifier: Apache-2.0
/// What happens when the device process dies, and what it counts of the host.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "tb/support/echo_wire.hpp"
#include "tb/support/scripted_wire.hpp"
#include "tidemill.hpp"

namespace tidemill::test {
namespace {

using namespace std::chrono_literals;

Device open_device() {
  auto device = Device::open("xrt:0?xclbin=" TEST_XCLBIN);
  EXPECT_TRUE(device.ok()) << device.error().message;
  return std::move(device).value();
}

template <class Done>
bool soon(Done&& done, std::chrono::seconds patience = 30s) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

SendRequest request(const Mad& mad, Nanoseconds timeout) {
  SendRequest r{.mad = mad.bytes(), .to = {}, .pace = {}, .tid = {}, .context = 0};
  r.to.lid = 7;
  r.pace.timeout = timeout;
  return r;
}

const Mad kGet = Mad::make(0x30, 1, mad_method::get, 0x0010);

struct Counts {
  std::atomic<unsigned> succeeded{0}, flushed{0}, others{0}, removed{0};
  Registration registration() {
    Registration r;
    r.on_send = [this](const SendCompletion& c) {
      ++(c.status == SendStatus::success ? succeeded : c.status == SendStatus::flushed ? flushed : others);
    };
    r.on_port_event = [this](PortEvent e) { removed += e == PortEvent::device_removed; };
    return r;
  }
};

TEST(DeviceProcess, ThatDiesInTrafficIsADeviceRemoved) {
  Device device = open_device();
  auto script = std::make_shared<WireScript>();
  Port port = device.open_port(1, std::make_unique<ScriptedWire>(script)).value();
  Counts counts[3];
  std::vector<Agent> agents;
  for (Counts& c : counts) agents.push_back(port.register_agent(c.registration()).value());
  constexpr unsigned kSends = 40;
  unsigned accepted = 0;
  for (unsigned i = 0; i < kSends; ++i)
    for (Agent& agent : agents) accepted += agent.send(request(kGet, 100s)).ok();
  ASSERT_EQ(accepted, 3 * kSends);
  ASSERT_TRUE(soon([&] { return script->transmitted_total() > 0; }));

  const auto process = static_cast<pid_t>(device.counter("device_process"));
  ASSERT_GT(process, 1);
  const auto killed = std::chrono::steady_clock::now();
  ASSERT_EQ(kill(process, SIGKILL), 0);
  for (Counts& c : counts) {
    EXPECT_TRUE(soon([&] { return c.removed == 1 && c.flushed == kSends; })) << c.removed << " " << c.flushed;
    EXPECT_EQ(c.succeeded + c.others, 0u);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - killed, 5s);
  agents.clear();  // deregisters
  EXPECT_LT(std::chrono::steady_clock::now() - killed, 6s);
}

TEST(DeviceProcess, CountsOneDoorbellABatchAndNoRegisterToComplete) {
  Device device = open_device();
  Port port = device.open_port(1, std::make_unique<EchoWire>()).value();
  Counts counts;
  Agent agent = port.register_agent(counts.registration()).value();
  ASSERT_TRUE(agent.send(request(kGet, 100s)).ok());  // opens the lane
  ASSERT_TRUE(soon([&] { return counts.succeeded == 1; }));
  counts.succeeded = 0;
  const auto counter = [&](const char* name) { return device.counter(name); };
  const uint64_t doorbells = counter("lane_doorbells"), others = counter("other_writes"),
                 commands = counter("command_producers"), reads = counter("register_reads"),
                 sent = counter("sent_producers"), received = counter("received_producers");
  const auto began = std::chrono::steady_clock::now();
  constexpr unsigned kBatches = 20, kBatch = 16;
  for (unsigned b = 0; b < kBatches; ++b) {
    std::vector<SendRequest> batch(kBatch, request(kGet, 100s));
    std::vector<SendId> ids(kBatch);
    ASSERT_EQ(agent.send(batch, ids).accepted, kBatch);
    ASSERT_TRUE(soon([&] { return counts.succeeded == (b + 1) * kBatch; }));
  }
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  // To post: at most one doorbell a batch. To complete: none; the failure register is looked at ten times a second.
  EXPECT_LE(counter("lane_doorbells") - doorbells, kBatches);
  EXPECT_EQ(counter("other_writes"), others);
  EXPECT_EQ(counter("command_producers"), commands);
  EXPECT_LE(static_cast<double>(counter("register_reads") - reads), 10 * seconds + 3);
  // The wire of the host reports in batches, too.
  EXPECT_LE(counter("sent_producers") - sent, kBatches * kBatch);
  EXPECT_LE(counter("received_producers") - received, kBatches * kBatch);
  RecordProperty("round_trips_per_second", std::to_string(kBatches * kBatch / seconds));
  RecordProperty("report_doorbells",
                 std::to_string(counter("sent_producers") - sent + counter("received_producers") - received));
  std::printf("%.0f round trips a second, %.2f doorbells of the wire's reports a MAD\n", kBatches * kBatch / seconds,
              static_cast<double>(counter("sent_producers") - sent + counter("received_producers") - received) /
                  (kBatches * kBatch));
}

}  // namespace
}  // namespace tidemill::test
