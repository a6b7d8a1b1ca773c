// SPDX-License-Identifier: Apache-2.0
// Faults of FabricPort that change MADs or make more of them.
#include <algorithm>

#include "fabric/fabric_port.hpp"

namespace tidemill::fabric {
namespace {

constexpr std::size_t kHistory = 16;

/// What is wrong with a forged response.
enum class Flaw { tid, mgmt_class, qp, address };

/// Another class that the same queue pair carries.
uint8_t other_class(uint8_t mgmt_class) {
  if (mgmt_class == mad_class::subn_directed) return mad_class::subn_lid;
  if (mgmt_class == mad_class::subn_lid) return mad_class::subn_directed;
  return mgmt_class == mad_class::perf ? mad_class::subn_adm : mad_class::perf;
}

}  // namespace

void FabricPort::corrupt(Packet& packet) {
  tally_.corrupted.add();
  packet.mad[dice_.below(kMadBytes)] ^= static_cast<std::byte>(1 + dice_.below(255));
}

void FabricPort::duplicate(const Packet& packet) {
  tally_.duplicated.add();
  Packet* const copy = pool_.take();
  copy->copy_from(packet);
  travel(copy, 0);
}

int64_t FabricPort::detour_time() {
  constexpr int64_t kLeast = 1000;
  tally_.reordered.add();
  const int64_t way = faults_.delay + faults_.jitter;
  return kLeast + 2 * way + static_cast<int64_t>(dice_.below(static_cast<uint64_t>(2 * way + 1)));
}

void FabricPort::forge(const WireSend& send) {
  Packet* const fake = pool_.take();
  copy_mad(send, *fake);
  const MadView request(fake->mad);
  if (request.is_response() || !faults_.forged.hits(dice_)) {
    pool_.give(fake);
    return;
  }
  tally_.forged.add();
  fake->source = fake->destination = node_;
  fake->qp = send.qp;
  fake->from = send.to;
  fake->from.qkey = kGsiQkey;
  fake->due = departure();
  fake->source_link = fake->destination_link = core_.link_state(node_);
  become_response(fake->mad, 0);

  auto flaw = static_cast<Flaw>(dice_.below(4));
  // The address of a directed-route response is not looked at.
  if (flaw == Flaw::address && request.is_directed_route()) flaw = Flaw::tid;
  switch (flaw) {
    case Flaw::tid: {
      // The half that counts up keeps clear of live ones.
      constexpr uint32_t kFar = 0x80000000;
      const uint64_t other = kFar | dice_.below(kFar);
      put64(fake->mad, 8, request.tid() ^ other);
      break;
    }
    case Flaw::mgmt_class: put8(fake->mad, 1, other_class(request.mgmt_class())); break;
    case Flaw::qp: fake->qp = send.qp == Qp::smi ? Qp::gsi : Qp::smi; break;
    case Flaw::address:
      if (fake->from.grh) {
        fake->from.grh.reset();
      } else {
        fake->from.grh = GlobalRoute{.gid = core_.topology.gid(node_)};
      }
      break;
  }
  fake->due += faults_.delay;
  enter(fake);
}

void FabricPort::replay_earlier(const Packet& response) {
  if (remembered_ != 0 && faults_.stale.hits(dice_)) {
    tally_.stale.add();
    Packet* const copy = pool_.take();
    copy->copy_from(history_[dice_.below(std::min(remembered_, kHistory))]);
    copy->due = response.due;
    copy->source_link = core_.link_state(copy->source);
    copy->destination_link = core_.link_state(copy->destination);
    travel(copy, 0);
  }
  if (history_.empty()) history_.resize(kHistory);
  history_[remembered_++ % kHistory].copy_from(response);
}

}  // namespace tidemill::fabric
