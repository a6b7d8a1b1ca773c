// SPDX-License-Identifier: Apache-2.0
/// What the tests of a bank share: a bank of 16 slots, and matchers that read an action as a sentence.
#pragma once
#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <vector>

#include "bank_driver.hpp"

namespace tidemill::abi {

inline void PrintTo(const Action& a, std::ostream* out) {
  *out << name_of(a.kind()) << " slot " << a.slot() << " generation " << a.generation() << " " << name_of(a.status())
       << " cause " << name_of(a.cause()) << " tries " << unsigned{a.tries()}
       << (a.window_credit() ? " window-credit" : "") << (a.wire_credit() ? " wire-credit" : "")
       << (a.retry_queued() ? " retry-queued" : "");
}
inline void PrintTo(Cause c, std::ostream* out) {
  *out << name_of(c);
}
inline void PrintTo(Status s, std::ostream* out) {
  *out << name_of(s);
}
inline void PrintTo(ActionKind k, std::ostream* out) {
  *out << name_of(k);
}

}  // namespace tidemill::abi

namespace tidemill::test {

/// A bank of 16 slots whose matcher always has room.
using SmallConfig = hls::BankConfig<4, 3>;
/// 16 slots, and a matcher that twelve sends fill.
using CrampedConfig = hls::BankConfig<4, 0>;

MATCHER(IsNothing, "says nothing") {
  return arg.kind() == abi::ActionKind::none && !arg.retry_queued();
}
MATCHER(IsTransmit, "is a transmission") {
  return arg.kind() == abi::ActionKind::transmit;
}
MATCHER(IsRetryQueued, "puts a try into the retry queue") {
  return arg.kind() == abi::ActionKind::none && arg.retry_queued();
}
MATCHER(IsMatch, "is a response and the completion of its send") {
  return arg.kind() == abi::ActionKind::respond_complete && arg.status() == abi::Status::success;
}
MATCHER(IsEarlyMatch, "is a response whose completion follows") {
  return arg.kind() == abi::ActionKind::respond;
}
MATCHER_P(Completes, status, std::string("completes as ") + abi::name_of(status)) {
  return arg.kind() == abi::ActionKind::complete && arg.status() == status;
}
MATCHER_P(Drops, cause, std::string("drops the response: ") + abi::name_of(cause)) {
  return arg.kind() == abi::ActionKind::drop && arg.cause() == cause;
}
MATCHER_P(Delivers, cause, std::string("hands the response up: ") + abi::name_of(cause)) {
  return arg.kind() == abi::ActionKind::deliver && arg.cause() == cause;
}
MATCHER_P(Rejects, cause, std::string("rejects: ") + abi::name_of(cause)) {
  return arg.kind() == abi::ActionKind::reject && arg.cause() == cause;
}
MATCHER_P(OfSlot, slot, "is about slot " + std::to_string(slot)) {
  return arg.slot() == slot;
}
MATCHER_P(AfterTries, tries, "after " + std::to_string(tries) + " tries") {
  return arg.tries() == tries;
}

/// Every word of a bank's state.
template <class Config>
std::vector<uint64_t> state_of(const hls::BankMemory<Config>& m) {
  std::vector<uint64_t> words;
  for (uint32_t s = 0; s < Config::kSlots; ++s)
    words.insert(words.end(),
                 {m.flags(s), m.owner(s), m.tid(s), m.pace(s), m.limits(s), m.place(s), m.due(s),
                  m.retry_next(0, s), m.retry_next(1, s)});
  for (uint32_t row = 0; row < 2 * Config::kBuckets + 1; ++row) {
    const hls::Bucket b = m.bucket(row / Config::kBuckets, row % Config::kBuckets);
    words.insert(words.end(), {b.low, b.high});
  }
  for (uint32_t row = 0; row < Config::kLinkRows; ++row) words.insert(words.end(), {m.next(row), m.prev(row)});
  for (uint32_t word = 0; word < Config::kLists >> Config::kSpreadBits; ++word) words.push_back(m.busy(word));
  for (uint32_t level = 0; level < Config::kLevels; ++level) words.push_back(m.spread_count(level));
  for (uint32_t qp = 0; qp < 2; ++qp)
    words.insert(words.end(), {m.retry_head(qp), m.retry_tail(qp), m.retry_count(qp)});
  words.insert(words.end(), {m.wheel_now(), m.wake()});
  return words;
}

template <class Config>
class BankFixture : public ::testing::Test {
 protected:
  /// Brings a send to the wire, or on to its wait.
  void on_wire(const Send& s) { ASSERT_THAT(bank_.descriptor(s), IsTransmit()); }
  void waiting(const Send& s) {
    on_wire(s);
    ASSERT_THAT(bank_.sent(s), IsNothing());
  }
  /// The wait of the current try, which is `ticks`, passes; the send stands in the retry queue.
  void expire(uint32_t ticks) {
    ASSERT_THAT(bank_.run(ticks), ::testing::IsEmpty());
    ASSERT_THAT(bank_.run(1), ::testing::ElementsAre(IsRetryQueued()));
  }
  /// The same for the last try: the send completes.
  void expire_last(uint32_t ticks) {
    ASSERT_THAT(bank_.run(ticks), ::testing::IsEmpty());
    ASSERT_THAT(bank_.run(1), ::testing::ElementsAre(Completes(abi::Status::timeout)));
  }

  BankDriver<Config> bank_;
};

using BankTest = BankFixture<SmallConfig>;
using CrampedBankTest = BankFixture<CrampedConfig>;

}  // namespace tidemill::test
