// SPDX-License-Identifier: Apache-2.0
#include "device_tool/engine_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace tidemill::device_tool {
namespace {

using abi::CompletionKind;
using abi::Status;

/// Ticks a timer may be late here: two, and the way of its report to the bank and back.
constexpr uint32_t kLate = 16;
constexpr uint32_t kLong = 100'000;  ///< A timeout that does not come.

std::string what(const EngineRig& rig) {
  return rig.failure().empty() ? "" : fmt::format("; {}", rig.failure());
}

std::string name(const abi::Descriptor& d) {
  return fmt::format("slot {} generation {}", d.slot(), d.generation());
}

/// How a completion differs from what it should be.
Verdict expect(EngineRig& rig, const std::optional<abi::Completion>& c, const abi::Descriptor& d, CompletionKind kind,
               Status status, unsigned tries) {
  if (!c) return fmt::format("{}: no completion, {} expected{}", name(d), abi::name_of(status), what(rig));
  if (c->slot() != d.slot() || c->generation() != d.generation())
    return fmt::format("{}: the completion names slot {} generation {}", name(d), c->slot(), c->generation());
  if (c->kind() != kind || (kind != CompletionKind::response && c->status() != status))
    return fmt::format("{}: {} with status {} came, {} with status {} expected", name(d), abi::name_of(c->kind()),
                       abi::name_of(c->status()), abi::name_of(kind), abi::name_of(status));
  if (c->tid() != d.tid() || c->agent() != d.agent())
    return fmt::format("{}: the completion has TID {:#x} of agent {}, not {:#x} of {}", name(d), c->tid(), c->agent(),
                       d.tid(), d.agent());
  if (kind != CompletionKind::response && c->tries() != tries)
    return fmt::format("{}: completed after {} tries, {} expected", name(d), c->tries(), tries);
  return std::nullopt;
}

Verdict expect(EngineRig& rig, const std::optional<abi::Transmit>& t, const abi::Descriptor& d, unsigned tries) {
  if (!t) return fmt::format("{}: try {} was not transmitted{}", name(d), tries, what(rig));
  if (t->slot() != d.slot() || t->generation() != d.generation() || t->tries() != tries)
    return fmt::format("{}: try {} expected, transmitted was try {} of slot {} generation {}", name(d), tries,
                       t->tries(), t->slot(), t->generation());
  return std::nullopt;
}

/// `test` in each bank; what is wrong with the first that fails, and which others do.
template <class Test>
Verdict each_bank(EngineRig& rig, Test&& test) {
  rig.open_lane({});
  std::string first, banks;
  unsigned failed = 0;
  for (uint32_t bank = 0; bank < rig.banks() && rig.failure().empty(); ++bank) {
    const Verdict wrong = test(bank);
    if (!wrong) continue;
    ++failed;
    banks += fmt::format("{}{}", banks.empty() ? "" : ", ", bank);
    if (first.empty()) first = *wrong;
  }
  // The card may fail between two tests, and then not all banks were tried.
  if (first.empty() && !rig.failure().empty()) return rig.failure();
  if (first.empty()) return std::nullopt;
  return fmt::format("bank{} {}{}: {}", failed == 1 ? "" : "s", banks,
                     failed == rig.banks() && failed > 1 ? " (all)" : "", first);
}

Verdict tracker(EngineRig& rig, uint32_t bank) {
  abi::Descriptor d = rig.send(bank, 0);
  for (uint16_t use = 0; use < 4; ++use) {
    d.generation(use);
    const auto t = rig.launch(d);
    if (auto wrong = expect(rig, t, d, 1)) return wrong;
    if (auto wrong = expect(rig, rig.completed(), d, CompletionKind::send, Status::success, 1)) return wrong;
  }
  rig.post(d);  // a use that is over
  if (!rig.quiet()) return fmt::format("{}: a descriptor that came again was taken", name(d));
  d.generation(4);
  rig.post(d);
  const auto t = rig.transmitted();
  if (auto wrong = expect(rig, t, d, 1)) return wrong;
  constexpr uint8_t kVendor = 0x5a;
  rig.report(*t, Status::error, kVendor);
  const auto c = rig.completed();
  if (auto wrong = expect(rig, c, d, CompletionKind::send, Status::error, 1)) return wrong;
  if (c->vendor() != kVendor)
    return fmt::format("{}: vendor code {:#x} reported, {:#x} came", name(d), kVendor, c->vendor());
  return std::nullopt;
}

/// An answer goes nowhere, for `cause`.
Verdict expect_drop(EngineRig& rig, const abi::Descriptor& d, uint8_t mgmt_class, abi::Cause cause) {
  constexpr uint16_t kBuffer = 99;
  rig.answer(d, kBuffer, mgmt_class);
  const auto drop = rig.dropped();
  if (!drop) return fmt::format("{}: a response to be dropped as {} was not", name(d), abi::name_of(cause));
  if (drop->cause != cause || drop->buffer != kBuffer)
    return fmt::format("{}: a response was dropped as {} with buffer {}, not as {} with buffer {}", name(d),
                       abi::name_of(drop->cause), drop->buffer, abi::name_of(cause), kBuffer);
  return std::nullopt;
}

Verdict answered(EngineRig& rig, const abi::Descriptor& d, uint16_t buffer) {
  rig.answer(d, buffer);
  const auto c = rig.completed();
  if (auto wrong = expect(rig, c, d, CompletionKind::response_send, Status::success, 1)) return wrong;
  if (c->buffer() != buffer)
    return fmt::format("{}: the response is in buffer {}, the completion says {}", name(d), buffer, c->buffer());
  return std::nullopt;
}

Verdict matcher(EngineRig& rig, uint32_t bank) {
  constexpr unsigned kOutstanding = 24;
  std::vector<abi::Descriptor> sends;
  for (unsigned i = 0; i < kOutstanding; ++i) {
    sends.push_back(rig.send(bank, kLong));
    if (auto wrong = expect(rig, rig.launch(sends.back()), sends.back(), 1)) return wrong;
  }
  const abi::Descriptor stranger = rig.send(bank, kLong);
  if (auto wrong = expect_drop(rig, stranger, 0x04, abi::Cause::stale)) return wrong;
  if (auto wrong = expect_drop(rig, sends[0], 0x03, abi::Cause::wrong_class)) return wrong;
  abi::Descriptor twin = rig.send(bank, kLong);
  twin.tid(sends[1].tid());
  rig.post(twin);
  if (auto wrong = expect(rig, rig.completed(), twin, CompletionKind::send, Status::duplicate, 0)) return wrong;
  for (uint16_t i = kOutstanding; i-- > 0;)
    if (auto wrong = answered(rig, sends[i], i)) return wrong;
  if (auto wrong = expect_drop(rig, sends[0], 0x04, abi::Cause::stale)) return wrong;

  const abi::Descriptor early = rig.send(bank, kLong);
  rig.post(early);
  const auto t = rig.transmitted();
  if (auto wrong = expect(rig, t, early, 1)) return wrong;
  rig.answer(early, 3);
  if (auto wrong = expect(rig, rig.completed(), early, CompletionKind::response, Status::success, 1)) return wrong;
  rig.report(*t);
  return expect(rig, rig.completed(), early, CompletionKind::send, Status::success, 1);
}

struct Armed {
  abi::Descriptor send;
  uint32_t after = 0, before = 0;  ///< Ticks between which it was sent.
};

/// Sent between two sends whose completions tell the tick.
Verdict arm(EngineRig& rig, uint32_t bank, uint32_t timeout, Armed& armed) {
  armed.send = rig.send(bank, timeout);
  const auto after = rig.tick_of(bank);
  if (!after) return "a send that expects nothing did not complete" + what(rig);
  if (auto wrong = expect(rig, rig.launch(armed.send), armed.send, 1)) return wrong;
  const auto before = rig.tick_of(bank);
  if (!before) return "a send that expects nothing did not complete" + what(rig);
  armed.after = *after;
  armed.before = *before;
  return std::nullopt;
}

Verdict expired(EngineRig& rig, const Armed& a) {
  const uint32_t timeout = a.send.timeout();
  auto& all = rig.completions();
  const auto mine = [&](const abi::Completion& c) { return c.slot() == a.send.slot(); };
  rig.until([&] { return std::any_of(all.begin(), all.end(), mine); }, timeout + 10 * kLate);
  const auto found = std::find_if(all.begin(), all.end(), mine);
  if (found == all.end())
    return fmt::format("{}: a timeout of {} ticks has not come after {}", name(a.send), timeout, timeout + 10 * kLate);
  const abi::Completion c = *found;
  all.erase(found);
  if (auto wrong = expect(rig, c, a.send, CompletionKind::send, Status::timeout, 1)) return wrong;
  const auto since = [&c](uint32_t tick) { return static_cast<int32_t>(c.now() - tick); };
  if (since(a.after) < static_cast<int32_t>(timeout))
    return fmt::format("{}: a timeout of {} ticks came early, after at most {}", name(a.send), timeout, since(a.after));
  if (since(a.before) > static_cast<int32_t>(timeout + kLate))
    return fmt::format("{}: a timeout of {} ticks came late, after at least {}", name(a.send), timeout,
                       since(a.before));
  return std::nullopt;
}

Verdict retries(EngineRig& rig, uint32_t bank, uint32_t cap, uint32_t waits) {
  constexpr uint32_t kTimeout = 20;
  constexpr uint8_t kRetries = 3;
  abi::Descriptor d = rig.send(bank, kTimeout);
  d.retries(kRetries);
  d.backoff_cap(cap);
  const auto begin = rig.tick_of(bank);
  if (!begin) return "a send that expects nothing did not complete" + what(rig);
  rig.post(d);
  for (unsigned tries = 1; tries <= kRetries + 1u; ++tries) {
    const auto t = rig.transmitted();
    if (auto wrong = expect(rig, t, d, tries)) return wrong;
    rig.report(*t);
  }
  const auto c = rig.completed();
  if (auto wrong = expect(rig, c, d, CompletionKind::send, Status::timeout, kRetries + 1)) return wrong;
  const uint32_t waited = c->now() - *begin;
  if (waited < waits || waited > waits + (kRetries + 1) * kLate)
    return fmt::format("{}: four tries{} took {} ticks, {} to {} expected", name(d), cap != 0 ? " with back-off" : "",
                       waited, waits, waits + (kRetries + 1) * kLate);
  return std::nullopt;
}

Verdict deadline(EngineRig& rig, uint32_t bank) {
  abi::Descriptor d = rig.send(bank, kLong);
  d.deadline(50);
  if (auto wrong = expect(rig, rig.launch(d), d, 1)) return wrong;
  return expect(rig, rig.completed(), d, CompletionKind::send, Status::deadline, 1);
}

Verdict commands(EngineRig& rig, uint32_t bank) {
  abi::Descriptor d = rig.send(bank, kLong);
  if (auto wrong = expect(rig, rig.launch(d), d, 1)) return wrong;
  if (!rig.tick_of(bank)) return "a send that expects nothing did not complete" + what(rig);
  rig.command_send(abi::CommandKind::cancel, d);
  if (auto wrong = expect(rig, rig.completed(), d, CompletionKind::send, Status::flushed, 1))
    return "cancel: " + *wrong;
  if (auto wrong = expect_drop(rig, d, 0x04, abi::Cause::stale)) return "response after a cancel: " + *wrong;

  d = rig.send(bank, kLong);
  rig.post(d);
  const auto t = rig.transmitted();
  if (auto wrong = expect(rig, t, d, 1)) return wrong;
  rig.command_send(abi::CommandKind::cancel, d);
  if (!rig.quiet()) return fmt::format("cancel: {} completed before its try was reported", name(d));
  rig.report(*t);
  if (auto wrong = expect(rig, rig.completed(), d, CompletionKind::send, Status::flushed, 1))
    return "cancel on the wire: " + *wrong;

  d = rig.send(bank, kLong);
  if (auto wrong = expect(rig, rig.launch(d), d, 1)) return wrong;
  if (!rig.tick_of(bank)) return "a send that expects nothing did not complete" + what(rig);
  rig.command_send(abi::CommandKind::modify, d, 30);
  if (auto wrong = expect(rig, rig.completed(), d, CompletionKind::send, Status::timeout, 1))
    return "modify: " + *wrong;
  return std::nullopt;
}

}  // namespace

Verdict test_tracker(EngineRig& rig, std::string& found) {
  found = fmt::format("{} banks: five uses of a slot, an error of the wire, a stale descriptor", rig.banks());
  return each_bank(rig, [&rig](uint32_t bank) { return tracker(rig, bank); });
}

Verdict test_matcher(EngineRig& rig, std::string& found) {
  found = fmt::format("{} banks: 25 matches, a duplicate, stale and wrong responses dropped", rig.banks());
  return each_bank(rig, [&rig](uint32_t bank) { return matcher(rig, bank); });
}

Verdict test_wheel(EngineRig& rig, std::string& found) {
  constexpr uint32_t kTimeouts[] = {70'000, 3'000, 700, 40};
  found =
      fmt::format("{} banks: timeouts of 40 to 70,000 ticks, never early, at most {} ticks late", rig.banks(), kLate);
  // All banks wait at the same time.
  std::map<uint32_t, std::vector<Armed>> armed;
  std::map<uint32_t, Verdict> verdicts;
  const auto arm_all = [&](uint32_t bank) -> Verdict {
    for (const uint32_t timeout : kTimeouts) {
      armed[bank].emplace_back();
      if (auto wrong = arm(rig, bank, timeout, armed[bank].back())) return wrong;
    }
    return std::nullopt;
  };
  if (auto wrong = each_bank(rig, arm_all)) return wrong;
  std::string banks, first;
  for (auto& [bank, sends] : armed) {
    Verdict wrong;
    for (auto a = sends.rbegin(); a != sends.rend() && !wrong; ++a) wrong = expired(rig, *a);
    if (!wrong) continue;
    banks += fmt::format("{}{}", banks.empty() ? "" : ", ", bank);
    if (first.empty()) first = *wrong;
  }
  if (first.empty()) return std::nullopt;
  return fmt::format("banks {}: {}", banks, first);
}

Verdict test_retries(EngineRig& rig, std::string& found) {
  found = fmt::format("{} banks: four tries, linear and with back-off, and a deadline", rig.banks());
  return each_bank(rig, [&rig](uint32_t bank) -> Verdict {
    if (auto wrong = retries(rig, bank, 0, 80)) return wrong;
    if (auto wrong = retries(rig, bank, 60, 20 + 40 + 60 + 60)) return wrong;
    return deadline(rig, bank);
  });
}

Verdict test_commands(EngineRig& rig, std::string& found) {
  found = fmt::format("{} banks: cancel while waiting and on the wire, modify", rig.banks());
  return each_bank(rig, [&rig](uint32_t bank) { return commands(rig, bank); });
}

Verdict test_flush(EngineRig& rig, std::string& found) {
  constexpr uint32_t kFlushed = 21, kOther = 22;
  std::map<uint16_t, abi::Descriptor> flushed, others;
  const auto launch = [&](uint32_t bank) -> Verdict {
    for (const uint32_t agent : {kFlushed, kOther}) {
      const abi::Descriptor d = rig.send(bank, kLong, agent);
      if (auto wrong = expect(rig, rig.launch(d), d, 1)) return wrong;
      (agent == kFlushed ? flushed : others)[d.slot()] = d;
    }
    return std::nullopt;
  };
  if (auto wrong = each_bank(rig, launch)) return wrong;
  if (!rig.tick_of(0)) return "a send that expects nothing did not complete" + what(rig);
  abi::Command c;
  c.kind(abi::CommandKind::flush);
  c.agent(kFlushed);
  rig.command(c);
  const std::size_t number = flushed.size();
  for (;;) {
    const auto done = rig.completed(20'000);
    if (!done)
      return fmt::format("the flush is not done; {} of {} sends have completed{}", number - flushed.size(), number,
                         what(rig));
    if (done->kind() == CompletionKind::flush_done) break;
    const auto mine = flushed.find(done->slot());
    if (mine == flushed.end())
      return fmt::format("slot {} of agent {} completed in the flush of agent {}", done->slot(), done->agent(),
                         kFlushed);
    if (auto wrong = expect(rig, done, mine->second, CompletionKind::send, Status::flushed, 1)) return wrong;
    flushed.erase(mine);
  }
  if (!flushed.empty()) return fmt::format("the flush was told as done before {} sends had completed", flushed.size());
  for (const auto& [slot, d] : others)
    if (auto wrong = answered(rig, d, 5)) return "of another agent, after the flush: " + *wrong;
  found = fmt::format("{} sends of one agent in {} banks; another agent's untouched", number, rig.banks());
  return std::nullopt;
}

Verdict test_arbiter(EngineRig& rig, std::string& found) {
  const uint16_t light = rig.open_lane({.weight = 1}), heavy = rig.open_lane({.weight = 3}),
                 first = rig.open_lane({.weight = 1, .service_class = 0});
  std::map<uint16_t, uint16_t> lane_of;
  std::vector<abi::Descriptor> waiting;
  const auto post = [&](uint16_t lane, unsigned number) {
    for (unsigned i = 0; i < number; ++i) {
      const abi::Descriptor d = rig.send(i % rig.banks(), 0);
      lane_of[d.slot()] = lane;
      rig.post(lane, d);
    }
  };
  // Transmissions by lane after `credit` more of wire credit.
  std::map<uint16_t, unsigned> grants;
  const auto grant = [&](uint16_t credit) -> Verdict {
    grants.clear();
    rig.backend().wire_credit(0, credit);
    for (unsigned i = 0; i < credit; ++i) {
      const auto t = rig.transmitted();
      if (!t) return fmt::format("wire credit for {} tries, {} were granted{}", credit, i, what(rig));
      ++grants[lane_of[t->slot()]];
    }
    if (!rig.quiet()) return fmt::format("wire credit for {} tries, more were granted", credit);
    return std::nullopt;
  };
  post(light, 64);
  post(heavy, 64);
  if (!rig.quiet()) return "a try was granted without wire credit";
  constexpr uint16_t kGrants = 40;
  if (auto wrong = grant(kGrants)) return wrong;
  const unsigned heavy_grants = grants[heavy];
  if (heavy_grants < 28 || heavy_grants > 32)
    return fmt::format("two lanes of weights 3 and 1 got {} and {} of {} grants, 30 and 10 expected", heavy_grants,
                       grants[light], kGrants);
  post(first, 8);
  rig.quiet();
  if (auto wrong = grant(8)) return wrong;
  if (grants[first] != 8)
    return fmt::format("a lane of service class 0 got {} of 8 grants while lanes of class 1 waited", grants[first]);

  // What is left drains when the lanes close: with no credit, and no transmission.
  for (const uint16_t lane : {light, heavy}) {
    abi::Command c;
    c.kind(abi::CommandKind::close_lane);
    c.lane(lane);
    c.qp(true);
    rig.command(c);
  }
  const unsigned left = 64 + 64 - kGrants;
  for (unsigned i = 0; i < left; ++i) {
    const auto c = rig.completed();
    if (!c || c->status() != Status::flushed)
      return fmt::format("closing two lanes: {} of {} sends completed as flushed{}", i, left, what(rig));
  }

  const uint16_t narrow = rig.open_lane({.window = 2});
  rig.backend().wire_credit(0, 16);
  std::map<uint16_t, abi::Descriptor> sends;
  for (unsigned i = 0; i < 6; ++i) {
    abi::Descriptor d = rig.send(i % rig.banks(), kLong);
    d.counted(true);
    sends[d.slot()] = d;
    rig.post(narrow, d);
  }
  for (unsigned answers = 0; answers < 4; ++answers) {
    std::optional<abi::Transmit> t;
    for (unsigned i = 0; i < (answers == 0 ? 2u : 1u); ++i) {
      t = rig.transmitted();
      if (!t) return fmt::format("a lane of window 2 with {} answered sends granted no more{}", answers, what(rig));
      rig.report(*t);
    }
    if (!rig.quiet()) return fmt::format("a lane of window 2 had more than 2 sends outstanding");
    if (auto wrong = answered(rig, sends[t->slot()], 1)) return wrong;
  }
  found = "weights 3 to 1, service classes, a window of 2, two lanes drained";
  return std::nullopt;
}

Verdict test_wire_credit(EngineRig& rig, std::string& found) {
  constexpr unsigned kSends = 96;
  for (const bool gsi : {false, true}) {
    const uint16_t lane = rig.open_lane({.gsi = gsi});
    for (unsigned i = 0; i < kSends; ++i) {
      abi::Descriptor d = rig.send(i % rig.banks(), 0);
      d.qp(gsi);
      rig.post(lane, d);
    }
    unsigned transmitted = 0;
    while (transmitted < kSends) {
      std::vector<abi::Transmit> on_wire;
      const unsigned most = std::min<unsigned>(kCredit, kSends - transmitted);
      while (on_wire.size() < most) {
        const auto t = rig.transmitted();
        if (!t)
          return fmt::format("QP{}: after {} sends {} of {} wire credits are left: the others did not come back{}",
                             gsi ? 1 : 0, transmitted, on_wire.size(), kCredit, what(rig));
        on_wire.push_back(*t);
      }
      if (!rig.transmits().empty() || (transmitted == 0 && !rig.quiet()))
        return fmt::format("QP{}: more than {} tries on the wire", gsi ? 1 : 0, kCredit);
      for (const abi::Transmit& t : on_wire) rig.report(t);
      transmitted += most;
      if (!rig.until([&] { return rig.completions().size() >= transmitted; }))
        return fmt::format("QP{}: {} of {} sends completed{}", gsi ? 1 : 0, rig.completions().size(), transmitted,
                           what(rig));
    }
    rig.completions().clear();
  }
  found = fmt::format("{} tries on the wire at most, {} sends on each QP, all credits came back", kCredit, kSends);
  return std::nullopt;
}

}  // namespace tidemill::device_tool
