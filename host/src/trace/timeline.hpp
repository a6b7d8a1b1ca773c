// SPDX-License-Identifier: Apache-2.0
/// Chrome trace JSON, for Perfetto and chrome://tracing. Source: "Trace Event Format" (Google).
/// An agent is a process with one thread of its id; a transaction is an asynchronous slice of it, because transactions
/// of an agent overlap, with an instant for each transmission and for the match.
#pragma once
#include <cstddef>
#include <vector>

#include "trace/output_file.hpp"
#include "trace/records.hpp"

namespace tidemill::trace {

/// `events` in order of time. Returns how many transactions were written.
std::size_t write_timeline(OutputFile& out, const AgentNames& names, const std::vector<const EventRecord*>& events,
                           uint64_t lost);

}  // namespace tidemill::trace
