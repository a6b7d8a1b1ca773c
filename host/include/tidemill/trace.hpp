// SPDX-License-Identifier: Apache-2.0
/// What happened on a port, as files to open: a timeline for Perfetto or chrome://tracing (one track for each agent,
/// one slice for each transaction) and a capture of every MAD on the wire for Wireshark (pcapng, link type ERF).
///
/// Recording allocates only when a block of events is full and never waits for the disk. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "error.hpp"
#include "send.hpp"
#include "wire.hpp"

namespace tidemill {

struct TraceOptions {
  std::size_t max_events = 1'000'000;  ///< The newest are kept; how many were lost stands in the file.
  bool capture_mads = true;
};

class Trace {
 public:
  explicit Trace(TraceOptions options = {});
  ~Trace();

  // Called by the runtime.
  /// Whose addresses stand for "here" in the capture.
  void port_opened(const WireAttributes& wire);
  void agent_registered(uint32_t agent, const std::string& name, Nanoseconds at);
  void send_posted(uint32_t agent, SendId id, uint8_t mgmt_class, uint64_t tid, Nanoseconds at);
  void transmitted(uint32_t agent, SendId id, unsigned tries, Nanoseconds at);
  void response_matched(uint32_t agent, SendId id, Nanoseconds at);
  void send_completed(uint32_t agent, const SendCompletion& completion, Nanoseconds at);
  void mad_on_wire(bool outgoing, Qp qp, const Address& peer, std::span<const std::byte> mad, Nanoseconds at);

  /// Chrome trace JSON. Returns how many transactions it holds.
  Result<std::size_t> write_timeline(const std::string& path) const;
  /// pcapng. Returns how many MADs it holds.
  Result<std::size_t> write_capture(const std::string& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemill
