// SPDX-License-Identifier: Apache-2.0
#include "sim/pcie_link.hpp"

#include <algorithm>

namespace tidemill::sim {

void PcieLink::read(uint64_t address, unsigned id, double now) {
  ++reads_;
  read_free_ = std::max(read_free_, now) + transfer_ns();
  double at = read_free_ + options_.read_latency_ns + std::uniform_real_distribution<>(0, options_.reorder_ns)(random_);
  if (chance(options_.lost_answer)) at = 1e300;
  if (!pending_[id].empty()) at = std::max(at, pending_[id].back().at);
  pending_[id].push_back({at, address, id});
}

const PcieLink::ReadAnswer* PcieLink::answer(double now) {
  if (has_answer_) return &answer_;
  std::deque<Read>* first = nullptr;
  for (auto& reads : pending_)
    if (!reads.empty() && reads.front().at <= now && (first == nullptr || reads.front().at < first->front().at)) first = &reads;
  if (first == nullptr) return nullptr;
  answer_.id = first->front().id;
  // Read when it is answered: what the host has written until then is there.
  answer_.response = chance(options_.read_error) ? Response::slave_error : memory_.read(first->front().address, answer_.line);
  first->pop_front();
  has_answer_ = true;
  return &answer_;
}

void PcieLink::answered() {
  has_answer_ = false;
  --reads_;
  ++lines_read_;
}

void PcieLink::write(uint64_t address, const Line& line, uint64_t strobe, double now) {
  write_free_ = std::max(write_free_, now) + transfer_ns();
  writes_.push_back({write_free_ + options_.write_latency_ns, address, strobe, line});
}

void PcieLink::settle(double now) {
  while (!writes_.empty() && writes_.front().at <= now) {
    const Write& w = writes_.front();
    const Response response = chance(options_.write_error) ? Response::slave_error : memory_.write(w.address, w.line, w.strobe);
    if (!chance(options_.lost_answer)) done_.push_back(response);
    writes_.pop_front();
    ++lines_written_;
  }
}

void PcieLink::reset() {
  reads_ = 0;
  for (auto& reads : pending_) reads.clear();
  writes_.clear();
  done_.clear();
  has_answer_ = false;
}

}  // namespace tidemill::sim
