// SPDX-License-Identifier: Apache-2.0
/// Random events for one bank, steered by its answers so that every part of a send's life is met, right and wrong:
/// collisions of hash and fingerprint, full buckets, stale names, early, late and forged responses, jumps of time.
/// Replayable from its seed. The bank under test and the model get the same events.
#pragma once
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "hls/tid_hash.hpp"
#include "hls/tracker.hpp"

namespace tidemill::test {

class RandomBankEvents {
 public:
  RandomBankEvents(uint64_t seed, uint32_t bank_slots) : random_(seed), hash_seed_(random_()), index_(bank_slots, -1) {
    for (uint32_t i = 0; i < kSlots; ++i) {
      slots_[i].number = static_cast<uint16_t>(i * (bank_slots / kSlots) + below(bank_slots / kSlots));
      index_[slots_[i].number] = static_cast<int>(i);
    }
  }

  abi::Event next() {
    if (repeat_) return again_;
    now_ += one_in(16) ? 1u : 0u;
    if (one_in(4096)) now_ += below(700);
    if (one_in(40000)) now_ += below(70000);
    abi::Event e = choose();
    e.now(now_);
    return e;
  }

  /// What the bank answered to the event of the last next().
  void learn(const abi::Event& e, const abi::Action& a) {
    wake_ = a.wake();
    repeat_ = a.again() & (e.kind() != abi::EventKind::flush);
    if (repeat_) {
      again_ = e;
      again_.cursor(a.cursor());
      again_.cause(a.cause());
      again_.tid(a.tid());
      again_.hash(hash_of(a.tid()));
      return;
    }
    if (e.kind() == abi::EventKind::flush) {
      flushing_ = a.again();
      flush_cursor_ = a.cursor();
    }
    if ((e.kind() == abi::EventKind::grant) & (queued_[e.qp()] > 0)) --queued_[e.qp()];
    if (a.retry_queued()) ++queued_[a.qp()];
    const int at = a.slot() < index_.size() ? index_[a.slot()] : -1;
    if ((at < 0) | (a.kind() == abi::ActionKind::reject) | (a.kind() == abi::ActionKind::drop)) return;
    Slot& s = slots_[static_cast<uint32_t>(at)];
    if (e.kind() == abi::EventKind::descriptor) s.sent_as = e;
    if ((a.kind() == abi::ActionKind::complete) | (a.kind() == abi::ActionKind::respond_complete)) {
      s.phase = Phase::free;
      s.generation = static_cast<uint16_t>(a.generation() + 1u);
    } else if (a.kind() == abi::ActionKind::transmit) {
      s.phase = Phase::on_wire;
    } else if (e.kind() == abi::EventKind::sent) {
      s.phase = Phase::off_wire;
    }
  }

 private:
  static constexpr uint32_t kSlots = 512;
  enum class Phase { free, on_wire, off_wire };
  struct Slot {
    uint16_t number = 0, generation = 0;
    Phase phase = Phase::free;
    abi::Event sent_as;  ///< The descriptor of its last send.
  };

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool one_in(uint32_t n) { return below(n) == 0; }

  /// Some TIDs share the whole hash, some crowd into a few buckets, so that no case of the matcher stays unmet.
  uint64_t hash_of(uint64_t tid) const {
    switch (tid & 7u) {
      case 0: return hls::tid_hash(tid, hash_seed_) & ~uint64_t{0xffcffc};
      case 1: return hls::tid_hash(tid & ~uint64_t{0xff0}, hash_seed_);
      default: return hls::tid_hash(tid, hash_seed_);
    }
  }

  /// A slot in the wanted phase if one is found soon, else any.
  Slot& pick(Phase wanted) {
    uint32_t i = below(kSlots);
    for (int tries = 0; tries < 16 && slots_[i].phase != wanted; ++tries) i = below(kSlots);
    return slots_[i];
  }

  abi::Event choose() {
    if (flushing_ && one_in(3)) return flush(flush_agent_, flush_cursor_);
    if (hls::Tracker::reached(now_, wake_) && one_in(2)) return of(abi::EventKind::tick);
    const uint32_t kind = below(64);
    if (kind < 18) return descriptor();
    if (kind < 34) return sent();
    if (kind < 48) return received();
    if (kind < 55) return grant();
    if (kind < 62) return command();
    if (kind < 63) return of(abi::EventKind::tick);
    if (flushing_ || !one_in(32)) return descriptor();
    flush_agent_ = agent();
    return flush(flush_agent_, 0);
  }

  static abi::Event of(abi::EventKind kind) {
    abi::Event e;
    e.kind(kind);
    return e;
  }
  uint32_t agent() { return 1u + below(6); }
  uint32_t ticks() {
    switch (below(16)) {
      case 0: return 0;
      case 1: return 400u + below(400);
      case 2: return below(2u << below(31));
      default: return 1u + below(40);
    }
  }
  abi::Event named(abi::EventKind kind, const Slot& s) {
    abi::Event e = of(kind);
    e.slot(s.number);
    e.generation(static_cast<uint16_t>(s.generation - (one_in(64) ? 1u : 0u)));
    e.agent(agent());
    if (one_in(256)) e.slot(static_cast<uint16_t>(below(0x10000)));
    return e;
  }

  abi::Event descriptor() {
    abi::Event e = named(abi::EventKind::descriptor, pick(Phase::free));
    e.tid((uint64_t{e.agent()} << 32) | ++serial_);
    e.mgmt_class(one_in(16) ? 0x81 : static_cast<uint8_t>(3u + below(2)));
    if (one_in(32)) {
      const Slot& other = pick(Phase::off_wire);
      e.tid(other.sent_as.tid());
      e.mgmt_class(other.sent_as.mgmt_class());
    }
    e.hash(hash_of(e.tid()));
    e.timeout(ticks());
    e.backoff_cap(one_in(4) ? 8u * e.timeout() : 0u);
    e.deadline(one_in(8) ? ticks() : 0u);
    e.peer(below(4));
    e.own_address(static_cast<uint16_t>(below(4)));
    e.lane(static_cast<uint16_t>(below(1024)));
    e.retries(static_cast<uint8_t>(below(4)));
    e.port(static_cast<uint8_t>(1u + below(2)));
    e.qp(!one_in(4));
    e.grh(one_in(4));
    e.match_source(one_in(4));
    e.counted(one_in(2));
    e.drain(one_in(32));
    return e;
  }
  abi::Event sent() {
    abi::Event e = named(abi::EventKind::sent, pick(one_in(16) ? Phase::off_wire : Phase::on_wire));
    if (one_in(8)) {
      e.status(one_in(2) ? abi::Status::flushed : abi::Status::error);
      e.recovery(static_cast<uint8_t>(below(4)));
      e.vendor(static_cast<uint8_t>(below(256)));
    }
    return e;
  }
  abi::Event received() {
    abi::Event e = pick(one_in(8) ? Phase::free : one_in(4) ? Phase::on_wire : Phase::off_wire).sent_as;
    e.w6 = e.w7 = 0;
    e.kind(abi::EventKind::received);
    e.buffer(static_cast<uint16_t>(below(0x10000)));
    e.rmpp(one_in(16));
    switch (below(32)) {
      case 0: e.mgmt_class(7); break;
      case 1: e.port(3); break;
      case 2: e.qp(!e.qp()); break;
      case 3: e.grh(!e.grh()); break;
      case 4: e.own_address(9); break;
      case 5: e.peer(9); break;
      case 6: e.tid(e.tid() ^ 0x100u); break;
      default: break;
    }
    e.hash(hash_of(e.tid()));
    return e;
  }
  abi::Event grant() {
    abi::Event e = of(abi::EventKind::grant);
    const bool qp = !one_in(4);
    e.qp((queued_[qp] > 0) | one_in(8) ? qp : !qp);
    return e;
  }
  abi::Event command() {
    const Phase phase = one_in(4) ? Phase::free : one_in(3) ? Phase::on_wire : Phase::off_wire;
    abi::Event e = named(one_in(2)   ? abi::EventKind::modify
                         : one_in(2) ? abi::EventKind::deadline
                                     : abi::EventKind::cancel,
                         pick(phase));
    e.timeout(ticks());
    e.deadline(ticks());
    return e;
  }
  static abi::Event flush(uint32_t agent, uint16_t cursor) {
    abi::Event e = of(abi::EventKind::flush);
    e.agent(agent);
    e.cursor(cursor);
    return e;
  }

  std::mt19937_64 random_;
  uint64_t hash_seed_;
  std::array<Slot, kSlots> slots_;
  std::vector<int> index_;  ///< From the bank's slot number to ours.
  uint32_t now_ = 0, wake_ = 0, serial_ = 0;
  std::array<uint32_t, 2> queued_{};
  bool repeat_ = false, flushing_ = false;
  abi::Event again_;
  uint32_t flush_agent_ = 0;
  uint16_t flush_cursor_ = 0;
};

}  // namespace tidemill::test
