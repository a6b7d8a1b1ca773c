// SPDX-License-Identifier: Apache-2.0
/// What a simulated system is like, besides what it does.
#pragma once
#include <cstdint>
#include <string>

namespace tidemill::sim {

struct Options {
  uint64_t seed = 1;  ///< Of everything random below.

  // The clock of the card.
  double period_ns = 4.0;  ///< 250 MHz.

  // PCIe, Gen3 x16 by default. Sources: 8 GT/s x 16 lanes, 128b/130b; 24 bytes of header and framing a packet.
  double link_bytes_per_ns = 15.75;
  unsigned packet_overhead_bytes = 24;
  double read_latency_ns = 600.0;   ///< From request to data, on an idle link.
  double write_latency_ns = 250.0;  ///< Until what was written is seen.
  unsigned read_tags = 256;         ///< Reads that may be in flight.
  double reorder_ns = 200.0;        ///< Answers of different AXI IDs overtake each other within this.

  // Faults.
  double stall = 0.0;        ///< Probability, each cycle and channel, that a ready or valid is withheld.
  double read_error = 0.0;   ///< Probability that a read is answered with SLVERR.
  double write_error = 0.0;  ///< The same of a write.
  double lost_answer = 0.0;  ///< Probability that a read or write is never answered.

  std::string trace;        ///< A waveform of everything (FST), if given.
  uint64_t trace_from = 0;  ///< Its first cycle.
  std::string statistics;   ///< What was measured, as JSON, if given.
};

/// Sets the option of that name as a URI names it; false if it is not `known` or its value is out of range.
bool set_option(Options& options, const std::string& name, const std::string& value, bool& known);

}  // namespace tidemill::sim
