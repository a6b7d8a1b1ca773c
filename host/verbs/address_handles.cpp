// SPDX-License-Identifier: Apache-2.0
#include "address_handles.hpp"

#include <cstring>

namespace tidemill::verbs {

std::size_t PathHash::operator()(const Path& p) const {
  uint64_t h = uint64_t{p.lid} | uint64_t{p.sl} << 16 | uint64_t{p.path_bits} << 24;
  const auto mix = [&h](uint64_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15ull, h ^= h >> 29; };
  if (p.grh) {
    uint64_t halves[2];
    std::memcpy(halves, p.grh->gid.data(), sizeof halves);
    mix(halves[0]);
    mix(halves[1]);
    mix(p.grh->gid_index | uint64_t{p.grh->hop_limit} << 8 | uint64_t{p.grh->traffic_class} << 16 |
        uint64_t{p.grh->flow_label} << 24);
  }
  mix(0);
  return static_cast<std::size_t>(h);
}

AddressHandles::~AddressHandles() {
  for (const Entry& e : entries_)
    if (e.handle != nullptr) maker_.destroy(e.handle);
}

AddressHandles::Held AddressHandles::hold(const Path& path, Nanoseconds now) {
  uint32_t index = last_;
  if (index == kNoHandle || !(entries_[index].path == path)) {
    const auto found = by_path_.find(path);
    index = found == by_path_.end() ? kNoHandle : found->second;
  }
  if (index != kNoHandle && entries_[index].state != State::resolving && now >= entries_[index].expires) {
    retire(index);
    index = kNoHandle;
  }
  if (index == kNoHandle) {
    index = enter(path);
    if (!maker_.begin_slow(path)) resolved(path, maker_.make(path), now);
  }
  Entry& e = entries_[index];
  if (last_ != index) ages_.splice(ages_.begin(), ages_, e.age);
  last_ = index;
  if (e.state == State::resolving) return {Found::later, kNoHandle, nullptr};
  if (e.state == State::failed) return {Found::no, kNoHandle, nullptr};
  ++e.holders;
  return {Found::yes, index, e.handle};
}

uint32_t AddressHandles::enter(const Path& path) {
  if (by_path_.size() >= bound_) make_room();
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  ages_.push_front(index);
  entries_[index] = {.path = path, .state = State::resolving, .age = ages_.begin()};
  by_path_.emplace(path, index);
  return index;
}

void AddressHandles::make_room() {
  for (auto age = ages_.rbegin(); age != ages_.rend(); ++age) {
    const Entry& e = entries_[*age];
    if (e.holders != 0 || e.state == State::resolving) continue;
    retire(*age);
    return;
  }
}

void AddressHandles::retire(uint32_t index) {
  Entry& e = entries_[index];
  by_path_.erase(e.path);
  ages_.erase(e.age);
  if (last_ == index) last_ = kNoHandle;
  e.state = State::stale;
  if (e.holders == 0) free_entry(index);
}

void AddressHandles::free_entry(uint32_t index) {
  Entry& e = entries_[index];
  if (e.handle != nullptr) maker_.destroy(e.handle);
  e.handle = nullptr;
  e.state = State::free;
  free_.push_back(index);
}

void AddressHandles::release(uint32_t index) {
  Entry& e = entries_[index];
  if (--e.holders == 0 && e.state == State::stale) free_entry(index);
}

void AddressHandles::resolved(const Path& path, void* handle, Nanoseconds now) {
  const auto found = by_path_.find(path);
  // The addresses changed meanwhile, or it was asked for twice because of that.
  if (found == by_path_.end() || entries_[found->second].state != State::resolving) {
    if (handle != nullptr) maker_.destroy(handle);
    return;
  }
  Entry& e = entries_[found->second];
  e.handle = handle;
  e.state = handle != nullptr ? State::ready : State::failed;
  e.expires = now + (handle != nullptr ? life_ : kFailureLife);
}

void AddressHandles::expire_all() {
  while (!ages_.empty()) retire(ages_.front());
}

}  // namespace tidemill::verbs
