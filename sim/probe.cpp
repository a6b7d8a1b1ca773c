// SPDX-License-Identifier: Apache-2.0
#include "sim/probe.hpp"

#include <algorithm>
#include <cstring>

namespace tidemill::sim {
namespace {

constexpr std::size_t kMostSamples = 512;

template <class Entry>
Entry entry(const Line& line, unsigned position) {
  Entry e;
  std::memcpy(&e, reinterpret_cast<const std::byte*>(line.data()) + position * sizeof(Entry), sizeof e);
  return e;
}
uint32_t header_key(bool qp, uint8_t port, uint16_t buffer) { return static_cast<uint32_t>(qp) << 24 | static_cast<uint32_t>(port) << 16 | buffer; }

}  // namespace

void CycleHistogram::add(uint64_t cycles) {
  ++count_;
  sum_ += cycles;
  least_ = std::min(least_, cycles);
  most_ = std::max(most_, cycles);
  const uint64_t bin = std::min(cycles, kMost);
  if (bins_.size() <= bin) bins_.resize(bin + 1);
  ++bins_[bin];
}

void Probe::register_written(uint32_t offset, uint32_t value) {
  if (offset < abi::reg::ring_base_low || offset >= abi::reg::ring_base_low + 0x20 * abi::kRingCount) return;
  Ring& r = rings_[(offset - abi::reg::ring_base_low) / 0x20];
  switch (offset & 0x1f) {
    case 0x00: r.base = (r.base & ~uint64_t{0xffffffff}) | value; break;
    case 0x04: r.base = (r.base & 0xffffffff) | uint64_t{value} << 32; break;
    case 0x08:
      r.bits = value;
      r.producer = r.asked = 0;
      break;
    case 0x0c: r.producer = value; break;
    default: break;
  }
}

void Probe::arbiter_took(const abi::ArbiterEvent& e, uint64_t cycle) {
  if (e.kind() == abi::ArbiterKind::grant) grant_taken_ = cycle;
}

void Probe::arbiter_answered(const abi::ArbiterAction& a) {
  // Lanes of the host; retry lanes come after them.
  if (a.granted() && grant_taken_ && a.lane() < 1024) grants_.push_back(*grant_taken_);
  if (a.granted()) grant_taken_.reset();
}

void Probe::read_asked(unsigned id, uint64_t address, uint64_t cycle) {
  Asked asked{cycle, 0, 0};
  if (id == static_cast<unsigned>(abi::Ring::received_smi) || id == static_cast<unsigned>(abi::Ring::received_gsi)) {
    Ring& r = rings_[id];
    constexpr unsigned kPerLine = kLineBytes / sizeof(abi::Received);
    const uint64_t line = (address - r.base) / kLineBytes;
    // The shell goes on where it stopped, and only there.
    if ((r.asked & ((1u << r.bits) - 1u)) / kPerLine != line) r.asked += kPerLine - r.asked % kPerLine;
    asked.first = r.asked % kPerLine;
    asked.last = std::min<uint32_t>(kPerLine, asked.first + (r.producer - r.asked));
    r.asked += asked.last - asked.first;
  }
  reads_[id].push_back(asked);
}

void Probe::read_answered(unsigned id, const Line& line, uint64_t cycle) {
  if (reads_[id].empty()) return;
  const Asked asked = reads_[id].front();
  reads_[id].pop_front();
  if (id == kDescriptors) {
    if (grants_.empty()) return;
    heads_[entry<abi::Descriptor>(line, 0).slot()] = {grants_.front(), cycle - asked.cycle};
    grants_.pop_front();
    return;
  }
  for (unsigned i = asked.first; i < asked.last; ++i) {
    const auto header = entry<abi::Received>(line, i);
    if (header.response()) headers_[header_key(header.qp(), header.port(), header.buffer())] = cycle;
  }
}

void Probe::written(uint64_t address, const Line& line, uint64_t strobe, uint64_t cycle) {
  const auto in = [&](const Ring& r, std::size_t bytes) { return r.base != 0 && address >= r.base && address < r.base + r.bytes(bytes); };
  if (in(ring(abi::Ring::transmit), sizeof(abi::Transmit))) {
    for (unsigned i = 0; i < kLineBytes / sizeof(abi::Transmit); ++i) {
      if ((strobe >> (i * sizeof(abi::Transmit)) & 1u) == 0) continue;
      ++transmitted_;
      const auto t = entry<abi::Transmit>(line, i);
      const auto head = heads_.find(t.slot());
      if (t.tries() != 1 || head == heads_.end()) continue;
      head_to_wire_.add(cycle - head->second.granted - head->second.memory);
      heads_.erase(head);
    }
  } else if (in(ring(abi::Ring::completion), sizeof(abi::Completion))) {
    for (unsigned i = 0; i < kLineBytes / sizeof(abi::Completion); ++i) {
      if ((strobe >> (i * sizeof(abi::Completion)) & 1u) == 0) continue;
      const auto c = entry<abi::Completion>(line, i);
      completed_ += c.kind() == abi::CompletionKind::send || c.kind() == abi::CompletionKind::response_send;
      if (c.kind() != abi::CompletionKind::response && c.kind() != abi::CompletionKind::response_send) continue;
      const auto header = headers_.find(header_key(c.qp(), c.port(), c.buffer()));
      if (header == headers_.end()) continue;
      response_to_completion_.add(cycle - header->second);
      headers_.erase(header);
    }
  }
}

void Probe::waiting(const std::array<uint64_t, kWaiting>& now) {
  Sample& s = samples_.back();
  for (std::size_t i = 0; i < kWaiting; ++i) s.most[i] = std::max(s.most[i], now[i]);
  if (++s.cycles < sample_cycles_) return;
  s.transmitted = transmitted_;
  s.completed = completed_;
  if (samples_.size() == kMostSamples) {
    // Half as many, twice as long.
    for (std::size_t i = 0; i < kMostSamples / 2; ++i) {
      Sample merged = samples_[2 * i + 1];
      merged.cycles += samples_[2 * i].cycles;
      for (std::size_t w = 0; w < kWaiting; ++w) merged.most[w] = std::max(merged.most[w], samples_[2 * i].most[w]);
      samples_[i] = merged;
    }
    samples_.resize(kMostSamples / 2);
    sample_cycles_ *= 2;
  }
  samples_.emplace_back();
}

void Probe::reset() {
  for (auto& reads : reads_) reads.clear();
  for (Ring& r : rings_) r = {};
  grant_taken_.reset();
  grants_.clear();
  heads_.clear();
  headers_.clear();
}

}  // namespace tidemill::sim
