// SPDX-License-Identifier: Apache-2.0
/// What the device may read sends from: the runtime's slot memory, registered piece by piece when first sent from,
/// since most slots are never used and registering pins pages. What lies elsewhere, or cannot be registered because of
/// the limit on locked memory, is copied into a buffer that is.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "endpoint.hpp"

namespace tidemill::verbs {

class RegisteredMemory {
 public:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  /// Pieces overlap by this, so that a MAD at a border lies in one.
  static constexpr std::size_t kOverlap = 512;

  /// `depth` copies can be in use at a time. Check ok().
  RegisteredMemory(ibv_pd* domain, std::size_t depth);
  bool ok() const { return own_region_ != nullptr; }

  void region(std::span<const std::byte> memory);
  /// Where the device finds a MAD. `turn` counts sends: the copy of one is overwritten `depth` turns later.
  struct Place {
    ibv_sge at{};
    bool copied = false;
  };
  Place place(std::span<const std::byte> mad, uint64_t turn);
  /// What makes a MAD of `length` bytes 256 long: zeros.
  ibv_sge padding(std::size_t length) const;

 private:
  ibv_mr* piece_of(std::span<const std::byte> mad);

  ibv_pd* const domain_;
  const std::size_t depth_;
  std::vector<std::byte> own_;  ///< 256 zeros, then the copies.
  MemoryRegionPtr own_region_;
  std::span<const std::byte> region_{};
  std::vector<MemoryRegionPtr> pieces_;
  bool refused_ = false;
};

}  // namespace tidemill::verbs
