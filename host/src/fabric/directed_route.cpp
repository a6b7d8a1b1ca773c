// SPDX-License-Identifier: Apache-2.0
#include "fabric/directed_route.hpp"

namespace tidemill::fabric {
namespace {

constexpr unsigned kMaxHops = 63;
constexpr std::size_t kHopPointer = 6;
constexpr std::size_t kReturnPath = 192;

/// One cable further; only switches pass on what others sent.
std::optional<Stop> hop(const Topology& topology, DeviceNumber start, DeviceNumber at, uint8_t out) {
  if (at != start && !topology.is_switch(at)) return std::nullopt;
  const Topology::Peer peer = topology.peer(at, out);
  if (peer.device == kNoDevice) return std::nullopt;
  return Stop{peer.device, peer.port};
}

}  // namespace

std::optional<Stop> follow_directed_route(const Topology& topology, DeviceNumber start, MadBytes smp) {
  const MadView view(smp);
  const unsigned hops = view.hop_count();
  const bool back = (view.status() & kDirectionBit) != 0;
  if (hops > kMaxHops || view.hop_pointer() != (back ? hops + 1 : 0)) return std::nullopt;
  if (view.dr_slid() != kPermissiveLid || view.dr_dlid() != kPermissiveLid) return std::nullopt;

  Stop stop{start, static_cast<uint8_t>(topology.is_switch(start) ? 0 : 1)};
  for (unsigned i = 1; i <= hops; ++i) {
    const uint8_t out = back ? view.return_path(hops + 1 - i) : view.initial_path(i);
    const std::optional<Stop> next = hop(topology, start, stop.device, out);
    if (!next) return std::nullopt;
    stop = *next;
    if (!back) put8(smp, kReturnPath + i, stop.port);
  }
  put8(smp, kHopPointer, static_cast<uint8_t>(back ? 0 : hops + 1));
  return stop;
}

}  // namespace tidemill::fabric
