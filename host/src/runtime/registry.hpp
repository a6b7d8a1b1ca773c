// SPDX-License-Identifier: Apache-2.0
/// Who gets which unsolicited MAD on one port: (class version, class, [OUI], method) has at most one owner.
/// Not locked: the device's registry mutex protects it.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "tidemill/agent.hpp"

namespace tidemill::detail {

class AgentState;

/// The checks of a registration that need no table, in the kernel's order; ok if it may be tried.
Error check_registration(const Registration& r, const WireAttributes& port);

class Registry {
 public:
  static constexpr unsigned kOuisPerClass = 8;

  /// Takes the methods, or says who is in the way and takes none.
  Error add(const MadFilter& filter, const std::shared_ptr<AgentState>& agent);
  void remove(const MadFilter& filter, const AgentState& agent);
  /// The owner of an unsolicited MAD, or nothing. Any content is in range.
  std::shared_ptr<AgentState> find(const MadView& mad) const;

 private:
  struct Key {
    uint8_t class_version, mgmt_class;
    uint32_t oui;
    bool operator<(const Key& o) const {
      return std::tie(class_version, mgmt_class, oui) < std::tie(o.class_version, o.mgmt_class, o.oui);
    }
  };
  using Methods = std::array<std::shared_ptr<AgentState>, 128>;
  static Key key_of(const MadFilter& filter);
  unsigned ouis(const Key& key) const;

  std::map<Key, Methods> table_;
};

}  // namespace tidemill::detail
