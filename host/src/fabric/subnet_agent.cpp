// SPDX-License-Identifier: Apache-2.0
#include "fabric/subnet_agent.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/fabric_core.hpp"

namespace tidemill::fabric {
namespace {

namespace attribute {
constexpr uint16_t node_description = 0x0010, node_info = 0x0011, switch_info = 0x0012, guid_info = 0x0014,
                   port_info = 0x0015, pkey_table = 0x0016, sm_info = 0x0020;
}

constexpr uint16_t kBadVersion = 0x0004;
constexpr uint16_t kBadAttributeValue = 0x001c;
constexpr std::size_t kData = 64, kDataBytes = 64;

constexpr uint8_t kChannelAdapter = 1, kSwitch = 2;
constexpr uint32_t kVendorId = 0x00d1de;
constexpr uint32_t kIsSm = 1u << 1;
constexpr uint8_t kLinkDown = 1, kLinkActive = 4, kPolling = 2, kLinkUp = 5;
constexpr uint16_t kDefaultPkey = 0xffff;

}  // namespace

bool SubnetAgent::answer(DeviceNumber device, uint8_t entry_port, MadBytes smp) const {
  const MadView request(smp);
  const uint16_t asked = request.attribute();
  if (asked == attribute::sm_info && device != manager()) return false;
  uint16_t status = kStatusUnsupportedMethodAttribute;
  if (request.class_version() != 1) {
    status = kBadVersion;
  } else if (request.method() == mad_method::get) {
    status = read(device, entry_port, asked, request.modifier(), smp);
  }
  become_response(smp, status);
  return true;
}

uint16_t SubnetAgent::read(DeviceNumber device, uint8_t entry_port, uint16_t asked, uint32_t modifier,
                           MadBytes smp) const {
  const bool is_switch = core_.topology.is_switch(device);
  const auto clear = [&] { std::ranges::fill(smp.subspan(kData, kDataBytes), std::byte{0}); };
  switch (asked) {
    case attribute::node_info: clear(), node_info(device, entry_port, smp); return 0;
    case attribute::node_description: clear(), node_description(device, smp); return 0;
    case attribute::switch_info:
      if (!is_switch) return kStatusUnsupportedMethodAttribute;
      clear(), switch_info(smp);
      return 0;
    case attribute::port_info: {
      const unsigned port = modifier == 0 && !is_switch ? 1 : modifier;
      if (port > core_.topology.ports(device)) return kBadAttributeValue;
      clear(), port_info(device, entry_port, port, smp);
      return 0;
    }
    case attribute::guid_info:
      if (modifier != 0) return kBadAttributeValue;
      clear(), put64(smp, kData, core_.topology.port_guid(device));
      return 0;
    case attribute::pkey_table:
      if ((modifier & 0xffff) != 0 || modifier >> 16 > core_.topology.ports(device)) return kBadAttributeValue;
      clear(), put16(smp, kData, kDefaultPkey);
      return 0;
    case attribute::sm_info: clear(), sm_info(device, smp); return 0;
    default: return kStatusUnsupportedMethodAttribute;
  }
}

void SubnetAgent::node_info(DeviceNumber device, uint8_t entry_port, MadBytes smp) const {
  const Topology& t = core_.topology;
  put8(smp, kData + 0, 1);
  put8(smp, kData + 1, 1);
  put8(smp, kData + 2, t.is_switch(device) ? kSwitch : kChannelAdapter);
  put8(smp, kData + 3, static_cast<uint8_t>(t.ports(device)));
  put64(smp, kData + 4, t.node_guid(device));
  put64(smp, kData + 12, t.node_guid(device));
  put64(smp, kData + 20, t.port_guid(device));
  put16(smp, kData + 28, 1);
  put16(smp, kData + 30, t.is_switch(device) ? 2 : 1);
  put32(smp, kData + 36, uint32_t{entry_port} << 24 | kVendorId);
}

void SubnetAgent::node_description(DeviceNumber device, MadBytes smp) const {
  const Topology& t = core_.topology;
  const auto text = reinterpret_cast<char*>(smp.data() + kData);
  if (t.is_switch(device)) {
    fmt::format_to_n(text, kDataBytes, "tidemill switch {}", device - t.adapters());
  } else {
    fmt::format_to_n(text, kDataBytes, "tidemill node {}", device);
  }
}

void SubnetAgent::switch_info(MadBytes smp) const {
  put16(smp, kData + 0, static_cast<uint16_t>(kMaxUnicastLid + 1));
  put16(smp, kData + 6, core_.topology.lid(core_.topology.devices() - 1));
  put16(smp, kData + 14, 1);
}

void SubnetAgent::port_info(DeviceNumber device, uint8_t entry_port, unsigned port, MadBytes smp) const {
  const Topology& t = core_.topology;
  const bool up = has_link(device, port);
  const bool end_port = !t.is_switch(device) || port == 0;
  if (end_port) {
    put64(smp, kData + 8, uint64_t{0xfe80} << 48);
    put16(smp, kData + 16, t.lid(device));
    put16(smp, kData + 18, t.lid(manager()));
    put32(smp, kData + 20, device == manager() ? kIsSm : 0);
  }
  put8(smp, kData + 28, entry_port);
  put8(smp, kData + 29, 2);                                        // 4x enabled
  put8(smp, kData + 30, 2);                                        // and supported
  put8(smp, kData + 31, 2);                                        // and active
  put8(smp, kData + 32, 1 << 4 | (up ? kLinkActive : kLinkDown));  // 2.5 Gbit/s a lane
  put8(smp, kData + 33, static_cast<uint8_t>((up ? kLinkUp : kPolling) << 4 | kPolling));
  put8(smp, kData + 35, 1 << 4 | 1);
  put8(smp, kData + 36, 5 << 4);                                   // neighbour takes 4,096 bytes
  put8(smp, kData + 37, 1 << 4);                                   // one virtual lane
  put8(smp, kData + 41, 5);
  put8(smp, kData + 43, 1 << 4);
  put8(smp, kData + 50, end_port ? 8 : 0);
  put8(smp, kData + 51, 18);                                       // responses within 4.096 us * 2^18
  put8(smp, kData + 52, 16);
}

void SubnetAgent::sm_info(DeviceNumber device, MadBytes smp) const {
  constexpr uint8_t kMaster = 3;
  put64(smp, kData + 0, core_.topology.port_guid(device));
  put8(smp, kData + 20, kMaster);
}

DeviceNumber SubnetAgent::manager() const { return core_.topology.adapters() - 1; }

bool SubnetAgent::has_link(DeviceNumber device, unsigned port) const {
  if (port == 0) return true;
  const DeviceNumber other = core_.topology.peer(device, port).device;
  return other != kNoDevice && Link::is_up(core_.link_state(device)) && Link::is_up(core_.link_state(other));
}

}  // namespace tidemill::fabric
