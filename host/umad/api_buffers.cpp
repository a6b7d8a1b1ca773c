// SPDX-License-Identifier: Apache-2.0
/// umad: the fields of a buffer, and what it looks like.
#include <arpa/inet.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "export.hpp"
#include "fmt/format.h"

namespace {

ib_user_mad* header(void* umad) {
  return static_cast<ib_user_mad*>(umad);
}

}  // namespace

TIDEMILL_UMAD void* umad_get_mad(void* umad) {
  return header(umad)->data;
}
TIDEMILL_UMAD size_t umad_size() {
  return sizeof(ib_user_mad);
}
TIDEMILL_UMAD int umad_status(void* umad) {
  return static_cast<int>(header(umad)->status);
}
TIDEMILL_UMAD ib_mad_addr_t* umad_get_mad_addr(void* umad) {
  return &header(umad)->addr;
}

TIDEMILL_UMAD int umad_set_grh(void* umad, void* mad_addr) {
  ib_mad_addr_t& a = header(umad)->addr;
  if (mad_addr == nullptr) {
    a.grh_present = 0;
    return 0;
  }
  const auto& from = *static_cast<const ib_mad_addr_t*>(mad_addr);
  a.grh_present = 1;
  std::copy(std::begin(from.gid), std::end(from.gid), a.gid);
  a.flow_label = htonl(from.flow_label);
  a.hop_limit = from.hop_limit;
  a.traffic_class = from.traffic_class;
  return 0;
}

TIDEMILL_UMAD int umad_set_pkey(void* umad, int pkey_index) {
  header(umad)->addr.pkey_index = static_cast<uint16_t>(pkey_index);
  return 0;
}
TIDEMILL_UMAD int umad_get_pkey(void* umad) {
  return header(umad)->addr.pkey_index;
}

TIDEMILL_UMAD int umad_set_addr_net(void* umad, __be16 dlid, __be32 dqp, int sl, __be32 qkey) {
  ib_mad_addr_t& a = header(umad)->addr;
  a.qpn = dqp;
  a.lid = dlid;
  a.qkey = qkey;
  a.sl = static_cast<uint8_t>(sl);
  return 0;
}

TIDEMILL_UMAD int umad_set_addr(void* umad, int dlid, int dqp, int sl, int qkey) {
  return umad_set_addr_net(umad, htons(static_cast<uint16_t>(dlid)), htonl(static_cast<uint32_t>(dqp)), sl,
                           htonl(static_cast<uint32_t>(qkey)));
}

TIDEMILL_UMAD void umad_addr_dump(ib_mad_addr_t* a) {
  fmt::print(stderr,
             "qpn {} qkey {:#x} lid {} sl {}\ngrh_present {} gid_index {} hop_limit {} traffic_class {} flow_label "
             "{:#x} pkey_index {:#x}\nGID {:02x}\n",
             ntohl(a->qpn), ntohl(a->qkey), ntohs(a->lid), a->sl, a->grh_present, a->gid_index, a->hop_limit,
             a->traffic_class, ntohl(a->flow_label), a->pkey_index, fmt::join(a->gid, ""));
}

TIDEMILL_UMAD void umad_dump(void* umad) {
  const ib_user_mad& u = *header(umad);
  fmt::print(stderr, "agent {} status {:#x} timeout {} ms, {} retries, {} bytes\n", u.agent_id, u.status, u.timeout_ms,
             u.retries, u.length);
  umad_addr_dump(&header(umad)->addr);
}

TIDEMILL_UMAD int umad_debug(int level) {
  static int current = 0;
  if (level >= 0) current = level;
  return current;
}
