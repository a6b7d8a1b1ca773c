// SPDX-License-Identifier: Apache-2.0
/// The way between the card's AXI4 master and host memory: latency, bandwidth, tags, reordering, faults. Reads of one AXI ID
/// are answered in order, others overtake each other; writes are done in order.
/// Times are nanoseconds of simulated time. One thread.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <random>

#include "sim/host_memory.hpp"
#include "sim/options.hpp"

namespace tidemill::sim {

class PcieLink {
 public:
  static constexpr unsigned kIds = 8;
  struct ReadAnswer {
    unsigned id = 0;
    Response response = Response::okay;
    Line line{};
  };

  PcieLink(HostMemory& memory, const Options& options) : memory_(memory), options_(options), random_(options.seed ^ 0x5063'6965) {}

  bool takes_read() const { return reads_ < options_.read_tags; }
  void read(uint64_t address, unsigned id, double now);
  /// The next answer that has arrived, or null; it stays until done with.
  const ReadAnswer* answer(double now);
  void answered();

  bool takes_write(double now) const { return write_free_ <= now + options_.write_latency_ns; }
  void write(uint64_t address, const Line& line, uint64_t strobe, double now);
  /// Does the writes whose time has come.
  void settle(double now);
  /// Answers of writes that have not been given yet.
  bool write_done() const { return !done_.empty(); }
  Response write_answer() const { return done_.front(); }
  void write_answered() { done_.pop_front(); }

  bool idle() const { return reads_ == 0 && writes_.empty() && done_.empty(); }
  void reset();

  unsigned reads_in_flight() const { return reads_; }
  uint64_t lines_read() const { return lines_read_; }
  uint64_t lines_written() const { return lines_written_; }

 private:
  struct Read {
    double at;
    uint64_t address;
    unsigned id;
  };
  struct Write {
    double at;
    uint64_t address;
    uint64_t strobe;
    Line line;
  };
  bool chance(double p) { return p > 0 && std::uniform_real_distribution<>()(random_) < p; }
  double transfer_ns() const { return (kLineBytes + options_.packet_overhead_bytes) / options_.link_bytes_per_ns; }

  HostMemory& memory_;
  const Options options_;
  std::mt19937_64 random_;
  unsigned reads_ = 0;
  std::array<std::deque<Read>, kIds> pending_;
  std::deque<Write> writes_;
  std::deque<Response> done_;
  double read_free_ = 0, write_free_ = 0;
  ReadAnswer answer_;
  bool has_answer_ = false;
  uint64_t lines_read_ = 0, lines_written_ = 0;
};

}  // namespace tidemill::sim
