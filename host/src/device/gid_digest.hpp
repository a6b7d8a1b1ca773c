// SPDX-License-Identifier: Apache-2.0
/// Digest of a GID for the peer field of descriptors and received headers: keyed, so that nobody can choose a collision.
#pragma once
#include "hls/tid_hash.hpp"
#include "tidemill/address.hpp"

namespace tidemill::device {

inline uint32_t gid_digest(const Gid& gid, uint64_t seed) {
  uint64_t half[2] = {};
  for (unsigned i = 0; i < gid.size(); ++i) half[i / 8] = half[i / 8] << 8 | gid[i];
  return static_cast<uint32_t>(hls::tid_hash(hls::tid_hash(half[0], seed) ^ half[1], seed));
}

}  // namespace tidemill::device
