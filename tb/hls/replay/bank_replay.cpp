// SPDX-License-Identifier: Apache-2.0
/// The RTL of the bank kernel against the C++ bank.
#include <cstring>
#include <memory>

#include "hls/bank.hpp"
#include "hls/bank_memory.hpp"
#include "random_bank_events.hpp"
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
  static void drive(Kernel& k, const abi::Event& e) {
    k.e0 = e.w0;
    k.e1 = e.w1;
    k.e2 = e.w2;
    k.e3 = e.w3;
    k.e4 = e.w4;
    k.e5 = e.w5;
    k.e6 = e.w6;
    k.e7 = e.w7;
  }
  static void sample(const Kernel& k, abi::Action& a) {
    if (k.a0_vld) a.w0 = k.a0;
    if (k.a1_vld) a.w1 = k.a1;
    if (k.a2_vld) a.w2 = k.a2;
    if (k.a3_vld) a.w3 = k.a3;
  }
#else
  static void drive(Kernel& k, const abi::Event& e) { std::memcpy(&k.events_TDATA, &e, sizeof e); }
  static void sample(const Kernel& k, abi::Action& a) { std::memcpy(&a, &k.actions_TDATA, sizeof a); }
#endif
};

}  // namespace
}  // namespace tidemill::test

int main(int argc, char** argv) {
  using namespace tidemill;
  using Config = hls::CardBankConfig;
  const test::Arguments arguments(argc, argv);
  test::RandomBankEvents events(arguments.seed, Config::kSlots);
  const auto model = std::make_unique<hls::Bank<hls::BankMemory<Config>>>();
  test::RtlPort<test::Wires, abi::Event, abi::Action> rtl;
  return test::replay<abi::EventKind>(
      arguments.events, events, *model, rtl,
      [](const abi::Action& a) { return std::string(name_of(a.kind())) + (a.straight() ? ", straight" : ""); },
      [](abi::EventKind kind, const abi::Action& a) { return hls::declared_cycles(kind, a.straight()); });
}
