// SPDX-License-Identifier: Apache-2.0
#include "any_engine.hpp"

#include <bit>

#include "tb/support/engine_audit.hpp"

namespace tidemill::soak {
namespace {

constexpr std::array<uint16_t, 2> kWireCredits{kWireCredit, kWireCredit};

template <class BankConfig, unsigned BankBits>
class SoftEngine final : public AnyEngine {
 public:
  SoftEngine(const Options& options, Sink& sink)
      : engine_(sink, {.seed = options.seed, .wire_credit = kWireCredits}) {}

  uint32_t slots() const override { return Engine::kSlots; }
  uint32_t bank_of(uint64_t tid) const override { return engine_.bank_of(tid); }
  void set_ring(uint32_t lane, std::span<const abi::Descriptor> ring) override { engine_.set_ring(lane, ring); }
  bool doorbell(uint32_t lane, uint16_t count) override { return engine_.doorbell(lane, count); }
  uint32_t consumed(uint32_t lane) const override { return engine_.consumed(lane); }
  bool command(const abi::Command& c, uint32_t now) override { return engine_.command(c, now); }
  void sent(const abi::Sent& s, uint32_t now) override { engine_.sent(s, now); }
  void received(const abi::Received& r, uint32_t now) override { engine_.received(r, now); }
  bool step(uint32_t now, unsigned budget) override { return engine_.step(now, budget); }
  uint32_t wake(uint32_t now) const override { return engine_.wake(now); }
  const soft::EngineCounters& counters() const override { return engine_.counters(); }
  std::vector<std::string> left_over() const override {
    test::Findings findings;
    test::engine_at_rest(engine_, kWireCredits, findings);
    return findings.texts();
  }

 private:
  using Engine = soft::Engine<BankConfig, BankBits, kLanes, Sink>;
  Engine engine_;
};

template <unsigned BankBits>
std::unique_ptr<AnyEngine> make_card(const Options& options, Sink& sink) {
  return std::make_unique<SoftEngine<hls::BankConfig<16 - BankBits, 15 - BankBits>, BankBits>>(options, sink);
}
template <unsigned BankBits>
std::unique_ptr<AnyEngine> make_tiny(const Options& options, Sink& sink) {
  return std::make_unique<SoftEngine<hls::BankConfig<6 - BankBits, 2 - BankBits>, BankBits>>(options, sink);
}

}  // namespace

std::unique_ptr<AnyEngine> make_soft_engine(const Options& options, Sink& sink) {
  using Maker = std::unique_ptr<AnyEngine> (*)(const Options&, Sink&);
  static constexpr std::array<Maker, 5> kCard{make_card<0>, make_card<1>, make_card<2>, make_card<3>, make_card<4>};
  static constexpr std::array<Maker, 3> kTiny{make_tiny<0>, make_tiny<1>, make_tiny<2>};
  static_assert(kMaxBanks == 1u << (kCard.size() - 1) && kMaxTinyBanks == 1u << (kTiny.size() - 1));
  const auto bits = static_cast<size_t>(std::countr_zero(options.banks));
  return options.size == Size::card ? kCard.at(bits)(options, sink) : kTiny.at(bits)(options, sink);
}

}  // namespace tidemill::soak
