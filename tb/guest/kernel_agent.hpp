// SPDX-License-Identifier: Apache-2.0
/// A plain program of libibumad on rxe0: the kernel times, retries and matches for it.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tidemill/address.hpp"
#include "tidemill/mad.hpp"

namespace tidemill::guest {

/// A vendor class without OUI, for which nobody else registers.
inline constexpr uint8_t kClass = 0x0a;
inline constexpr uint8_t kVendorGet = 0x10;

inline Gid gid_of(const char* text) {
  Gid gid{};
  EXPECT_EQ(inet_pton(AF_INET6, text, gid.data()), 1);
  return gid;
}
inline const char* const kGidOfRxe0 = "fe80::ff:fe00:1";
inline const char* const kGidOfRxe1 = "fe80::ff:fe00:2";

/// A plain program on rxe0.
class KernelAgent {
 public:
  explicit KernelAgent(bool server) : port_(umad_open_port("rxe0", 1)) {
    std::array<long, 2> methods{};
    if (server) methods[0] = 1l << kVendorGet | 1l << mad_method::get;
    agent_ = umad_register(port_, kClass, 1, 0, server ? methods.data() : nullptr);
    EXPECT_GE(agent_, 0);
  }
  ~KernelAgent() { umad_close_port(port_); }
  KernelAgent(const KernelAgent&) = delete;
  KernelAgent& operator=(const KernelAgent&) = delete;

  uint8_t* mad() { return static_cast<uint8_t*>(umad_get_mad(buffer_.data())); }
  int send(int timeout_ms, int retries) { return umad_send(port_, agent_, buffer_.data(), 256, timeout_ms, retries); }
  /// False after `timeout_ms`.
  bool receive(int timeout_ms) {
    int length = 256;
    return umad_recv(port_, buffer_.data(), &length, timeout_ms) >= 0;
  }
  int unregister() { return umad_unregister(port_, agent_); }
  uint32_t tid() {
    uint32_t network = 0;
    std::memcpy(&network, mad() + 12, 4);
    return ntohl(network);
  }
  int status() { return umad_status(buffer_.data()); }
  int ask(uint32_t tid, const char* gid, int timeout_ms, int retries) {
    std::fill(buffer_.begin(), buffer_.end(), char{0});
    umad_set_addr(buffer_.data(), 0, 1, 0, kGsiQkey);
    ib_mad_addr_t route{};
    const Gid to = gid_of(gid);
    std::memcpy(route.gid, to.data(), 16);
    route.hop_limit = 64;
    umad_set_grh(buffer_.data(), &route);
    const uint32_t network = htonl(tid);
    mad()[0] = 1, mad()[1] = kClass, mad()[2] = 1, mad()[3] = kVendorGet;
    std::memcpy(mad() + 12, &network, 4);
    mad()[17] = 0x10;
    mad()[200] = static_cast<uint8_t>(tid);
    return send(timeout_ms, retries);
  }

 private:
  int port_, agent_ = -1;
  std::vector<char> buffer_ = std::vector<char>(umad_size() + 256);
};

}  // namespace tidemill::guest
