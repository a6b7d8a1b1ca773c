// SPDX-License-Identifier: Apache-2.0
#include "tidemill/trace.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "trace/bounded_log.hpp"
#include "trace/capture.hpp"
#include "trace/records.hpp"
#include "trace/timeline.hpp"

namespace tidemill {

struct Trace::State {
  explicit State(const TraceOptions& options)
      : events(options.max_events), mads(options.max_events), capture_mads(options.capture_mads) {}

  trace::BoundedLog<trace::EventRecord> events;
  trace::BoundedLog<trace::MadRecord> mads;
  const bool capture_mads;
  std::atomic<uint16_t> own_lid{0};
  std::atomic<uint64_t> own_guid{0};
  mutable std::mutex mutex;  ///< Protects names.
  trace::AgentNames names;
};

Trace::Trace(TraceOptions options) : state_(std::make_unique<State>(options)) {}
Trace::~Trace() = default;

void Trace::port_opened(const WireAttributes& wire) {
  state_->own_lid.store(wire.lid, std::memory_order_relaxed);
  state_->own_guid.store(wire.port_guid, std::memory_order_relaxed);
}

void Trace::agent_registered(uint32_t agent, const std::string& name, Nanoseconds) {
  const std::lock_guard lock(state_->mutex);
  state_->names[agent] = name;
}

void Trace::send_posted(uint32_t agent, SendId id, uint8_t mgmt_class, uint64_t tid, Nanoseconds at) {
  state_->events.add([&](trace::EventRecord& e) {
    e.at = at;
    e.tid = tid;
    e.agent = agent;
    e.id = id;
    e.kind = trace::EventKind::posted;
    e.mgmt_class = mgmt_class;
  });
}

void Trace::transmitted(uint32_t agent, SendId id, unsigned tries, Nanoseconds at) {
  state_->events.add([&](trace::EventRecord& e) {
    e.at = at;
    e.agent = agent;
    e.id = id;
    e.kind = trace::EventKind::transmitted;
    e.tries = static_cast<uint8_t>(tries);
  });
}

void Trace::response_matched(uint32_t agent, SendId id, Nanoseconds at) {
  state_->events.add([&](trace::EventRecord& e) {
    e.at = at;
    e.agent = agent;
    e.id = id;
    e.kind = trace::EventKind::matched;
  });
}

void Trace::send_completed(uint32_t agent, const SendCompletion& completion, Nanoseconds at) {
  state_->events.add([&](trace::EventRecord& e) {
    e.at = at;
    e.elapsed = completion.elapsed;
    e.agent = agent;
    e.id = completion.id;
    e.kind = trace::EventKind::completed;
    e.tries = static_cast<uint8_t>(completion.tries);
    e.vendor = completion.vendor;
    e.status = completion.status;
  });
}

void Trace::mad_on_wire(bool outgoing, Qp qp, const Address& peer, std::span<const std::byte> mad, Nanoseconds at) {
  if (!state_->capture_mads) return;
  state_->mads.add([&](trace::MadRecord& r) {
    r.at = at;
    const std::size_t length = std::min(mad.size(), kMadBytes);
    std::copy_n(mad.begin(), length, r.mad.begin());
    std::fill(r.mad.begin() + static_cast<std::ptrdiff_t>(length), r.mad.end(), std::byte{0});
    r.peer = peer;
    r.own_guid = state_->own_guid.load(std::memory_order_relaxed);
    r.own_lid = state_->own_lid.load(std::memory_order_relaxed);
    r.qp = qp;
    r.outgoing = outgoing;
  });
}

Result<std::size_t> Trace::write_timeline(const std::string& path) const {
  trace::AgentNames names;
  {
    const std::lock_guard lock(state_->mutex);
    names = state_->names;
  }
  const auto events = state_->events.snapshot();
  trace::OutputFile out(path);
  const std::size_t written = trace::write_timeline(out, names, events.records(), events.lost());
  if (std::optional<Error> error = out.close()) return *std::move(error);
  return written;
}

Result<std::size_t> Trace::write_capture(const std::string& path) const {
  const auto mads = state_->mads.snapshot();
  trace::OutputFile out(path);
  const std::size_t written = trace::write_capture(out, mads.records(), mads.lost());
  if (std::optional<Error> error = out.close()) return *std::move(error);
  return written;
}

}  // namespace tidemill
