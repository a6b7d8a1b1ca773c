// SPDX-License-Identifier: Apache-2.0
#include "umad_address.hpp"

#include <arpa/inet.h>

#include <algorithm>

namespace tidemill::umad {

ib_mad_addr_t to_umad(const Address& a) {
  ib_mad_addr_t u{};
  u.qpn = htonl(a.qpn);
  u.qkey = htonl(a.qkey);
  u.lid = htons(a.lid);
  u.sl = a.sl;
  u.path_bits = a.path_bits;
  u.pkey_index = a.pkey_index;
  if (a.grh) {
    u.grh_present = 1;
    u.gid_index = a.grh->gid_index;
    u.hop_limit = a.grh->hop_limit;
    u.traffic_class = a.grh->traffic_class;
    u.flow_label = htonl(a.grh->flow_label);
    std::copy(a.grh->gid.begin(), a.grh->gid.end(), u.gid);
  }
  return u;
}

Address from_umad(const ib_mad_addr_t& u) {
  Address a{.lid = ntohs(u.lid),
            .sl = static_cast<uint8_t>(u.sl & 0xfu),
            .path_bits = u.path_bits,
            .qpn = ntohl(u.qpn),
            .qkey = ntohl(u.qkey),
            .pkey_index = u.pkey_index};
  if (u.grh_present != 0) {
    GlobalRoute route{.gid_index = u.gid_index,
                      .hop_limit = u.hop_limit,
                      .traffic_class = u.traffic_class,
                      .flow_label = ntohl(u.flow_label) & 0xfffffu};
    std::copy_n(u.gid, route.gid.size(), route.gid.begin());
    a.grh = route;
  }
  return a;
}

}  // namespace tidemill::umad
