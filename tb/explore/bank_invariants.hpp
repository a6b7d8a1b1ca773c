// SPDX-License-Identifier: Apache-2.0
/// The invariants of a bank by name, as the explorer reports them.
#pragma once

namespace tidemill::explore {

inline constexpr const char* kOneCompletion = "every accepted send completes exactly once";
inline constexpr const char* kStatus = "a send ends with the status that the policies state";
inline constexpr const char* kGeneration = "a completion, and nothing else, moves the slot to its next generation";
inline constexpr const char* kNames = "an action names its send as the descriptor did";
inline constexpr const char* kStaleRejected = "a stale or foreign name is rejected";
inline constexpr const char* kOneResponse = "a send has at most one response";
inline constexpr const char* kCancelledNeverMatches = "a cancelled send never matches";
inline constexpr const char* kMatchFields = "a match agrees in all fields with a send that was on the wire";
inline constexpr const char* kMatchComplete = "a response of a live send is matched, dead entries hide nothing";
inline constexpr const char* kDropCause = "a drop states a true cause";
inline constexpr const char* kUniqueTid = "a live TID and class is unique, and only that is a duplicate";
inline constexpr const char* kNoRoomWaits = "a full matcher delays a send and never loses it";
inline constexpr const char* kTurn = "a send whose turn has come goes to the wire";
inline constexpr const char* kNeverEarly = "no timer fires early, and none before the try has left";
inline constexpr const char* kNeverLate = "no timer is late, none is forgotten";
inline constexpr const char* kBoundedTick = "the steps of a tick end";
inline constexpr const char* kTries = "a send has its number of tries";
inline constexpr const char* kWindowCredit = "a window slot comes back exactly once";
inline constexpr const char* kWireCredit = "a grant transmits or returns its wire credit";
inline constexpr const char* kRetryLane = "the retry lane counts what stands in the retry queue, in order";
inline constexpr const char* kFlush = "a flush step passes no live send of its agent";
inline constexpr const char* kAgainEnds = "an event that comes again comes to an end";
inline constexpr const char* kLife = "a slot is in the state that its events add up to";
inline constexpr const char* kMatcherEntries = "a send stands in the matcher exactly once while it may be answered";
inline constexpr const char* kWheelLists = "an armed slot stands in exactly one list, the one of its time";
inline constexpr const char* kBusyBits = "busy bits cover the lists of level 0";

}  // namespace tidemill::explore
