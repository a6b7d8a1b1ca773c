// SPDX-License-Identifier: Apache-2.0
#include "fabric/topology.hpp"

#include <numeric>

namespace tidemill::fabric {
namespace {

constexpr uint64_t kGuidBase = uint64_t{0x00d1de} << 40;
constexpr uint64_t kGidPrefix = uint64_t{0xfe80} << 48;

/// Switches of the next level up: all ports but one look down, except at the root.
uint64_t level_above(uint64_t members, unsigned radix) { return (members + radix - 2) / (radix - 1); }

}  // namespace

std::optional<uint64_t> Topology::switches_needed(uint64_t adapters, unsigned radix) {
  uint64_t switches = 1;
  for (uint64_t level = adapters; level > radix; switches += level) {
    const uint64_t above = level_above(level, radix);
    if (above == level) return std::nullopt;
    level = above;
  }
  return switches;
}

Topology::Topology(unsigned adapters, unsigned radix) : adapters_(adapters), radix_(radix), devices_(adapters) {
  std::vector<DeviceNumber> level(adapters);
  std::iota(level.begin(), level.end(), 0);
  while (level.size() > radix) {
    const uint64_t groups = level_above(level.size(), radix);
    std::vector<DeviceNumber> above;
    for (uint64_t g = 0; g < groups; ++g) {
      above.push_back(devices());
      devices_.emplace_back();
      for (uint64_t i = g * level.size() / groups; i < (g + 1) * level.size() / groups; ++i) join(above.back(), level[i]);
    }
    level = std::move(above);
  }
  const DeviceNumber root = devices();
  devices_.emplace_back();
  for (const DeviceNumber child : level) join(root, child);
}

void Topology::join(DeviceNumber parent, DeviceNumber child) {
  Device& above = devices_[parent];
  Device& below = devices_[child];
  below.up_port = static_cast<uint8_t>(is_switch(child) ? radix_ : 1);
  above.down.push_back({child, below.up_port});
  below.parent = {parent, static_cast<uint8_t>(above.down.size())};
}

uint64_t Topology::node_guid(DeviceNumber device) const { return kGuidBase | uint64_t{lid(device)} << 8; }

uint64_t Topology::port_guid(DeviceNumber device) const { return node_guid(device) | (is_switch(device) ? 0 : 1); }

Gid Topology::gid(DeviceNumber device) const {
  Gid gid{};
  for (unsigned i = 0; i < 8; ++i) {
    gid[i] = static_cast<uint8_t>(kGidPrefix >> (56 - 8 * i));
    gid[8 + i] = static_cast<uint8_t>(port_guid(device) >> (56 - 8 * i));
  }
  return gid;
}

Topology::Peer Topology::peer(DeviceNumber device, unsigned port) const {
  const Device& d = devices_[device];
  if (port == 0) return {};
  if (port == d.up_port) return d.parent;
  return port <= d.down.size() ? d.down[port - 1] : Peer{};
}

uint8_t Topology::port_towards(DeviceNumber from, DeviceNumber to) const {
  if (from == to) return 0;
  for (DeviceNumber d = to; devices_[d].up_port != 0; d = devices_[d].parent.device) {
    if (devices_[d].parent.device == from) return devices_[d].parent.port;
  }
  return devices_[from].up_port;
}

}  // namespace tidemill::fabric
