// SPDX-License-Identifier: Apache-2.0
/// A send arbiter alone, told what the shell tells it.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "hls/arbiter_memory.hpp"
#include "hls/send_arbiter.hpp"

namespace tidemill::test {

struct LaneSetup {
  bool qp = true;
  uint8_t service_class = 0;
  uint8_t weight = 1;
  uint16_t window = 0;  ///< 0: not limited.
};

template <unsigned Lanes>
class ArbiterDriver {
 public:
  using Memory = hls::ArbiterMemory<hls::ArbiterConfig<Lanes>>;

  /// These return false if the arbiter rejects the event.
  bool open(uint32_t lane, const LaneSetup& s) { return configure(abi::ArbiterKind::open_lane, lane, s); }
  bool weigh(uint32_t lane, const LaneSetup& s) { return configure(abi::ArbiterKind::weigh_lane, lane, s); }
  bool close(uint32_t lane) { return configure(abi::ArbiterKind::close_lane, lane, {}); }
  bool doorbell(uint32_t lane, uint16_t count = 1) {
    abi::ArbiterEvent e;
    e.kind(abi::ArbiterKind::doorbell);
    e.lane(static_cast<uint16_t>(lane));
    e.count(count);
    return !step(e).rejected();
  }
  bool window_credit(uint32_t lane) { return configure(abi::ArbiterKind::window_credit, lane, {}); }
  void wire_credit(bool qp, uint16_t count) {
    abi::ArbiterEvent e;
    e.kind(abi::ArbiterKind::wire_credit);
    e.qp(qp);
    e.count(count);
    step(e);
  }
  abi::ArbiterAction grant() { return step(abi::ArbiterEvent{}); }
  /// Lanes of the next grants, until `limit` or until none may go.
  std::vector<uint32_t> grants(unsigned limit) {
    std::vector<uint32_t> out;
    while (out.size() < limit) {
      const abi::ArbiterAction a = grant();
      if (!a.granted()) break;
      out.push_back(a.lane());
    }
    return out;
  }
  /// The last action said that a grant is possible.
  bool more() const { return more_; }
  const Memory& memory() const { return arbiter_->memory(); }

 private:
  abi::ArbiterAction step(const abi::ArbiterEvent& e) {
    const abi::ArbiterAction a = arbiter_->step(e);
    more_ = a.more();
    return a;
  }
  bool configure(abi::ArbiterKind kind, uint32_t lane, const LaneSetup& s) {
    abi::ArbiterEvent e;
    e.kind(kind);
    e.lane(static_cast<uint16_t>(lane));
    e.qp(s.qp);
    e.service_class(s.service_class);
    e.weight(s.weight);
    e.count(s.window);
    return !step(e).rejected();
  }

  std::unique_ptr<hls::SendArbiter<Memory>> arbiter_ = std::make_unique<hls::SendArbiter<Memory>>();
  bool more_ = false;
};

}  // namespace tidemill::test
