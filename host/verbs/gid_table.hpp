// SPDX-License-Identifier: Apache-2.0
/// The port's GIDs: which one is ours to send from, and which one a MAD was sent to.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "tidemill/address.hpp"

namespace tidemill::verbs {

struct GidEntry {
  Gid gid{};
  uint8_t index = 0;
  bool roce_v2 = false;
};

/// In the order of preference.
enum class GidKind : uint8_t { link_local, ipv6, ipv4_mapped };
GidKind kind_of(const Gid& gid);

class GidTable {
 public:
  GidTable() = default;
  explicit GidTable(std::vector<GidEntry> entries) : entries_(std::move(entries)) {}

  /// The index asked for, if it holds a GID; with -1 the best: RoCEv2 before the same GID without routing, kinds in
  /// order.
  std::optional<GidEntry> choose(int wanted) const;
  /// Where `gid` stands. One GID may stand there once for each RoCE version: then `preferred`, if it is one of them.
  std::optional<uint8_t> index_of(const Gid& gid, uint8_t preferred) const;
  bool holds(uint8_t index) const;

 private:
  std::vector<GidEntry> entries_;
};

}  // namespace tidemill::verbs
