// SPDX-License-Identifier: Apache-2.0
/// The umad wire against the kernel's MAD layer: the peer is a plain libibumad program, in this process, whose requests
/// the kernel times and matches, or the kernel itself.
#include <atomic>

#include "kernel_agent.hpp"
#include "tidemill/umad_wire.hpp"
#include "wires.hpp"

namespace tidemill::guest {
namespace {

MadFilter served() {
  MadFilter f{.mgmt_class = kClass, .class_version = 1};
  f.methods.set(mad_method::get).set(kVendorGet);
  return f;
}

Address gsi_of(const char* gid) {
  return {.grh = GlobalRoute{.gid = gid_of(gid)}};
}

std::unique_ptr<UmadWire> open_umad(const char* device, std::vector<MadFilter> filters = {}) {
  auto wire = UmadWire::open({.device = device, .served = std::move(filters), .response_wait = 2s});
  if (!wire) ADD_FAILURE() << wire.error().message;
  return wire ? std::move(wire).value() : nullptr;
}

/// A runtime over the umad wire on rxe1.
struct Umad : testing::Test {
  static void SetUpTestSuite() { ASSERT_EQ(umad_init(), 0); }
  void open(std::vector<MadFilter> filters) {
    auto wire = open_umad("rxe1", std::move(filters));
    ASSERT_TRUE(wire);
    counters = wire->counters();
    port = device.open_port(1, std::move(wire)).value();
  }
  Result<Response> call(const Address& to, uint8_t method, Pace pace, uint32_t lower = 0) {
    Mad mad = Mad::make(kClass, 1, method, 0x10);
    mad.put8(200, 0x77);
    SendRequest request{.mad = mad.bytes(), .to = to, .pace = pace};
    if (lower != 0) request.tid = lower;
    return agent.call(request);
  }

  Device device = Device::open("soft:").value();
  Port port;
  Agent agent;
  std::shared_ptr<const UmadCounters> counters;
};

TEST_F(Umad, ATidemillAgentAnswersAClientOfTheKernel) {
  open({served()});
  agent = port.register_agent({.unsolicited = served(),
                               .on_send = [](const SendCompletion&) {},
                               .on_receive =
                                   [this](const Received& r) {
                                     Mad response = make_response(r.mad);
                                     response.method(r.mad.method() | mad_method::response_bit);
                                     (void)agent.send({.mad = response.bytes(), .to = r.from});
                                   }})
              .value();
  KernelAgent client(false);
  for (uint32_t tid = 1; tid <= 100; ++tid) {
    ASSERT_EQ(client.ask(tid, kGidOfRxe1, 1000, 3), 0);
    ASSERT_TRUE(client.receive(5000));
    EXPECT_EQ(client.status(), 0);
    EXPECT_EQ(client.mad()[3], kVendorGet | 0x80);
    EXPECT_EQ(client.mad()[200], static_cast<uint8_t>(tid));
  }
  EXPECT_EQ(counters->received, 100u);
}

TEST_F(Umad, AServerOfTheKernelAnswersOurs) {
  open({});
  agent = port.register_agent({.calls_only = true}).value();
  std::atomic<bool> stop{false};
  std::thread server([&] {
    KernelAgent kernel(true);
    while (!stop) {
      if (!kernel.receive(50) || kernel.status() != 0) continue;
      kernel.mad()[3] |= 0x80;
      EXPECT_EQ(kernel.send(0, 0), 0);
    }
  });
  std::this_thread::sleep_for(100ms);
  for (uint32_t i = 1; i <= 100; ++i) {
    auto answer = call(gsi_of(kGidOfRxe0), kVendorGet, {.timeout = 1s, .retries = 3}, i);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(static_cast<uint32_t>(answer->mad.view().tid()), i);  // as it was, whatever was on the wire
    EXPECT_EQ(answer->mad.view().u8(200), 0x77);
    EXPECT_EQ(answer->from.grh->gid, gid_of(kGidOfRxe0));
  }
  stop = true;
  server.join();
}

TEST_F(Umad, TheKernelItselfAnswersAGetNobodyHandles) {
  open({});
  agent = port.register_agent({.calls_only = true}).value();
  auto answer = call(gsi_of(kGidOfRxe0), mad_method::get, {.timeout = 1s, .retries = 3});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->mad.view().status(), kStatusUnsupportedMethodAttribute);
}

TEST_F(Umad, TimeoutsAndRetriesAreTheEngines) {
  open({});
  agent = port.register_agent({.calls_only = true}).value();
  const auto start = std::chrono::steady_clock::now();
  auto answer = call(gsi_of(kGidOfRxe0), kVendorGet, {.timeout = 100ms, .retries = 3});
  const auto took = std::chrono::steady_clock::now() - start;
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.code(), Errc::timed_out);
  EXPECT_GE(took, 400ms);
  EXPECT_EQ(counters->sent, 4u);
  // Later the kernel tells, too, that nothing came: four times, and nobody is bothered.
  EXPECT_TRUE(soon([&] { return counters->given_up == 4; }));
}

TEST_F(Umad, AClassSomeoneHasIsSaid) {
  open({served()});
  auto second = UmadWire::open({.device = "rxe1", .served = {served()}});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::method_taken);
}

}  // namespace
}  // namespace tidemill::guest
