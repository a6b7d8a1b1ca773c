// SPDX-License-Identifier: Apache-2.0
/// Channel adapters and the switches that join them in a tree; fixed once built.
/// Devices are numbered: adapters first, then switches. The LID of a device is its number plus one.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/address.hpp"

namespace tidemill::fabric {

using DeviceNumber = uint32_t;
inline constexpr DeviceNumber kNoDevice = ~DeviceNumber{0};
/// LIDs above are multicast.
inline constexpr uint32_t kMaxUnicastLid = 0xbfff;

class Topology {
 public:
  /// The port at the other end of a cable.
  struct Peer {
    DeviceNumber device = kNoDevice;
    uint8_t port = 0;
  };

  /// Switches such a tree takes; nothing if no tree of this radix joins so many adapters.
  static std::optional<uint64_t> switches_needed(uint64_t adapters, unsigned radix);

  /// Only if switches_needed() found a number, and all devices together fit the unicast LIDs.
  Topology(unsigned adapters, unsigned radix);

  unsigned adapters() const { return adapters_; }
  unsigned switches() const { return devices() - adapters_; }
  unsigned devices() const { return static_cast<unsigned>(devices_.size()); }
  bool is_switch(DeviceNumber device) const { return device >= adapters_; }
  /// External ports, numbered from 1.
  unsigned ports(DeviceNumber device) const { return is_switch(device) ? radix_ : 1; }

  uint16_t lid(DeviceNumber device) const { return static_cast<uint16_t>(device + 1); }
  DeviceNumber device_of(uint16_t lid) const { return lid - 1u < devices() ? lid - 1u : kNoDevice; }
  uint64_t node_guid(DeviceNumber device) const;
  uint64_t port_guid(DeviceNumber device) const;
  Gid gid(DeviceNumber device) const;

  /// No device if the port does not exist or has no cable.
  Peer peer(DeviceNumber device, unsigned port) const;
  /// The port by which a device is reached; 0 for itself.
  uint8_t port_towards(DeviceNumber from, DeviceNumber to) const;

 private:
  struct Device {
    Peer parent;              ///< Where the cable up the tree ends.
    uint8_t up_port = 0;      ///< Where it begins; 0 for the root.
    std::vector<Peer> down;   ///< By port, from port 1.
  };

  void join(DeviceNumber parent, DeviceNumber child);

  unsigned adapters_;
  unsigned radix_;
  std::vector<Device> devices_;
};

}  // namespace tidemill::fabric
