// SPDX-License-Identifier: Apache-2.0
/// Plain UD verbs between two processes, as a careful program writes them: event driven, address handle kept, memory
/// registered once, completions read in batches, one post for each send. What the wire is held against.
#include <infiniband/verbs.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cost.hpp"

namespace tidemill::cost {
namespace {

constexpr unsigned kReceives = 512, kSends = 128, kSlot = 320, kHeader = 40, kBytes = 256;
constexpr uint32_t kKey = 0x11111111;
constexpr uint64_t kReceive = 1u << 20;

[[noreturn]] void die(const char* what) {
  perror(what);
  std::exit(1);
}

struct Endpoint {
  Endpoint() {
    int count = 0;
    ibv_device** const list = ibv_get_device_list(&count);
    for (int i = 0; i < count; ++i)
      if (std::strcmp(ibv_get_device_name(list[i]), "rxe0") == 0) context = ibv_open_device(list[i]);
    if (context == nullptr) die("rxe0");
    domain = ibv_alloc_pd(context);
    channel = ibv_create_comp_channel(context);
    cq = ibv_create_cq(context, kReceives + kSends, nullptr, channel, 0);
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_UD;
    init.sq_sig_all = 1;
    init.cap = {kSends, kReceives, 1, 1, 0};
    qp = ibv_create_qp(domain, &init);
    if (qp == nullptr) die("queue pair");
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = 1;
    a.qkey = kKey;
    if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) != 0) die("INIT");
    a.qp_state = IBV_QPS_RTR;
    if (ibv_modify_qp(qp, &a, IBV_QP_STATE) != 0) die("RTR");
    a.qp_state = IBV_QPS_RTS;
    if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN) != 0) die("RTS");
    memory.resize((kReceives + kSends) * kSlot);
    region = ibv_reg_mr(domain, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
    for (unsigned i = 0; i < kReceives; ++i) receive(i);
    ibv_ah_attr to{};
    to.is_global = 1;
    to.port_num = 1;
    to.grh.hop_limit = 64;
    ibv_query_gid(context, 1, 0, &to.grh.dgid);
    handle = ibv_create_ah(domain, &to);
    if (handle == nullptr) die("address handle");
    ibv_req_notify_cq(cq, 0);
  }

  void receive(unsigned i) {
    ibv_sge at{reinterpret_cast<uintptr_t>(memory.data() + i * kSlot), kHeader + kBytes, region->lkey};
    ibv_recv_wr request{}, *bad = nullptr;
    request.wr_id = kReceive | i;
    request.sg_list = &at;
    request.num_sge = 1;
    if (ibv_post_recv(qp, &request, &bad) != 0) die("post_recv");
  }

  void send(const char* bytes, uint32_t to) {
    char* const mine = memory.data() + (kReceives + turn++ % kSends) * kSlot;
    std::memcpy(mine, bytes, kBytes);
    ibv_sge at{reinterpret_cast<uintptr_t>(mine), kBytes, region->lkey};
    ibv_send_wr request{}, *bad = nullptr;
    request.sg_list = &at;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.wr.ud = {handle, to, kKey};
    if (ibv_post_send(qp, &request, &bad) != 0) die("post_send");
  }

  /// Calls `received(bytes, from)` for each datagram; waits if there is none.
  template <class Received>
  void pass(Received received) {
    std::array<ibv_wc, 16> got;
    int n = ibv_poll_cq(cq, got.size(), got.data());
    if (n == 0) {
      ibv_cq* which = nullptr;
      void* unused = nullptr;
      if (ibv_get_cq_event(channel, &which, &unused) != 0) die("event");
      ibv_ack_cq_events(which, 1);
      ibv_req_notify_cq(cq, 0);
      n = ibv_poll_cq(cq, got.size(), got.data());
    }
    for (int i = 0; i < n; ++i) {
      if (got[i].status != IBV_WC_SUCCESS) die("completion");
      if ((got[i].wr_id & kReceive) == 0) continue;
      const unsigned buffer = got[i].wr_id & (kReceive - 1);
      received(memory.data() + buffer * kSlot + kHeader, got[i].src_qp);
      receive(buffer);
    }
  }

  ibv_context* context = nullptr;
  ibv_pd* domain = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* region = nullptr;
  ibv_ah* handle = nullptr;
  std::vector<char> memory;
  unsigned turn = 0;
};

}  // namespace

int verbs(unsigned depth, unsigned round_trips) {
  return two_processes(
      [](int tell) {
        Endpoint e;
        if (write(tell, &e.qp->qp_num, sizeof e.qp->qp_num) < 0) return;
        for (;;) e.pass([&](const char* bytes, uint32_t from) { e.send(bytes, from); });
      },
      [&](int told) {
        Endpoint e;
        uint32_t server = 0;
        if (read(told, &server, sizeof server) != sizeof server) die("server");
        const std::array<char, kBytes> bytes{};
        const auto run = [&](unsigned count) {
          unsigned sent = 0, done = 0;
          for (; sent < depth && sent < count; ++sent) e.send(bytes.data(), server);
          while (done < count)
            e.pass([&](const char*, uint32_t) {
              ++done;
              if (sent < count) ++sent, e.send(bytes.data(), server);
            });
        };
        run(2 * depth + 50);
        const int64_t start = now();
        run(round_trips);
        report("verbs", depth, now() - start, round_trips);
        return 0;
      });
}

}  // namespace tidemill::cost
