// SPDX-License-Identifier: Apache-2.0
/// pcapng with packets of link type ERF, record type InfiniBand: what tshark and Wireshark dissect down to the MAD.
/// Source: draft-ietf-opsawg-pcapng; Endace ERF types.
#pragma once
#include <cstddef>
#include <vector>

#include "trace/output_file.hpp"
#include "trace/records.hpp"

namespace tidemill::trace {

/// `mads` in order of time. Returns how many were written.
std::size_t write_capture(OutputFile& out, const std::vector<const MadRecord*>& mads, uint64_t lost);

}  // namespace tidemill::trace
