// SPDX-License-Identifier: Apache-2.0
/// umad: what adapters and ports there are. One adapter, the node the process is on.
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "big_endian.hpp"
#include "export.hpp"
#include "fmt/format.h"
#include "session.hpp"

namespace tidemill::umad {
namespace {

constexpr int kPkeys = 32;

template <std::size_t N>
void copy_text(char (&to)[N], const std::string& text) {
  std::memset(to, 0, N);
  std::copy_n(text.begin(), std::min(text.size(), N - 1), to);
}

bool names_adapter(const char* ca_name) {
  return ca_name == nullptr || *ca_name == '\0' || std::strcmp(ca_name, Adapter::kName) == 0;
}

/// Gb/s of a link, as sysfs shows it.
unsigned rate_of(unsigned width, unsigned speed) {
  const unsigned lanes = width == 1 ? 1 : width == 2 ? 4 : width == 4 ? 8 : width == 8 ? 12 : 0;
  const unsigned tenths = speed == 4 ? 100 : speed == 2 ? 50 : 25;
  return lanes * tenths / 10;
}

/// IBA 14.2.5.6. The caller's to release.
int fill_port(const Session& session, Ibsim& ibsim, unsigned number, umad_port_t* port) {
  const auto info = ibsim.port_info(number);
  const auto keys = ibsim.pkeys();
  if (!info || !keys) return -EIO;
  const auto& p = info.value();
  const Adapter& a = session.adapter();
  *port = {};
  copy_text(port->ca_name, Adapter::kName);
  port->portnum = static_cast<int>(number);
  port->base_lid = get16(p, 16);
  port->lmc = get8(p, 34) & 7u;
  port->sm_lid = get16(p, 18);
  port->sm_sl = get8(p, 36) & 0xfu;
  port->state = get8(p, 32) & 0xfu;
  port->phys_state = get8(p, 33) >> 4;
  port->rate = rate_of(get8(p, 31) & 0xfu, get8(p, 35) >> 4);
  port->capmask = htonl(get32(p, 20));
  port->gid_prefix = htobe64(get64(p, 8));
  // A switch's port 0 has the node's GUID; ibsim counts those of an adapter's ports up from it.
  port->port_guid = htobe64(a.node_guid + (a.node_type == 2 ? 0 : number));
  copy_text(port->link_layer, "IB");
  port->pkeys = static_cast<uint16_t*>(std::calloc(kPkeys, sizeof(uint16_t)));
  if (port->pkeys == nullptr) return -ENOMEM;
  port->pkeys_size = kPkeys;
  for (int i = 0; i < kPkeys; ++i) port->pkeys[i] = get16(keys.value(), 2u * static_cast<unsigned>(i));
  return 0;
}

}  // namespace
}  // namespace tidemill::umad

using namespace tidemill::umad;

TIDEMILL_UMAD int umad_init() {
  return Session::get() != nullptr ? 0 : -1;
}
TIDEMILL_UMAD int umad_done() {
  return 0;
}

TIDEMILL_UMAD int umad_get_cas_names(char names[][UMAD_CA_NAME_LEN], int max) {
  if (max < 1 || Session::get() == nullptr) return 0;
  copy_text(names[0], Adapter::kName);
  return 1;
}

TIDEMILL_UMAD int umad_get_port(const char* ca_name, int portnum, umad_port_t* port) {
  Session* const session = Session::get();
  if (session == nullptr || !names_adapter(ca_name)) return -ENODEV;
  const Adapter& a = session->adapter();
  const unsigned number = portnum <= 0 ? a.port : static_cast<unsigned>(portnum);
  if (number != a.port && number > a.ports) return -EINVAL;
  return fill_port(*session, session->ibsim(), number, port);
}

TIDEMILL_UMAD int umad_release_port(umad_port_t* port) {
  std::free(port->pkeys);
  port->pkeys = nullptr;
  port->pkeys_size = 0;
  return 0;
}

TIDEMILL_UMAD int umad_release_ca(umad_ca_t* ca) {
  for (umad_port_t*& port : ca->ports) {
    if (port == nullptr) continue;
    umad_release_port(port);
    std::free(port);
    port = nullptr;
  }
  return 0;
}

TIDEMILL_UMAD int umad_get_ca(const char* ca_name, umad_ca_t* ca) {
  Session* const session = Session::get();
  if (session == nullptr || !names_adapter(ca_name)) return -ENODEV;
  const Adapter& a = session->adapter();
  *ca = {};
  copy_text(ca->ca_name, Adapter::kName);
  ca->node_type = a.node_type;
  ca->numports = static_cast<int>(a.ports);
  copy_text(ca->fw_ver, "1");
  copy_text(ca->ca_type, fmt::format("tidemill, vendor {:#08x}", a.vendor_id));
  copy_text(ca->hw_ver, fmt::format("{:x}", a.hardware));
  ca->node_guid = htobe64(a.node_guid);
  ca->system_guid = htobe64(a.system_guid);
  const unsigned first = a.node_type == 2 ? 0 : 1, last = std::min<unsigned>(a.ports, UMAD_CA_MAX_PORTS - 1);
  for (unsigned number = first; number <= last; ++number) {
    auto* const port = static_cast<umad_port_t*>(std::calloc(1, sizeof(umad_port_t)));
    if (port == nullptr || fill_port(*session, session->ibsim(), number, port) != 0) {
      std::free(port);
      umad_release_ca(ca);
      return -EIO;
    }
    ca->ports[number] = port;
  }
  return 0;
}

TIDEMILL_UMAD int umad_get_ca_portguids(const char* ca_name, __be64* portguids, int max) {
  umad_ca_t ca;
  if (umad_get_ca(ca_name, &ca) < 0) return -ENODEV;
  int count = 0;
  if (portguids != nullptr) {
    if (ca.numports + 1 > max)
      count = -ENOMEM;
    else
      for (; count <= ca.numports; ++count)
        portguids[count] = ca.ports[count] != nullptr ? ca.ports[count]->port_guid : 0;
  }
  umad_release_ca(&ca);
  return count;
}

TIDEMILL_UMAD int umad_get_issm_path(const char* ca_name, int portnum, char path[], int max) {
  Session* const session = Session::get();
  if (session == nullptr || !names_adapter(ca_name)) return -ENODEV;
  if (portnum > 0 && static_cast<unsigned>(portnum) != session->adapter().port) return -EINVAL;
  const auto file = session->issm_path();
  if (!file.ok()) return -EIO;
  if (max <= 0 || file.value().size() >= static_cast<std::size_t>(max)) return -ENAMETOOLONG;
  std::copy_n(file.value().c_str(), file.value().size() + 1, path);
  return 0;
}

TIDEMILL_UMAD umad_device_node* umad_get_ca_device_list() {
  if (Session::get() == nullptr) return nullptr;
  // One block: the node, then its name.
  auto* const node = static_cast<umad_device_node*>(std::calloc(1, sizeof(umad_device_node) + UMAD_CA_NAME_LEN));
  if (node == nullptr) return nullptr;
  char* const name = reinterpret_cast<char*>(node + 1);
  std::memcpy(name, Adapter::kName, sizeof Adapter::kName);
  node->ca_name = name;
  errno = 0;
  return node;
}

TIDEMILL_UMAD void umad_free_ca_device_list(umad_device_node* head) {
  while (head != nullptr) {
    umad_device_node* const next = head->next;
    std::free(head);
    head = next;
  }
}

TIDEMILL_UMAD int umad_sort_ca_device_list(umad_device_node** head, size_t size) {
  if (head == nullptr) return EINVAL;
  std::vector<umad_device_node*> nodes;
  for (umad_device_node* n = *head; n != nullptr; n = n->next) nodes.push_back(n);
  if (size != 0 && size < nodes.size()) return EINVAL;
  std::sort(nodes.begin(), nodes.end(),
            [](const auto* a, const auto* b) { return std::strcmp(a->ca_name, b->ca_name) < 0; });
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i]->next = i + 1 < nodes.size() ? nodes[i + 1] : nullptr;
  *head = nodes.empty() ? nullptr : nodes.front();
  return 0;
}
