// SPDX-License-Identifier: Apache-2.0
/// The life of a send as a table: every state, every event that can meet it, what becomes of it.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tracker_records.hpp"

namespace tidemill::test {
namespace {

using abi::Status;
using hls::SlotRecord;
using hls::Tracker;
using hls::Verdict;
using S = abi::SlotState;

/// A request that no response is expected to.
SlotRecord plain(S state) {
  SlotRecord r = record(state);
  r.flags.expects(false);
  return r;
}
SlotRecord last_try(S state) {
  SlotRecord r = record(state);
  r.flags.retries(0);
  return r;
}
SlotRecord recovered_before(uint8_t recovery) {
  SlotRecord r = record(S::sending);
  r.flags.recovery(recovery);
  return r;
}

Verdict turn(const SlotRecord& r) {
  return Tracker::on_turn(r, event(abi::EventKind::grant));
}
Verdict turn_while_closing(const SlotRecord& r) {
  abi::Event e = event(abi::EventKind::descriptor);
  e.drain(true);
  return Tracker::on_turn(r, e);
}
Verdict no_room(const SlotRecord& r) {
  return Tracker::on_no_room(r);
}
Verdict sent(const SlotRecord& r) {
  return Tracker::on_sent(r, sent_report(Status::success));
}
Verdict failed(const SlotRecord& r) {
  return Tracker::on_sent(r, sent_report(Status::error));
}
Verdict flushed(const SlotRecord& r) {
  return Tracker::on_sent(r, sent_report(Status::flushed));
}
/// Flushed, and the queue pair is in its ninth recovery.
Verdict flushed_recovered(const SlotRecord& r) {
  return Tracker::on_sent(r, sent_report(Status::flushed, 9));
}
Verdict answered(const SlotRecord& r) {
  return Tracker::on_response(r);
}
Verdict cancel(const SlotRecord& r) {
  return Tracker::on_cancel(r);
}
Verdict modify(const SlotRecord& r) {
  abi::Event e = event(abi::EventKind::modify);
  e.timeout(20);
  return Tracker::on_modify(r, e);
}
Verdict deadline(const SlotRecord& r) {
  abi::Event e = event(abi::EventKind::deadline);
  e.deadline(50);
  return Tracker::on_deadline(r, e);
}
Verdict expiry(const SlotRecord& r) {
  return Tracker::on_expiry(r, kNow);
}

struct Row {
  const char* name;
  SlotRecord record;
  Verdict (*event)(const SlotRecord&);
  const char* verdict;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

const Row kTable[] = {
    // Its turn: by its descriptor, or by the retry lane.
    {"FreeTurn", record(S::free), turn, "transmit -> sending, disarm"},
    {"QueuedTurn", record(S::queued), turn, "transmit -> sending, disarm"},
    {"RetryTurn", record(S::retry), turn, "transmit -> sending, disarm"},
    {"FreeTurnWhileClosing", record(S::free), turn_while_closing, "complete flushed -> free"},
    {"RetryTurnWhileClosing", record(S::retry), turn_while_closing, "complete flushed -> free, credit"},
    {"RetryTurnAtItsDeadline", timed(record(S::retry), kNow), turn, "complete deadline -> free, credit"},
    {"RetryTurnBeforeItsDeadline", timed(record(S::retry), kNow + 1), turn, "transmit -> sending, timed, disarm"},
    {"FreeNoRoom", record(S::free), no_room, "none -> retry, enqueue"},
    {"RetryNoRoom", timed(record(S::retry), 150), no_room, "none -> retry, timed, arm 150, enqueue"},
    // The wire's report.
    {"SendingSent", record(S::sending), sent, "none -> waiting, arm 111"},
    {"SendingSentWithNearDeadline", timed(record(S::sending), 105), sent, "none -> waiting, timed, arm 105"},
    {"SendingSentWithFarDeadline", timed(record(S::sending), 500), sent, "none -> waiting, timed, arm 111"},
    {"SendingFailed", record(S::sending), failed, "complete error -> free, credit"},
    {"SendingFlushed", record(S::sending), flushed, "complete flushed -> free, credit"},
    {"SendingFlushedInARecovery", record(S::sending), flushed_recovered, "none -> retry, enqueue"},
    {"SendingFlushedInARecoveryWithDeadline", timed(record(S::sending), 150), flushed_recovered,
     "none -> retry, timed, arm 150, enqueue"},
    {"SendingFlushedAgainInThisRecovery", recovered_before(9), flushed_recovered, "complete flushed -> free, credit"},
    {"SendingFlushedForGoodAfterARecovery", recovered_before(9), flushed, "complete flushed -> free, credit"},
    {"SendingFlushedInTheNextRecovery", recovered_before(8), flushed_recovered, "none -> retry, enqueue"},
    {"PlainSendingSent", plain(S::sending), sent, "complete success -> free, credit"},
    {"PlainSendingFailed", plain(S::sending), failed, "complete error -> free, credit"},
    {"PlainSendingFlushedInARecovery", plain(S::sending), flushed_recovered, "none -> retry, enqueue"},
    {"EarlySent", record(S::early), sent, "complete success -> free"},
    {"EarlyFailed", record(S::early), failed, "complete error -> free"},
    {"EarlyFlushed", record(S::early), flushed, "complete success -> free"},
    {"EarlyFlushedInARecovery", record(S::early), flushed_recovered, "complete success -> free"},
    {"CancelledSent", record(S::cancelled), sent, "complete flushed -> free"},
    {"CancelledFailed", record(S::cancelled), failed, "complete flushed -> free"},
    {"CancelledFlushed", record(S::cancelled), flushed, "complete flushed -> free"},
    {"CancelledFlushedInARecovery", record(S::cancelled), flushed_recovered, "complete flushed -> free"},
    // Its response.
    {"SendingAnswered", record(S::sending), answered, "respond -> early, credit"},
    {"WaitingAnswered", record(S::waiting), answered, "respond_complete success -> free, credit"},
    {"RetryAnswered", record(S::retry), answered, "respond_complete success -> free, credit"},
    // Cancel, and a step of its agent's flush.
    {"FreeCancel", record(S::free), cancel, "complete flushed -> free"},
    {"QueuedCancel", record(S::queued), cancel, "complete flushed -> free"},
    {"SendingCancel", record(S::sending), cancel, "none -> cancelled, credit"},
    {"WaitingCancel", record(S::waiting), cancel, "complete flushed -> free, credit"},
    {"RetryCancel", record(S::retry), cancel, "complete flushed -> free, credit"},
    {"EarlyCancel", record(S::early), cancel, "none -> early"},
    {"CancelledCancel", record(S::cancelled), cancel, "none -> cancelled"},
    // Modify by 20 ticks.
    {"FreeModify", record(S::free), modify, "none -> queued, modified"},
    {"QueuedModify", record(S::queued), modify, "none -> queued, modified"},
    {"SendingModify", record(S::sending), modify, "none -> sending, modified"},
    {"WaitingModify", record(S::waiting), modify, "none -> waiting, arm 121"},
    {"WaitingModifyBehindItsDeadline", timed(record(S::waiting), 115), modify, "none -> waiting, timed, arm 115"},
    {"RetryModify", record(S::retry), modify, "none -> retry, modified"},
    {"EarlyModify", record(S::early), modify, "reject not_waiting -> early"},
    {"CancelledModify", record(S::cancelled), modify, "reject not_waiting -> cancelled"},
    {"PlainSendingModify", plain(S::sending), modify, "reject not_waiting -> sending"},
    {"PlainRetryModify", plain(S::retry), modify, "reject not_waiting -> retry"},
    // A total deadline of 50 ticks.
    {"FreeDeadline", record(S::free), deadline, "none -> queued, timed, arm 151"},
    {"QueuedDeadline", record(S::queued), deadline, "none -> queued, timed, arm 151"},
    {"SendingDeadline", record(S::sending), deadline, "none -> sending, timed"},
    {"WaitingDeadline", record(S::waiting), deadline, "none -> waiting, timed, arm 111"},
    {"RetryDeadline", record(S::retry), deadline, "none -> retry, timed, arm 151"},
    {"RetryNearerDeadlineBefore", timed(record(S::retry), 120), deadline, "none -> retry, timed, arm 120"},
    {"RetryFartherDeadlineBefore", timed(record(S::retry), 500), deadline, "none -> retry, timed, arm 151"},
    {"EarlyDeadline", record(S::early), deadline, "reject not_waiting -> early"},
    {"CancelledDeadline", record(S::cancelled), deadline, "reject not_waiting -> cancelled"},
    // Its timer.
    {"WaitingExpiry", record(S::waiting), expiry, "none -> retry, enqueue"},
    {"WaitingExpiryOfTheLastTry", last_try(S::waiting), expiry, "complete timeout -> free, credit"},
    {"WaitingExpiryBeforeItsDeadline", timed(record(S::waiting), kNow + 1), expiry,
     "none -> retry, timed, arm 101, enqueue"},
    {"WaitingExpiryAtItsDeadline", timed(record(S::waiting), kNow), expiry, "complete deadline -> free, credit"},
    {"WaitingExpiryOfTheLastTryAtItsDeadline", timed(last_try(S::waiting), kNow), expiry,
     "complete deadline -> free, credit"},
    {"RetryExpiry", timed(record(S::retry), kNow), expiry, "complete deadline -> free, credit"},
    {"QueuedExpiry", timed(record(S::queued), kNow), expiry, "complete deadline -> free"},
};

class TrackerTable : public ::testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Rows, TrackerTable, ::testing::ValuesIn(kTable), [](const auto& p) { return p.param.name; });

TEST_P(TrackerTable, Says) {
  EXPECT_EQ(text(GetParam().event(GetParam().record)), GetParam().verdict);
}

}  // namespace
}  // namespace tidemill::test
