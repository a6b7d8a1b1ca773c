// SPDX-License-Identifier: Apache-2.0
#include "sim/xrt/remote_memory.hpp"

#include <cstring>

#include "rpc.pb.h"

namespace tidemill::sim {
namespace {

/// The host copies a message at once: within this many bytes, aligned, an entry's owner bit is never seen before the
/// rest of the entry; so a line is told in pieces of no more.
constexpr unsigned kPieceBytes = 32;

}  // namespace

std::optional<RemoteMemory::Whose> RemoteMemory::owner(uint64_t address) const {
  auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return std::nullopt;
  const auto& [first, region] = *--after;
  if (address + kLineBytes > first + region.bytes) return std::nullopt;
  return region.whose;
}

Response RemoteMemory::read(uint64_t address, Line& line) {
  const auto whose = owner(address);
  if (!host_answers_ || !whose) return Response::decode_error;
  if (*whose == Whose::host) return read_from_host(address, line);
  ++lines_read_;
  return own_->read(address, line.data(), kLineBytes) ? Response::okay : Response::decode_error;
}

Response RemoteMemory::read_from_host(uint64_t address, Line& line) {
  rpc::HostRead call;
  call.set_address(address);
  call.set_bytes(kLineBytes);
  rpc::HostReadAnswer answer;
  host_answers_ = to_host_.send(Channel::Header::call, Api::host_read, call) &&
                  to_host_.receive_answer(answer_, Channel::Header::call) && answer.ParseFromString(answer_);
  if (!host_answers_ || !answer.ok() || answer.data().size() != kLineBytes) return Response::decode_error;
  std::memcpy(line.data(), answer.data().data(), kLineBytes);
  ++lines_read_;
  return Response::okay;
}

bool RemoteMemory::put(uint64_t address, const void* bytes, std::size_t count) {
  rpc::HostWrite call;
  call.set_address(address);
  call.set_bytes(static_cast<uint32_t>(count));
  call.set_data(bytes, count);
  rpc::Acknowledge answer;
  host_answers_ = to_host_.send(Channel::Header::call, Api::host_write, call) &&
                  to_host_.receive_answer(answer_, Channel::Header::call) && answer.ParseFromString(answer_);
  return host_answers_ && answer.ok();
}

Response RemoteMemory::write(uint64_t address, const Line& line, uint64_t strobe) {
  const auto whose = owner(address);
  if (!host_answers_ || !whose) return Response::decode_error;
  const auto* const bytes = reinterpret_cast<const char*>(line.data());
  for (unsigned at = 0; at < kLineBytes;) {
    unsigned end = at;
    while (end < kLineBytes && (strobe >> end & 1u) != 0 && (end == at || end % kPieceBytes != 0)) ++end;
    if (end == at) {
      ++at;
      continue;
    }
    const bool taken = *whose == Whose::host ? put(address + at, bytes + at, end - at)
                                             : own_->write(address + at, bytes + at, end - at);
    if (!taken) return Response::decode_error;
    at = end;
  }
  ++lines_written_;
  return Response::okay;
}

void RemoteMemory::close() {
  if (to_host_) to_host_.send(Channel::Header::call, Api::close, rpc::Nothing());
}

}  // namespace tidemill::sim
