// SPDX-License-Identifier: Apache-2.0
/// What a device answers by itself: subnet management, performance management, echo.
#pragma once
#include "fabric/performance_agent.hpp"
#include "fabric/subnet_agent.hpp"
#include "mad_edit.hpp"
#include "tidemill/fabric.hpp"

namespace tidemill::fabric {

class FabricCore;

class Responders {
 public:
  explicit Responders(FabricCore& core) : subnet_(core), performance_(core) {}

  /// Turns a request into its response where it lies, if it is of a class answered here. Any thread.
  bool answer(DeviceNumber device, uint8_t entry_port, MadBytes mad) {
    const MadView request(mad);
    const uint8_t mgmt_class = request.mgmt_class();
    if (mgmt_class == kEchoClass && request.oui() == kEchoOui) {
      if (!is_get_or_set(request) && request.method() != mad_method::send) return false;
      become_response(mad, 0);
      return true;
    }
    if (mgmt_class == mad_class::subn_directed || mgmt_class == mad_class::subn_lid) {
      return is_get_or_set(request) && subnet_.answer(device, entry_port, mad);
    }
    if (mgmt_class == mad_class::perf) return is_get_or_set(request) && performance_.answer(device, mad);
    return false;
  }

  static bool is_get_or_set(MadView request) {
    return request.method() == mad_method::get || request.method() == mad_method::set;
  }

 private:
  SubnetAgent subnet_;
  PerformanceAgent performance_;
};

}  // namespace tidemill::fabric
