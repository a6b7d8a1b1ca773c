// SPDX-License-Identifier: Apache-2.0
/// MADs between two processes through the system's libibumad and ib_umad; the kernel times and matches.
#include <arpa/inet.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cost.hpp"

namespace tidemill::cost {
namespace {

constexpr int kClass = 0x0a, kMethod = 0x10;

[[noreturn]] void die(const char* what) {
  perror(what);
  std::exit(1);
}

struct Agent {
  explicit Agent(bool server) : port(umad_open_port("rxe0", 1)) {
    std::array<long, 2> methods{};
    if (server) methods[0] = 1l << kMethod;
    agent = umad_register(port, kClass, 1, 0, methods.data());
    if (agent < 0) die("register");
  }
  uint8_t* mad() { return static_cast<uint8_t*>(umad_get_mad(buffer.data())); }
  void send(int timeout_ms) {
    if (umad_send(port, agent, buffer.data(), 256, timeout_ms, 3) != 0) die("send");
  }
  void receive() {
    // Reads what is there first: as few calls as can be.
    for (;;) {
      int length = 256;
      if (umad_recv(port, buffer.data(), &length, 0) >= 0) break;
      pollfd ready{umad_get_fd(port), POLLIN, 0};
      poll(&ready, 1, -1);
    }
    if (umad_status(buffer.data()) != 0) die("no response");
  }
  int port, agent;
  std::vector<char> buffer = std::vector<char>(umad_size() + 256);
};

}  // namespace

int umad(unsigned depth, unsigned round_trips) {
  umad_init();
  return two_processes(
      [](int tell) {
        Agent a(true);
        if (write(tell, "r", 1) < 0) return;
        for (;;) {
          a.receive();
          a.mad()[3] |= 0x80;
          a.send(0);
        }
      },
      [&](int told) {
        Agent a(false);
        char ready = 0;
        if (read(told, &ready, 1) != 1) die("server");
        uint32_t number = 0;
        const auto ask = [&] {
          std::fill(a.buffer.begin(), a.buffer.end(), char{0});
          umad_set_addr(a.buffer.data(), 0, 1, 0, 0x80010000);
          ib_mad_addr_t to{};
          inet_pton(AF_INET6, "fe80::ff:fe00:1", to.gid);
          to.hop_limit = 64;
          umad_set_grh(a.buffer.data(), &to);
          a.mad()[0] = 1, a.mad()[1] = kClass, a.mad()[2] = 1, a.mad()[3] = kMethod;
          const uint32_t tid = htonl(++number);
          std::memcpy(a.mad() + 12, &tid, 4);
          a.send(5000);
        };
        const auto run = [&](unsigned count) {
          unsigned sent = 0, done = 0;
          for (; sent < depth && sent < count; ++sent) ask();
          while (done < count) {
            a.receive();
            ++done;
            if (sent < count) ++sent, ask();
          }
        };
        run(2 * depth + 50);
        const int64_t start = now();
        run(round_trips);
        report("umad", depth, now() - start, round_trips);
        return 0;
      });
}

}  // namespace tidemill::cost
