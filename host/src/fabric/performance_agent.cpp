// SPDX-License-Identifier: Apache-2.0
#include "fabric/performance_agent.hpp"

#include <algorithm>
#include <limits>

#include "fabric/fabric_core.hpp"

namespace tidemill::fabric {
namespace {

constexpr uint16_t kClassPortInfo = 0x0001, kPortCounters = 0x0012;
constexpr uint16_t kBadVersion = 0x0004, kBadAttributeValue = 0x001c;
constexpr std::size_t kData = 64, kDataBytes = 192;
constexpr uint8_t kAllPorts = 0xff;

/// LRH to ICRC of a MAD's packet: what the data counters count, in words of four bytes.
constexpr uint64_t kWordsOfPacket = 72;

enum CounterSelect : uint16_t { link_downed = 1u << 2, data_out = 1u << 12, data_in = 1u << 13, packets_out = 1u << 14, packets_in = 1u << 15 };

/// Counters stop at their highest value.
template <class T>
T saturate(uint64_t v) {
  return static_cast<T>(std::min<uint64_t>(v, std::numeric_limits<T>::max()));
}

}  // namespace

bool PerformanceAgent::answer(DeviceNumber device, MadBytes mad) {
  const MadView request(mad);
  const bool set = request.method() == mad_method::set;
  uint16_t status = kStatusUnsupportedMethodAttribute;
  if (request.class_version() != 1) {
    status = kBadVersion;
  } else if (request.attribute() == kPortCounters) {
    status = port_counters(device, set, mad);
  } else if (request.attribute() == kClassPortInfo && !set) {
    class_port_info(mad);
    status = 0;
  }
  become_response(mad, status);
  return true;
}

void PerformanceAgent::class_port_info(MadBytes mad) {
  constexpr uint32_t kResponseTime = 16;  // 4.096 us * 2^16
  std::ranges::fill(mad.subspan(kData, kDataBytes), std::byte{0});
  put8(mad, kData + 0, 1);
  put8(mad, kData + 1, 1);
  put32(mad, kData + 4, kResponseTime);
}

uint16_t PerformanceAgent::port_counters(DeviceNumber device, bool set, MadBytes mad) {
  const MadView request(mad);
  const uint8_t port = request.u8(kData + 1);
  const uint16_t select = request.u16(kData + 2);
  if (port > core_.topology.ports(device) && port != kAllPorts) return kBadAttributeValue;

  const bool is_switch = core_.topology.is_switch(device);
  const Traffic now = is_switch ? Traffic{} : core_.traffic(device);
  const uint32_t breaks = Link::breaks(core_.link_state(device));
  Since since;
  {
    const std::lock_guard lock(mutex_);
    if (set) {
      Since& s = since_[device];
      if (select & link_downed) s.breaks = breaks;
      if (select & data_out) s.data_out = now.out;
      if (select & data_in) s.data_in = now.in;
      if (select & packets_out) s.packets_out = now.out;
      if (select & packets_in) s.packets_in = now.in;
    }
    if (const auto found = since_.find(device); found != since_.end()) since = found->second;
  }
  std::ranges::fill(mad.subspan(kData, kDataBytes), std::byte{0});
  put8(mad, kData + 1, port);
  put16(mad, kData + 2, select);
  put8(mad, kData + 7, saturate<uint8_t>(breaks - since.breaks));
  put32(mad, kData + 24, saturate<uint32_t>((now.out - since.data_out) * kWordsOfPacket));
  put32(mad, kData + 28, saturate<uint32_t>((now.in - since.data_in) * kWordsOfPacket));
  put32(mad, kData + 32, saturate<uint32_t>(now.out - since.packets_out));
  put32(mad, kData + 36, saturate<uint32_t>(now.in - since.packets_in));
  return 0;
}

}  // namespace tidemill::fabric
