// SPDX-License-Identifier: Apache-2.0
#include "gid_table.hpp"

#include <algorithm>
#include <tuple>

namespace tidemill::verbs {

GidKind kind_of(const Gid& gid) {
  if (gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80) return GidKind::link_local;
  const bool zeros = std::all_of(gid.begin(), gid.begin() + 10, [](uint8_t b) { return b == 0; });
  return zeros && gid[10] == 0xff && gid[11] == 0xff ? GidKind::ipv4_mapped : GidKind::ipv6;
}

std::optional<GidEntry> GidTable::choose(int wanted) const {
  if (wanted >= 0) {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const GidEntry& e) { return e.index == wanted; });
    return found == entries_.end() ? std::nullopt : std::optional(*found);
  }
  const auto rank = [](const GidEntry& e) { return std::tuple(kind_of(e.gid), !e.roce_v2, e.index); };
  const auto best = std::min_element(entries_.begin(), entries_.end(),
                                     [&](const GidEntry& a, const GidEntry& b) { return rank(a) < rank(b); });
  return best == entries_.end() ? std::nullopt : std::optional(*best);
}

std::optional<uint8_t> GidTable::index_of(const Gid& gid, uint8_t preferred) const {
  std::optional<uint8_t> first;
  bool routed = false;
  for (const GidEntry& e : entries_) {
    if (e.gid != gid) continue;
    if (e.index == preferred) return preferred;
    if (!first || (e.roce_v2 && !routed)) {
      first = e.index;
      routed = e.roce_v2;
    }
  }
  return first;
}

bool GidTable::holds(uint8_t index) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const GidEntry& e) { return e.index == index; });
}

}  // namespace tidemill::verbs
