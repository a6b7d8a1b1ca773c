// SPDX-License-Identifier: Apache-2.0
/// A wire over the host's RDMA device: MADs travel through a UD queue pair (libibverbs), InfiniBand or RoCE.
///
/// A peer is named by its GID or LID and by the number of its queue pair, which the device chooses: put
/// VerbsIdentity::qpn of the other side into Address::qpn. On RoCE every address needs a `grh`.
///
/// In the library `tidemill_verbs`, so that `tidemill` itself needs no libibverbs. Threads: as wire.hpp says;
/// counters() may be read anywhere.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "address.hpp"
#include "error.hpp"
#include "wire.hpp"

namespace tidemill {

struct VerbsOptions {
  std::string device{};  ///< As `ibv_devices` lists it; empty: the first.
  uint8_t port = 1;
  int gid_index = -1;  ///< Of our own GID; -1: chosen, link-local first, then other IPv6, then IPv4-mapped.
  uint16_t pkey_index = 0;
  /// Of every MAD. One with the top bit set is controlled: new kernels want CAP_NET_RAW for it.
  uint32_t qkey = kGsiQkey;
  uint16_t send_depth = 128;  ///< Tries on the wire at a time.
  uint16_t receive_depth = 512;
  /// MADs up to this length are written into the send queue itself instead of being read from slot memory.
  uint16_t inline_bytes = 0;
  std::size_t address_handles = 1024;                          ///< Kept at most, those in use aside.
  Nanoseconds address_handle_life = std::chrono::seconds(60);  ///< Then made again: the peer may have moved.
};

/// Who we are: what the other side needs to reach us.
struct VerbsIdentity {
  std::string device;
  uint8_t port = 1;
  bool roce = false;
  uint16_t lid = 0;
  Gid gid{};
  uint8_t gid_index = 0;
  uint32_t qpn = 0;
  uint16_t inline_bytes = 0;  ///< As granted.
};

struct VerbsCounters {
  std::atomic<uint64_t> posted{0};  ///< Work requests given to the queue pair.
  std::atomic<uint64_t> posts{0};   ///< Calls that gave them.
  std::atomic<uint64_t> copied{0};  ///< Sends whose memory is not registered: copied before.
  std::atomic<uint64_t> send_errors{0};
  std::atomic<uint64_t> flushed{0};
  std::atomic<uint64_t> recoveries{0};
  std::atomic<uint64_t> failed_recoveries{0};
  std::atomic<uint64_t> received{0};
  std::atomic<uint64_t> receive_errors{0};    ///< Counted and posted again.
  std::atomic<uint64_t> address_handles{0};   ///< Made.
  std::atomic<uint64_t> address_failures{0};  ///< Could not be made: those sends ended with an error.
};

/// Vendor codes of WireStatus::error beside the device's own, which are below 0xf0.
enum class VerbsFault : uint8_t {
  no_route = 0xf0,    ///< No address handle: no such neighbour or GID index, or a RoCE address without `grh`.
  wrong_pkey = 0xf1,  ///< Another P_Key index than the queue pair's.
  not_posted = 0xf2,  ///< The device did not take the work request.
};

class VerbsWire : public Wire {
 public:
  /// Errors name the device and the fix: none there, no such port, no rights.
  static Result<std::unique_ptr<VerbsWire>> open(VerbsOptions options = {});

  virtual VerbsIdentity identity() const = 0;
  /// Stay readable after the wire has gone.
  virtual std::shared_ptr<const VerbsCounters> counters() const = 0;
};

}  // namespace tidemill
