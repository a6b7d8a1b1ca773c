// SPDX-License-Identifier: Apache-2.0
/// The plans of the send arbiter.
#pragma once
#include "arbiter_space.hpp"

namespace tidemill::explore {

/// Three lanes of two classes and both queue pairs, opening and closing with work in flight.
inline ArbiterSpace three_lanes() {
  ArbiterPlan plan;
  plan.lanes[0] = {{.service_class = 0, .weight = 2, .window = 1}};
  plan.lanes[1] = {{.service_class = 0, .weight = 1}};
  plan.lanes[2] = {{.qp = false, .service_class = 1, .weight = 1, .window = 2}};
  plan.credit = 1;
  return ArbiterSpace(plan);
}

/// Two lanes that are reopened and weighed with another queue pair, class, weight and window.
inline ArbiterSpace changing_lanes() {
  ArbiterPlan plan;
  plan.lanes[0] = {{.service_class = 0, .weight = 2, .window = 1}, {.qp = false, .service_class = 3, .weight = 1}};
  plan.lanes[1] = {{.service_class = 0, .weight = 1, .window = 2}, {.qp = false, .service_class = 0, .weight = 2}};
  plan.credit = 1;
  plan.pending = 2;
  return ArbiterSpace(plan);
}

/// Shares of a lane among heavier ones, of its own and the other queue pair.
inline ArbiterSpace fair_shares() {
  ArbiterPlan plan;
  plan.lanes[0] = {{.weight = 1}};
  plan.lanes[1] = {{.weight = 3}};
  plan.lanes[2] = {{.qp = false, .weight = 2}};
  plan.pending = 4;
  plan.reconfigures = false;
  plan.counts_waits = true;
  return ArbiterSpace(plan);
}

/// Shares while the other lanes close, drain and open again.
inline ArbiterSpace shares_among_drains() {
  ArbiterPlan plan;
  plan.lanes[0] = {{.weight = 1, .window = 1}};
  plan.lanes[1] = {{.weight = 2}};
  plan.lanes[2] = {{.qp = false, .weight = 1}};
  plan.credit = 1;
  plan.counts_waits = true;
  return ArbiterSpace(plan);
}

}  // namespace tidemill::explore
