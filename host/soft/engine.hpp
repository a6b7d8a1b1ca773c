// SPDX-License-Identifier: Apache-2.0
/// The engine in process: banks and send arbiter with the dispatch that the RTL shell gives them on a card. Lanes are
/// descriptor rings in memory; the wire and the completion ring are a Sink.
///
/// Not thread safe: one thread drives an engine. A Sink must not call back into the engine; it queues.
/// Units: time in ticks. Costs: hls/cycle_table.hpp counts what the same events would take on a card.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "hls/arbiter_memory.hpp"
#include "hls/bank.hpp"
#include "hls/bank_memory.hpp"
#include "hls/cycle_table.hpp"
#include "hls/send_arbiter.hpp"
#include "hls/tid_hash.hpp"

namespace tidemill::soft {

/// Counted since reset; readable at any time by the driving thread.
struct EngineCounters {
  std::array<uint64_t, abi::kCauseCount> dropped{};    ///< Responses that matched nothing, by cause.
  std::array<uint64_t, abi::kCauseCount> rejected{};   ///< Descriptors, sent reports and commands, by cause.
  std::array<uint64_t, abi::kStatusCount> completed{};  ///< Sends, by status.
  uint64_t transmitted = 0;
  uint64_t retried = 0;      ///< Entries of the retry queues.
  uint64_t matched = 0;
  uint64_t unsolicited = 0;  ///< Handed up without a match.
  uint64_t no_room = 0;      ///< Tries put off because the TID matcher was full.
  uint64_t events = 0;       ///< Bank events, re-issued ones included.
  uint64_t bank_cycles = 0;  ///< Their declared cycles, over all banks.
};

/// Banks is a power of two; Lanes are the lanes the host may open.
template <class BankConfig, unsigned BankBits, unsigned Lanes, class Sink>
class Engine {
 public:
  static constexpr unsigned kBanks = 1u << BankBits;
  static constexpr uint32_t kSlots = BankConfig::kSlots << BankBits;
  static constexpr uint32_t kLanes = Lanes;
  static constexpr uint32_t kRetryLanes = kBanks * 2;

  struct Options {
    uint64_t seed = 0;                           ///< Of the TID hash.
    std::array<uint16_t, 2> wire_credit{64, 64};  ///< Tries on the wire at a time, by QP.
    uint8_t retry_weight = 16;                   ///< Of each retry lane.
    uint8_t retry_class = 1;                     ///< Service class of the retry lanes.
  };

  Engine(Sink& sink, const Options& options) : sink_(sink), options_(options) { reset(); }

  /// Forgets everything: lanes, slots, time, counters.
  void reset() {
    banks_ = std::make_unique<std::array<Bank, kBanks>>();
    arbiter_ = std::make_unique<Arbiter>();
    rings_ = {};
    flushes_.clear();
    flush_cursor_ = {};
    counters_ = {};
    more_grants_ = false;
    for (uint32_t bank = 0; bank < kBanks; ++bank) {
      wake_[bank] = 0;
      for (uint8_t qp = 0; qp < 2; ++qp) {
        abi::ArbiterEvent open;
        open.lane(static_cast<uint16_t>(retry_lane(bank, qp)));
        open.qp(qp != 0);
        open.service_class(options_.retry_class);
        open.weight(options_.retry_weight);
        arbitrate<abi::ArbiterKind::open_lane>(open);
      }
    }
    for (uint8_t qp = 0; qp < 2; ++qp) wire_credit(qp, options_.wire_credit[qp]);
  }

  /// The bank a send with this TID belongs to: its slot must have this number in its low bits.
  uint32_t bank_of(uint64_t tid) const { return hls::bank_of(hls::tid_hash(tid, options_.seed), BankBits); }

  /// Memory of a lane's send ring; its size is a power of two.
  /// `consumed`, if given, is kept at the number of descriptors fetched, so that other threads know what is free.
  void set_ring(uint32_t lane, std::span<const abi::Descriptor> ring, std::atomic<uint32_t>* consumed = nullptr) {
    rings_[lane] = {ring, consumed == nullptr ? 0 : consumed->load(std::memory_order_relaxed), consumed};
  }
  /// More tries may be on the wire of a QP at a time.
  void add_wire_credit(bool qp, uint16_t count) { wire_credit(qp, count); }
  /// `count` more descriptors stand in the ring of a lane. False if the lane is not open.
  bool doorbell(uint32_t lane, uint16_t count) {
    if (lane >= Lanes || !notify(lane, count)) return false;
    expect_descriptors(lane, count);
    return true;
  }
  /// Descriptors fetched from a lane so far, modulo 2^32: their ring entries may be written again.
  uint32_t consumed(uint32_t lane) const { return rings_[lane].consumed; }

  /// An entry of the command ring. False if it names no lane, or a lane in the wrong state.
  bool command(const abi::Command& c, uint32_t now) {
    switch (c.kind()) {
      case abi::CommandKind::flush: flushes_.push_back(c.agent()); return true;
      case abi::CommandKind::open_lane: return configure_lane<abi::ArbiterKind::open_lane>(c);
      case abi::CommandKind::close_lane: return configure_lane<abi::ArbiterKind::close_lane>(c);
      case abi::CommandKind::weigh_lane: return configure_lane<abi::ArbiterKind::weigh_lane>(c);
      default: break;
    }
    abi::Event e;
    e.slot(local(c.slot()));
    e.generation(c.generation());
    e.agent(c.agent());
    e.lane(c.lane());
    e.timeout(c.ticks());
    e.deadline(c.ticks());
    e.now(now);
    const uint32_t bank = bank_index(c.slot());
    switch (c.kind()) {
      case abi::CommandKind::modify: dispatch<abi::EventKind::modify>(bank, e); break;
      case abi::CommandKind::deadline: dispatch<abi::EventKind::deadline>(bank, e); break;
      default: dispatch<abi::EventKind::cancel>(bank, e); break;
    }
    return true;
  }

  /// The wire reports a try.
  void sent(const abi::Sent& s, uint32_t now) {
    abi::Event e;
    e.slot(local(s.slot()));
    e.generation(s.generation());
    e.status(s.status());
    e.vendor(s.vendor());
    e.recovery(s.recovery());
    e.now(now);
    const abi::Action a = dispatch<abi::EventKind::sent>(bank_index(s.slot()), e);
    if (a.kind() != abi::ActionKind::reject) wire_credit(a.qp(), 1);
  }

  /// A MAD arrived.
  void received(const abi::Received& r, uint32_t now) {
    if (!r.response()) {
      ++counters_.unsolicited;
      sink_.complete(unsolicited(r, now));
      return;
    }
    match(r, hls::tid_hash(r.tid(), options_.seed), now);
  }
  /// MADs that arrived together: what they will touch comes near before the first of them is looked at.
  void received(std::span<const abi::Received> all, uint32_t now) {
    std::array<uint64_t, kAhead> hash;
    for (size_t done = 0; done < all.size(); done += kAhead) {
      const auto some = all.subspan(done, std::min<size_t>(kAhead, all.size() - done));
      for (size_t i = 0; i < some.size(); ++i) {
        hash[i] = hls::tid_hash(some[i].tid(), options_.seed);
        expect_search(hash[i]);
      }
      for (size_t i = 0; i < some.size(); ++i) expect_match(hash[i]);
      for (size_t i = 0; i < some.size(); ++i) some[i].response() ? match(some[i], hash[i], now) : received(some[i], now);
    }
  }

  /// Does bounded work: up to `budget` grants, tick steps and flush steps together. Returns true if more is waiting.
  bool step(uint32_t now, unsigned budget = 256) {
    bool more = true;
    while (more && budget > 0) {
      more = false;
      for (uint32_t bank = 0; bank < kBanks; ++bank) more |= tick(bank, now);
      more |= flush(now);
      more |= grant(now);
      --budget;
    }
    return more;
  }
  /// First tick at which step() has timer work again.
  uint32_t wake(uint32_t now) const {
    uint32_t first = now + hls::Tracker::kMaxTicks;
    for (const uint32_t wake : wake_) first = hls::Tracker::earlier(first, wake);
    return first;
  }

  const EngineCounters& counters() const { return counters_; }
  auto& bank(uint32_t i) { return (*banks_)[i]; }
  const auto& bank(uint32_t i) const { return (*banks_)[i]; }
  const auto& arbiter() const { return *arbiter_; }

 private:
  using Bank = hls::Bank<hls::BankMemory<BankConfig>>;
  using Arbiter = hls::SendArbiter<hls::ArbiterMemory<hls::ArbiterConfig<Lanes + kRetryLanes>>>;
  struct Ring {
    std::span<const abi::Descriptor> entries;
    uint32_t consumed = 0;
    std::atomic<uint32_t>* published = nullptr;
  };

  static constexpr uint32_t retry_lane(uint32_t bank, bool qp) { return Lanes + bank * 2 + (qp ? 1 : 0); }
  static constexpr uint32_t bank_index(uint32_t slot) { return slot & (kBanks - 1u); }
  /// Banks count their slots from 0: the bank's number is shifted out on the way in and back in on the way out.
  static constexpr uint16_t local(uint16_t slot) { return static_cast<uint16_t>(slot >> BankBits); }

  // Looking ahead hides cache misses: a transaction touches a record, two buckets and a few list links, all far apart.
  // (Inlined by force: a compiler takes a function that only prefetches for one without effect.)
  static constexpr size_t kAhead = 16;
  using Memory = hls::BankMemory<BankConfig>;
  using Matcher = hls::TidMatcher<Memory>;

  const Memory& memory_of(uint64_t hash) const { return (*banks_)[hls::bank_of(hash, BankBits)].memory(); }
  [[gnu::always_inline]] void expect_search(uint64_t hash) const { Matcher::expect(memory_of(hash), hash); }
  [[gnu::always_inline]] void expect_match(uint64_t hash) const {
    const auto search = Matcher::search(memory_of(hash), hash, 0);
    memory_of(hash).expect_slot(Matcher::slot_of(search, Matcher::first(search)));
  }
  /// The last `count` descriptors of a lane, just posted.
  [[gnu::always_inline]] void expect_descriptors(uint32_t lane, uint32_t count) const {
    const Ring& ring = rings_[lane];
    if (ring.entries.empty()) return;
    abi::LaneState state;
    state.w0 = arbiter_->memory().lane_low(lane);
    const uint32_t end = ring.consumed + state.pending();
    for (uint32_t at = end - std::min<uint32_t>(count, kAhead); at != end; ++at) {
      const abi::Descriptor& d = ring.entries[at & (ring.entries.size() - 1u)];
      expect_search(hls::tid_hash(d.tid(), options_.seed));
      (*banks_)[bank_index(d.slot())].memory().expect_slot(local(d.slot()));
    }
  }

  // The kinds of events are known at compile time, so that each has a straight path of its own.
  template <abi::ArbiterKind kind>
  [[gnu::always_inline]] abi::ArbiterAction arbitrate(abi::ArbiterEvent e) {
    e.kind(kind);
    const abi::ArbiterAction a = arbiter_->step(e);
    more_grants_ = a.more();
    return a;
  }
  bool notify(uint32_t lane, uint16_t count) {
    abi::ArbiterEvent e;
    e.lane(static_cast<uint16_t>(lane));
    e.count(count);
    return !arbitrate<abi::ArbiterKind::doorbell>(e).rejected();
  }
  void wire_credit(bool qp, uint16_t count) {
    abi::ArbiterEvent e;
    e.qp(qp);
    e.count(count);
    arbitrate<abi::ArbiterKind::wire_credit>(e);
  }
  template <abi::ArbiterKind kind>
  bool configure_lane(const abi::Command& c) {
    abi::ArbiterEvent e;
    e.lane(c.lane());
    e.qp(c.qp());
    e.service_class(c.service_class());
    e.weight(c.weight());
    e.count(c.window());
    return c.lane() < Lanes && !arbitrate<kind>(e).rejected();
  }

  [[gnu::always_inline]] void match(const abi::Received& r, uint64_t hash, uint32_t now) {
    abi::Event e;
    e.tid(r.tid());
    e.hash(hash);
    e.mgmt_class(r.mgmt_class());
    e.buffer(r.buffer());
    e.own_address(r.own_address());
    e.peer(r.peer());
    e.port(r.port());
    e.qp(r.qp());
    e.grh(r.grh());
    e.rmpp(r.rmpp());
    e.now(now);
    dispatch<abi::EventKind::received>(hls::bank_of(hash, BankBits), e);
  }

  /// Gives an event to its bank and routes the answer.
  template <abi::EventKind kind>
  [[gnu::always_inline]] abi::Action dispatch(uint32_t bank, abi::Event& e) {
    e.kind(kind);
    abi::Action a = (*banks_)[bank].step(e);
    count(kind, a);
    if (a.again() && kind != abi::EventKind::flush) [[unlikely]] a = reissue(bank, e, a);
    wake_[bank] = a.wake();
    a.slot(static_cast<uint16_t>((a.slot() << BankBits) | bank));
    if (a.wire_credit() | a.window_credit() | a.retry_queued()) route_credits(bank, a);
    route(a, e.now());
    return a;
  }
  /// Issues an event again while the bank asks for it; the last action.
  [[gnu::cold]] abi::Action reissue(uint32_t bank, abi::Event e, abi::Action a) {
    while (a.again()) {
      e.cursor(a.cursor());
      e.cause(a.cause());
      e.tid(a.tid());
      e.hash(hls::tid_hash(a.tid(), options_.seed));
      a = (*banks_)[bank].step(e);
      count(e.kind(), a);
    }
    return a;
  }
  [[gnu::always_inline]] void count(abi::EventKind kind, const abi::Action& a) {
    ++counters_.events;
    counters_.bank_cycles += hls::declared_cycles(kind, a.straight());
  }

  void route_credits(uint32_t bank, const abi::Action& a) {
    if (a.wire_credit()) wire_credit(a.credit_qp(), 1);
    if (a.window_credit()) {
      abi::ArbiterEvent e;
      e.lane(a.lane());
      arbitrate<abi::ArbiterKind::window_credit>(e);
    }
    if (a.retry_queued()) {
      ++counters_.retried;
      notify(retry_lane(bank, a.qp()), 1);
    }
  }
  [[gnu::always_inline]] void route(const abi::Action& a, uint32_t now) {
    switch (a.kind()) {
      case abi::ActionKind::none: break;
      case abi::ActionKind::transmit: {
        ++counters_.transmitted;
        abi::Transmit t;
        t.slot(a.slot());
        t.generation(a.generation());
        t.port(a.port());
        t.qp(a.qp());
        t.tries(a.tries());
        sink_.transmit(t);
        break;
      }
      case abi::ActionKind::complete:
        ++counters_.completed[static_cast<unsigned>(a.status())];
        sink_.complete(entry(abi::CompletionKind::send, a, now));
        break;
      case abi::ActionKind::respond:
        ++counters_.matched;
        sink_.complete(entry(abi::CompletionKind::response, a, now));
        break;
      case abi::ActionKind::respond_complete:
        ++counters_.matched;
        ++counters_.completed[static_cast<unsigned>(a.status())];
        sink_.complete(entry(abi::CompletionKind::response_send, a, now));
        break;
      case abi::ActionKind::deliver:
        ++counters_.unsolicited;
        sink_.complete(entry(abi::CompletionKind::unsolicited, a, now));
        break;
      case abi::ActionKind::drop:
        ++counters_.dropped[static_cast<unsigned>(a.cause())];
        sink_.drop(a);
        break;
      case abi::ActionKind::reject:
        ++counters_.rejected[static_cast<unsigned>(a.cause())];
        break;
    }
  }

  bool tick(uint32_t bank, uint32_t now) {
    if (!hls::Tracker::reached(now, wake_[bank])) return false;
    abi::Event e;
    e.now(now);
    return dispatch<abi::EventKind::tick>(bank, e).more();
  }

  /// One step of the oldest flush in every bank that is not through.
  bool flush(uint32_t now) {
    if (flushes_.empty()) return false;
    bool busy = false;
    for (uint32_t bank = 0; bank < kBanks; ++bank) {
      if (flush_cursor_[bank] == kFlushed) continue;
      abi::Event e;
      e.agent(flushes_.front());
      e.cursor(static_cast<uint16_t>(flush_cursor_[bank]));
      e.now(now);
      const abi::Action a = dispatch<abi::EventKind::flush>(bank, e);
      flush_cursor_[bank] = a.again() ? a.cursor() : kFlushed;
      busy = true;
    }
    if (!busy) {
      abi::Completion done;
      done.kind(abi::CompletionKind::flush_done);
      done.agent(flushes_.front());
      done.now(now);
      flushes_.pop_front();
      flush_cursor_ = {};
      sink_.complete(done);
    }
    return true;
  }

  bool grant(uint32_t now) {
    if (!more_grants_) return false;
    const abi::ArbiterAction granted = arbitrate<abi::ArbiterKind::grant>({});
    if (!granted.granted()) return false;
    if (granted.lane() >= Lanes) {
      retry(granted, now);
    } else {
      fetch(granted, now);
    }
    return more_grants_;
  }
  /// The head descriptor of a lane goes to its bank.
  [[gnu::always_inline]] void fetch(const abi::ArbiterAction& granted, uint32_t now) {
    Ring& ring = rings_[granted.lane()];
    const abi::Descriptor& d = ring.entries[ring.consumed & (ring.entries.size() - 1u)];
    abi::Event e;
    e.w0 = d.w0;
    e.w1 = d.w1;
    e.w2 = d.w2;
    e.w3 = d.w3;
    e.w4 = d.w4;
    // Of these the card believes only what it knows itself.
    e.lane(granted.lane());
    e.qp(granted.qp());
    e.counted(granted.counted());
    e.drain(granted.drain());
    e.slot(local(d.slot()));
    e.hash(hls::tid_hash(d.tid(), options_.seed));
    e.now(now);
    const uint32_t bank = bank_index(d.slot());
    ++ring.consumed;
    if (ring.published != nullptr) ring.published->store(ring.consumed, std::memory_order_release);
    count_no_room(dispatch<abi::EventKind::descriptor>(bank, e));
  }
  [[gnu::cold]] void retry(const abi::ArbiterAction& granted, uint32_t now) {
    abi::Event e;
    e.qp(granted.qp());
    e.now(now);
    count_no_room(dispatch<abi::EventKind::grant>((granted.lane() - Lanes) / 2, e));
  }
  void count_no_room(const abi::Action& a) {
    if (a.kind() == abi::ActionKind::none && a.retry_queued()) ++counters_.no_room;
  }

  static abi::Completion entry(abi::CompletionKind kind, const abi::Action& a, uint32_t now) {
    abi::Completion c;
    c.slot(a.slot());
    c.generation(a.generation());
    c.agent(a.agent());
    c.kind(kind);
    c.status(a.status());
    c.tid(a.tid());
    c.buffer(a.buffer());
    c.lane(a.lane());
    c.tries(a.tries());
    c.vendor(a.vendor());
    c.port(a.port());
    c.qp(a.qp());
    c.now(now);
    return c;
  }
  static abi::Completion unsolicited(const abi::Received& r, uint32_t now) {
    abi::Completion c;
    c.kind(abi::CompletionKind::unsolicited);
    c.tid(r.tid());
    c.buffer(r.buffer());
    c.port(r.port());
    c.qp(r.qp());
    c.now(now);
    return c;
  }

  static constexpr uint32_t kFlushed = 0xffffffffu;

  Sink& sink_;
  Options options_;
  std::unique_ptr<std::array<Bank, kBanks>> banks_;
  std::unique_ptr<Arbiter> arbiter_;
  std::array<Ring, Lanes> rings_{};
  std::array<uint32_t, kBanks> wake_{};
  std::deque<uint32_t> flushes_;
  std::array<uint32_t, kBanks> flush_cursor_{};
  EngineCounters counters_;
  bool more_grants_ = false;
};

}  // namespace tidemill::soft
