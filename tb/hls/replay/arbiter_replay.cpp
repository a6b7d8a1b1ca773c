// SPDX-License-Identifier: Apache-2.0
/// The RTL of the arbiter kernel against the C++ arbiter.
#include <cstring>
#include <memory>

#include "hls/arbiter_memory.hpp"
#include "hls/send_arbiter.hpp"
#include "random_arbiter_events.hpp"
#include "replay.hpp"
#ifdef TIDEMILL_RTL_BAMBU
#include "bambu_port.hpp"
#else
#include "vitis_port.hpp"
#endif

namespace tidemill::test {
namespace {

struct Wires {
#ifdef TIDEMILL_RTL_BAMBU
  static void drive(Kernel& k, const abi::ArbiterEvent& e) { k.e0 = e.w0; }
  static void sample(const Kernel& k, abi::ArbiterAction& a) {
    if (k.a0_vld) a.w0 = k.a0;
  }
#else
  static void drive(Kernel& k, const abi::ArbiterEvent& e) { std::memcpy(&k.events_TDATA, &e, sizeof e); }
  static void sample(const Kernel& k, abi::ArbiterAction& a) { std::memcpy(&a, &k.actions_TDATA, sizeof a); }
#endif
};

}  // namespace
}  // namespace tidemill::test

int main(int argc, char** argv) {
  using namespace tidemill;
  using Config = hls::CardArbiterConfig;
  const test::Arguments arguments(argc, argv);
  test::RandomArbiterEvents events(arguments.seed, Config::kLanes);
  const auto model = std::make_unique<hls::SendArbiter<hls::ArbiterMemory<Config>>>();
  test::RtlPort<test::Wires, abi::ArbiterEvent, abi::ArbiterAction> rtl;
  return test::replay<abi::ArbiterKind>(
      arguments.events, events, *model, rtl,
      [](const abi::ArbiterAction& a) {
        return std::string(a.rejected() ? "rejected" : a.drain() ? "drain" : a.granted() ? "granted" : "none");
      },
      [](abi::ArbiterKind kind, const abi::ArbiterAction&) { return hls::declared_cycles(kind); });
}
