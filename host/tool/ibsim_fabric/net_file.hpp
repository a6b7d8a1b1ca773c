// SPDX-License-Identifier: Apache-2.0
/// ibsim's net files: who is on a fabric, and fat trees of any size.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "tidemill/error.hpp"

namespace tidemill::ibsim_fabric {

struct NetFile {
  std::string path;
  std::vector<std::string> hosts;  ///< Names as in the file, in its order.
  unsigned switches = 0;

  bool has(const std::string& host) const { return std::find(hosts.begin(), hosts.end(), host) != hosts.end(); }

  /// An error if it cannot be read, or has no host.
  static Result<NetFile> read(const std::string& path);
};

/// A two-level fat tree: hosts H0, H1, ... on leaves L0, L1, ..., every leaf joined to every spine S0, S1, .... Half of
/// a leaf's ports go down. `radix` 0: the smallest even one that fits, at least 8. Bounds are ibsim's: 2,048 nodes, 256
/// switches.
Result<std::string> fat_tree(unsigned hosts, unsigned radix);

}  // namespace tidemill::ibsim_fabric
