// SPDX-License-Identifier: Apache-2.0
/// What is measured in the guest, where a nanosecond is an instruction: the whole machine has one processor, so a time
/// is what both processes and the kernel executed.
#pragma once
#include <cstdint>
#include <functional>

namespace tidemill::cost {

/// Nanoseconds of the guest.
int64_t now();

/// Starts `server` in a process of its own, which gets the writing end of a pipe to say what the client must know,
/// runs `client` with the reading end, and ends the server. Returns what the client returned.
int two_processes(const std::function<void(int)>& server, const std::function<int(int)>& client);

/// One line of the report: `COST <what> <depth> <instructions for each round trip>`.
void report(const char* what, unsigned depth, int64_t elapsed, unsigned round_trips);

int verbs(unsigned depth, unsigned round_trips);
int umad(unsigned depth, unsigned round_trips);
/// Send by size: copied into registered memory, inlined, gathered from where it lies.
int sizes();

}  // namespace tidemill::cost
