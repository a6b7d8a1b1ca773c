// SPDX-License-Identifier: Apache-2.0
/// Address handles by address: made once, kept while they are used, at most so many, and not for ever. Knows no device:
/// `Maker` makes them.
///
/// Bound: the least recently used of those no try holds goes first; if all are held the cache grows by what is held,
/// which the send queue's depth bounds. Expiry: made again after a while, since a RoCE handle carries the peer's MAC.
/// A handle goes only when its last try is over. Memory of failures: an address that could not be resolved is not tried
/// again for a second, so that a peer that is away costs one look-up a second.
#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "send_queue.hpp"
#include "tidemill/address.hpp"
#include "tidemill/clock.hpp"

namespace tidemill::verbs {

/// What of an address goes into a handle.
struct Path {
  uint16_t lid = 0;
  uint8_t sl = 0;
  uint8_t path_bits = 0;
  std::optional<GlobalRoute> grh{};
  bool operator==(const Path&) const = default;

  static Path of(const Address& to) { return {to.lid, to.sl, to.path_bits, to.grh}; }
};

struct PathHash {
  std::size_t operator()(const Path& p) const;
};

class Maker {
 public:
  /// Null if it cannot be made.
  virtual void* make(const Path& path) = 0;
  virtual void destroy(void* handle) = 0;
  /// Making it may take long: not now, somebody else does it and gives it to AddressHandles::resolved().
  virtual bool begin_slow(const Path& path) = 0;

 protected:
  ~Maker() = default;
};

class AddressHandles {
 public:
  static constexpr Nanoseconds kFailureLife = std::chrono::seconds(1);

  AddressHandles(Maker& maker, std::size_t bound, Nanoseconds life) : maker_(maker), bound_(bound), life_(life) {}
  ~AddressHandles();
  AddressHandles(const AddressHandles&) = delete;
  AddressHandles& operator=(const AddressHandles&) = delete;

  enum class Found : uint8_t { yes, later, no };
  struct Held {
    Found found = Found::no;
    uint32_t index = kNoHandle;
    void* handle = nullptr;
  };
  /// yes: held until release(index). later: being resolved, ask again after resolved().
  Held hold(const Path& path, Nanoseconds now);
  void release(uint32_t index);
  void resolved(const Path& path, void* handle, Nanoseconds now);
  /// The port's addresses changed: none is used for a new try.
  void expire_all();
  std::size_t size() const { return by_path_.size(); }

 private:
  enum class State : uint8_t { free, resolving, ready, failed, stale };
  struct Entry {
    Path path;
    void* handle = nullptr;
    Nanoseconds expires{0};
    uint32_t holders = 0;
    State state = State::free;
    std::list<uint32_t>::iterator age{};
  };
  uint32_t enter(const Path& path);
  void make_room();
  void retire(uint32_t index);
  void free_entry(uint32_t index);

  Maker& maker_;
  const std::size_t bound_;
  const Nanoseconds life_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
  std::unordered_map<Path, uint32_t, PathHash> by_path_;
  std::list<uint32_t> ages_;   ///< Most recently used first; those in by_path_.
  uint32_t last_ = kNoHandle;  ///< Most tries go where the one before went.
};

}  // namespace tidemill::verbs
