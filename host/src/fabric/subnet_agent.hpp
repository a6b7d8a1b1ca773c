// SPDX-License-Identifier: Apache-2.0
/// Subnet management agent of every device of the simulated fabric: a subnet that is configured already, to be read.
/// Source: IBA 14.2.5.
#pragma once
#include "fabric/topology.hpp"
#include "mad_edit.hpp"

namespace tidemill::fabric {

class FabricCore;

class SubnetAgent {
 public:
  explicit SubnetAgent(const FabricCore& core) : core_(core) {}

  /// A Get is answered; of a Set all is refused. False for SMInfo where no subnet manager lives. Any thread.
  bool answer(DeviceNumber device, uint8_t entry_port, MadBytes smp) const;

 private:
  uint16_t read(DeviceNumber device, uint8_t entry_port, uint16_t attribute, uint32_t modifier, MadBytes smp) const;
  void node_info(DeviceNumber device, uint8_t entry_port, MadBytes smp) const;
  void node_description(DeviceNumber device, MadBytes smp) const;
  void switch_info(MadBytes smp) const;
  void port_info(DeviceNumber device, uint8_t entry_port, unsigned port, MadBytes smp) const;
  void sm_info(DeviceNumber device, MadBytes smp) const;

  DeviceNumber manager() const;
  bool has_link(DeviceNumber device, unsigned port) const;

  const FabricCore& core_;
};

}  // namespace tidemill::fabric
