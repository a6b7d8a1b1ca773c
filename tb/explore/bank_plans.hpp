// SPDX-License-Identifier: Apache-2.0
/// The plans that together cover every kind of event; docs/engine/state-space.md has their measured sizes.
#pragma once
#include "bank_space.hpp"

namespace tidemill::explore {

/// Four slots, two levels of four lists of ratio two: eight ticks span the wheel.
using TinyBank = BankSpace<hls::BankMemory<hls::BankConfig<2, 2, 2, 1, 2>>>;
/// Three levels, sixteen ticks.
using TallBank = BankSpace<hls::BankMemory<hls::BankConfig<2, 2, 2, 1, 3>>>;
/// Two buckets of four and the stash.
using CollidingBank = BankSpace<hls::BankMemory<hls::BankConfig<2, 0, 2, 1, 2>>>;
/// Sixteen slots over the same twelve entries of the matcher: it can be full.
using CrowdedBank = BankSpace<hls::BankMemory<hls::BankConfig<4, 0, 2, 1, 2>>>;

/// Every TID has buckets of its own.
inline uint64_t own_rows(uint64_t tid) {
  return (tid & 3u) * 5u | tid << 4;
}
/// All TIDs collide: every search meets every entry.
inline uint64_t same_hash(uint64_t) {
  return 0x0123456789abcdefu;
}
/// Those of agent 9, the crowd, stand in the same buckets but have another fingerprint.
inline uint64_t crowd_hash(uint64_t tid) {
  return (tid >> 32) == 9 ? 0x55u : 0x2au;
}

/// The whole life of requests and plain sends of two agents.
inline TinyBank life() {
  Plan plan;
  plan.sends = {{.agent = 1, .tid_low = 1, .timeout = 3, .retries = 1, .lane = 1, .counted = true},
                {.agent = 2, .tid_low = 2, .timeout = 0, .lane = 2}};
  plan.hash = own_rows;
  plan.flush = true;
  plan.drain = true;
  return TinyBank(plan);
}

/// Four slots at once.
inline TinyBank four_slots() {
  Plan plan;
  plan.sends = {{.agent = 1, .tid_low = 1, .timeout = 1, .lane = 1, .counted = true},
                {.agent = 2, .tid_low = 2, .timeout = 1, .lane = 2},
                {.agent = 1, .tid_low = 3, .timeout = 1, .lane = 1, .counted = true},
                {.agent = 2, .tid_low = 4, .timeout = 1, .lane = 2}};
  plan.own_sends = true;
  plan.slots = {0, 1, 2, 3};
  plan.hash = own_rows;
  plan.errors = false;
  plan.stale = false;
  plan.cancel = false;
  plan.flush = true;
  return TinyBank(plan);
}

/// What can be wrong with a response, and with a TID that is used twice. Time stands still.
inline CollidingBank matching() {
  Plan plan;
  plan.sends = {
      {.agent = 1, .tid_low = 1, .mgmt_class = 0x03, .lane = 1, .own_address = 4, .peer = 7, .counted = true},
      {.agent = 1, .tid_low = 1, .mgmt_class = 0x43, .lane = 1, .own_address = 4, .peer = 7, .match_source = true},
      {.agent = 1, .tid_low = 1, .mgmt_class = 0x81, .port = 2, .qp = false},
      {.agent = 2, .tid_low = 1, .mgmt_class = 0x03, .lane = 2, .grh = true}};
  plan.slots = {0, 1, 2};
  plan.hash = same_hash;
  plan.lag = 0;
  plan.errors = false;
  plan.forged = true;
  return CollidingBank(plan);
}

/// Retries over both queue pairs, flushed tries, slots that are reused while they stand in a retry queue.
inline TinyBank retrying() {
  Plan plan;
  plan.sends = {{.agent = 1, .tid_low = 1, .timeout = 0, .lane = 1, .qp = true, .counted = true},
                {.agent = 2, .tid_low = 2, .timeout = 1, .retries = 1, .lane = 2, .qp = false}};
  plan.hash = own_rows;
  plan.recoveries = {0, 1, 2};
  plan.stale = false;
  return TinyBank(plan);
}

/// One send with every wait: short and past the span of the wheel, backing off, modified and bounded by deadlines, its
/// commands before and after its descriptor.
inline TallBank timing() {
  Plan plan;
  plan.sends = {{.agent = 1, .tid_low = 1, .timeout = 1, .retries = 1, .backoff_cap = 3, .lane = 1}};
  plan.slots = {0};
  plan.hash = own_rows;
  plan.modify = {0, 18};
  plan.deadline = {1, 6};
  plan.lag = 2;
  plan.errors = false;
  return TallBank(plan);
}

/// Two timers that race, with deadlines and modified waits.
inline TinyBank racing() {
  Plan plan;
  plan.sends = {{.agent = 1, .tid_low = 1, .timeout = 2, .lane = 1}};
  plan.hash = own_rows;
  plan.modify = {3};
  plan.deadline = {1};
  plan.errors = false;
  plan.stale = false;
  return TinyBank(plan);
}

/// Every command before and after the descriptor of a plain send and of a request, one slot.
inline TinyBank commanded() {
  Plan plan;
  plan.sends = {{.agent = 1, .tid_low = 1, .timeout = 1, .retries = 1, .lane = 1, .counted = true},
                {.agent = 1, .tid_low = 2, .timeout = 0, .deadline = 2, .lane = 1, .qp = false}};
  plan.slots = {0};
  plan.hash = own_rows;
  plan.recoveries = {0, 1};
  plan.modify = {0, 2};
  plan.deadline = {0, 3};
  plan.flush = true;
  plan.drain = true;
  return TinyBank(plan);
}

/// Two entries left in the matcher, one in a bucket and one in the stash, for three sends. Time stands still.
inline CrowdedBank crowded() {
  Plan plan;
  plan.sends = {{.agent = 1, .tid_low = 1, .timeout = 2, .lane = 1, .counted = true},
                {.agent = 2, .tid_low = 2, .timeout = 2, .lane = 1, .qp = false}};
  plan.slots = {0, 1, 2};
  plan.hash = crowd_hash;
  plan.crowd = 12;
  plan.crowd_over = {0, 11};
  plan.recoveries = {1};
  plan.drain = true;
  plan.lag = 0;
  return CrowdedBank(plan);
}

/// One entry left for two sends, with deadlines.
inline CrowdedBank waiting_for_room() {
  Plan plan;
  plan.sends = {{.agent = 1, .tid_low = 1, .timeout = 1, .lane = 1, .counted = true},
                {.agent = 2, .tid_low = 2, .timeout = 1, .deadline = 2, .lane = 1}};
  plan.hash = crowd_hash;
  plan.crowd = 12;
  plan.crowd_over = {11};
  plan.errors = false;
  plan.stale = false;
  return CrowdedBank(plan);
}

}  // namespace tidemill::explore
