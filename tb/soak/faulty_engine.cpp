// SPDX-License-Identifier: Apache-2.0
#include "faulty_engine.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace tidemill::test {
namespace {

constexpr std::array<Fault, 13> kFaults{{
    {"lost-completion", "I1 "},
    {"second-completion", "I1 "},
    {"second-response", "I"},
    {"timeout-for-success", "I7 "},
    {"early-timer", "I12 "},
    {"late-timer", "I"},
    {"lost-try", "I"},
    {"other-port-matches", "I9 "},
    {"response-overlooked", "I10 "},
    {"buffer-kept", "I29"},
    {"cancel-overlooked", "I"},
    {"flush-overlooked", "I"},
    {"sent-overlooked", "I"},
}};

/// Every fault strikes once, after this many chances.
constexpr unsigned kPatience = 500;

class FaultyEngine final : public soak::AnyEngine, private soak::Sink {
 public:
  FaultyEngine(std::string fault, const soak::Options& options, soak::Sink& sink)
      : fault_(std::move(fault)), sink_(sink), engine_(soak::make_soft_engine(options, *this)) {}

  uint32_t slots() const override { return engine_->slots(); }
  uint32_t bank_of(uint64_t tid) const override { return engine_->bank_of(tid); }
  void set_ring(uint32_t lane, std::span<const abi::Descriptor> ring) override { engine_->set_ring(lane, ring); }
  bool doorbell(uint32_t lane, uint16_t count) override { return engine_->doorbell(lane, count); }
  uint32_t consumed(uint32_t lane) const override { return engine_->consumed(lane); }
  uint32_t wake(uint32_t now) const override { return engine_->wake(now); }
  const soft::EngineCounters& counters() const override { return engine_->counters(); }
  std::vector<std::string> left_over() const override { return engine_->left_over(); }

  bool command(const abi::Command& c, uint32_t now) override {
    if (c.kind() == abi::CommandKind::cancel && strikes("cancel-overlooked", 20)) return true;
    if (c.kind() == abi::CommandKind::flush && strikes("flush-overlooked", 3)) return true;
    return engine_->command(c, now);
  }
  void sent(const abi::Sent& s, uint32_t now) override {
    if (!strikes("sent-overlooked")) engine_->sent(s, now);
  }
  void received(const abi::Received& r, uint32_t now) override {
    if (strikes("buffer-kept")) return;
    if (r.response() && strikes("response-overlooked")) {
      abi::Action dropped;
      dropped.buffer(r.buffer());
      return sink_.drop(dropped);
    }
    abi::Received changed = r;
    if (fault_ == "other-port-matches" && r.response()) changed.port(1);  // all sends are on this port
    engine_->received(changed, now);
  }
  bool step(uint32_t now, unsigned budget) override {
    if (fault_ == "late-timer" && now % 1024 > 512) return false;
    return engine_->step(fault_ == "early-timer" ? now + 1 : now, budget);
  }

 private:
  void transmit(const abi::Transmit& t) override {
    if (!strikes("lost-try")) sink_.transmit(t);
  }
  void complete(const abi::Completion& c) override {
    if (c.kind() == abi::CompletionKind::send && strikes("lost-completion")) return;
    abi::Completion changed = c;
    if (c.kind() == abi::CompletionKind::response_send && strikes("timeout-for-success")) changed.status(abi::Status::timeout);
    sink_.complete(changed);
    if (c.kind() == abi::CompletionKind::send && strikes("second-completion")) sink_.complete(c);
    if (c.kind() == abi::CompletionKind::response && strikes("second-response", 20)) sink_.complete(c);
  }
  void drop(const abi::Action& a) override { sink_.drop(a); }

  bool strikes(const char* fault, unsigned patience = kPatience) { return fault_ == fault && ++chances_ == patience; }

  std::string fault_;
  soak::Sink& sink_;
  std::unique_ptr<soak::AnyEngine> engine_;
  unsigned chances_ = 0;
};

}  // namespace

std::span<const Fault> faults() { return kFaults; }

soak::EngineMaker faulty(const std::string& name) {
  if (std::none_of(kFaults.begin(), kFaults.end(), [&](const Fault& f) { return name == f.name; }))
    throw std::invalid_argument("no fault is called " + name);
  return [name](const soak::Options& options, soak::Sink& sink) { return std::make_unique<FaultyEngine>(name, options, sink); };
}

}  // namespace tidemill::test
