// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "harness.hpp"
#include "host/soft/engine.hpp"
#include "input.hpp"
#include "tb/support/engine_audit.hpp"

namespace tidemill::fuzz {
namespace {

using abi::CompletionKind;

class EngineTrial;
struct Sink {
  EngineTrial& trial;
  void transmit(const abi::Transmit& t);
  void complete(const abi::Completion& c);
  void drop(const abi::Action& a);
};

constexpr uint32_t kLanes = 6;
constexpr uint32_t kRing = 16;
constexpr std::array<uint16_t, 2> kWireCredit{5, 7};
/// Two banks of eight slots.
using Engine = soft::Engine<hls::BankConfig<3, 0, 3, 2, 3>, 1, kLanes, Sink>;

class EngineTrial {
 public:
  explicit EngineTrial(Input input)
      : input_(input), engine_(std::make_unique<Engine>(sink_, Engine::Options{.wire_credit = kWireCredit})) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) engine_->set_ring(lane, rings_[lane]);
  }

  std::string operator()() {
    for (uint16_t lane = 0; lane < kLanes; ++lane) open(lane);
    while (!input_.empty() && broken_.empty()) {
      any_input();
      credits();
    }
    if (broken_.empty()) end();
    return broken_;
  }

 private:
  void any_input() {
    switch (input_.below(10)) {
      case 0:
      case 1: return post();
      case 2: return sent();
      case 3: return received();
      case 4: return command();
      case 5: return open(static_cast<uint16_t>(input_.below(kLanes + 1)));
      case 6: engine_->doorbell(input_.below(kLanes + 1), static_cast<uint16_t>(input_.below(4))); return;
      case 7: now_ += input_.ticks() & 0x3ffu; return;  // eight times the span of the wheel: farther is only slower
      default: engine_->step(now_, input_.byte()); return;
    }
  }

  /// A descriptor of any content; fields that the rest of an input may meet again come from small sets.
  void post() {
    const uint32_t lane = input_.below(kLanes);
    abi::Descriptor& d = rings_[lane][produced_[lane]++ % kRing];
    d = {};
    if (input_.byte() > 0xf0) {
      for (uint64_t* w : {&d.w0, &d.w1, &d.w2, &d.w3, &d.w4}) *w = input_.word();
    } else {
      d.tid(input_.below(32));
      d.slot(slot_for(d.tid()));
      d.generation(generations_[d.slot() % Engine::kSlots]);
      d.mgmt_class(input_.flag() ? 0x81 : 0x03);
      d.timeout(input_.ticks());
      d.retries(static_cast<uint8_t>(input_.below(4)));
      d.backoff_cap(input_.flag() ? input_.ticks() : 0);
      d.deadline(input_.flag() ? input_.ticks() : 0);
      d.grh(input_.flag());
      d.port(1);
    }
    d.agent(1 + d.agent() % 4);
    engine_->doorbell(lane, 1);
  }
  /// Mostly in the bank of the TID, as a sane host does it.
  uint16_t slot_for(uint64_t tid) {
    const uint32_t slot = input_.below(Engine::kSlots);
    return static_cast<uint16_t>(input_.byte() > 0xf0 ? slot : (slot & ~1u) | engine_->bank_of(tid));
  }
  void sent() {
    abi::Sent s;
    s.slot(static_cast<uint16_t>(input_.below(Engine::kSlots + 2)));
    s.generation(static_cast<uint16_t>(generations_[s.slot() % Engine::kSlots] + (input_.byte() < 0xf0 ? 0 : input_.byte())));
    const uint8_t bits = input_.byte();
    s.status((bits & 3u) == 0 ? abi::Status::error : (bits & 3u) == 1 ? abi::Status::flushed : abi::Status::success);
    s.recovery((bits >> 2) & 3u);
    report(s);
  }
  void report(const abi::Sent& s) {
    const bool known = s.slot() < Engine::kSlots && tries_[s.slot()].on_wire && s.generation() == generations_[s.slot()];
    if (known) tries_[s.slot()].on_wire = false;  // its completion may come out of this very call
    const auto stale = [&] { return engine_->counters().rejected[static_cast<unsigned>(abi::Cause::stale_sent)]; };
    const uint64_t before = stale();
    engine_->sent(s, now_);
    if ((stale() == before) != known) fail("a sent report was taken wrongly");
  }
  void received() {
    abi::Received r;
    const uint8_t kind = input_.byte();
    r.tid(kind > 0xf0 ? input_.word() : input_.below(32));
    r.mgmt_class(input_.flag() ? 0x81 : 0x03);
    r.port(static_cast<uint8_t>(kind == 1 ? 2 : 1));
    r.qp(input_.flag());
    r.grh(input_.flag());
    r.rmpp(kind > 0xe0);
    r.response(kind != 0);
    r.buffer(static_cast<uint16_t>(input_.word()));
    buffer_ = r.buffer();
    buffers_back_ = 0;
    engine_->received(r, now_);
    if (buffers_back_ != 1) fail("a receive buffer did not come back exactly once");
    buffers_back_ = 0;
  }
  void command() {
    abi::Command c;
    c.w0 = input_.word();
    c.w1 = input_.word();
    if (input_.byte() < 0xe0) {
      c.slot(static_cast<uint16_t>(c.slot() % Engine::kSlots));
      c.generation(generations_[c.slot()]);
      c.ticks(c.ticks() % 200);
    }
    c.lane(static_cast<uint16_t>(c.lane() % (kLanes + 2)));
    c.agent(1 + c.agent() % 4);
    c.weight(static_cast<uint8_t>(c.ticks()));
    if (c.kind() == abi::CommandKind::flush) ++flushes_;
    engine_->command(c, now_);
  }
  void open(uint16_t lane) {
    abi::Command c;
    c.kind(abi::CommandKind::open_lane);
    c.lane(lane);
    const uint8_t bits = input_.byte();
    c.qp((bits & 1u) != 0);
    c.service_class((bits >> 1) & 3u);
    c.weight(static_cast<uint8_t>(1 + (bits >> 5)));
    c.window((bits >> 3) & 3u);
    engine_->command(c, now_);
  }

  friend Sink;
  void transmit(const abi::Transmit& t) {
    if (t.slot() >= Engine::kSlots) return fail("transmitted a slot that is none");
    Try& now = tries_[t.slot()];
    if (now.on_wire) return fail("transmitted while a try is on the wire");
    if (t.generation() != generations_[t.slot()]) return fail("transmitted another generation");
    now = {true, t.qp()};
  }
  void complete(const abi::Completion& c) {
    if (c.kind() == CompletionKind::flush_done) {
      if (flushes_ == 0) return fail("a flush was done that nobody asked for");
      --flushes_;
      return;
    }
    if (c.kind() != CompletionKind::send) buffer_back(c.buffer());
    if (c.kind() == CompletionKind::unsolicited) return;
    if (c.slot() >= Engine::kSlots) return fail("a completion of a slot that is none");
    if (c.generation() != generations_[c.slot()]) return fail("a completion of another generation");
    if (c.kind() == CompletionKind::response) return;
    if (tries_[c.slot()].on_wire) return fail("completed while a try is on the wire");
    ++generations_[c.slot()];
  }
  void drop(const abi::Action& a) { buffer_back(a.buffer()); }
  void buffer_back(uint16_t buffer) {
    ++buffers_back_;
    if (buffer != buffer_) fail("another receive buffer came back");
  }

  /// Credits at home and tries on the wire are as many as there ever were.
  void credits() {
    std::array<uint32_t, 2> out{};
    for (const Try& t : tries_) out[t.qp] += t.on_wire ? 1u : 0u;
    for (unsigned qp = 0; qp < 2; ++qp) {
      if (engine_->arbiter().memory().wire_credit(qp) + out[qp] != kWireCredit[qp]) fail("wire credits do not add up");
    }
  }

  void end() {
    abi::Command c;
    c.kind(abi::CommandKind::close_lane);
    for (uint16_t lane = 0; lane < kLanes; ++lane) {
      c.lane(lane);
      engine_->command(c, now_);
    }
    c.kind(abi::CommandKind::flush);
    // A doorbell may promise 16 bits of descriptors at a time; every round drains some and reports every try.
    unsigned flushed = 0;
    for (unsigned round = 0; round < 64 && broken_.empty(); ++round) {
      bool busy = engine_->step(now_, 4096);
      if (!busy && flushed < 2) {  // twice: what left its lane behind the first one
        ++flushed;
        for (uint32_t agent = 1; agent <= 4; ++agent) {
          c.agent(agent);
          ++flushes_;
          engine_->command(c, now_);
        }
        busy = true;
      }
      for (uint16_t slot = 0; slot < Engine::kSlots; ++slot) {
        if (!tries_[slot].on_wire) continue;
        abi::Sent s;
        s.slot(slot);
        s.generation(generations_[slot]);
        report(s);
        busy = true;
      }
      if (!busy) break;
    }
    if (!broken_.empty()) return;
    if (flushes_ != 0) return fail("a flush has no end");
    test::Findings findings;
    test::engine_at_rest(*engine_, kWireCredit, findings);
    if (!findings.empty()) fail(findings.texts().front());
  }

  void fail(const std::string& what) {
    if (broken_.empty()) broken_ = what + " (tick " + std::to_string(now_) + ")";
  }

  struct Try {
    bool on_wire = false;
    bool qp = false;
  };

  Input input_;
  Sink sink_{*this};
  std::array<std::vector<abi::Descriptor>, kLanes> rings_ = make_rings();
  static std::array<std::vector<abi::Descriptor>, kLanes> make_rings() {
    std::array<std::vector<abi::Descriptor>, kLanes> rings;
    for (auto& ring : rings) ring.resize(kRing);
    return rings;
  }
  std::array<uint32_t, kLanes> produced_{};
  std::array<uint16_t, Engine::kSlots> generations_{};
  std::array<Try, Engine::kSlots> tries_{};
  std::unique_ptr<Engine> engine_;
  uint32_t now_ = 0;
  uint32_t flushes_ = 0;
  uint16_t buffer_ = 0;
  unsigned buffers_back_ = 0;
  std::string broken_;
};

void Sink::transmit(const abi::Transmit& t) { trial.transmit(t); }
void Sink::complete(const abi::Completion& c) { trial.complete(c); }
void Sink::drop(const abi::Action& a) { trial.drop(a); }

}  // namespace

std::string run_engine(std::span<const uint8_t> bytes) {
  return EngineTrial(Input(bytes.first(std::min(bytes.size(), kLongest))))();
}

}  // namespace tidemill::fuzz
