// SPDX-License-Identifier: Apache-2.0
/// Copy or gather? The cost of a send by its size, on a reliable connection of a device to itself, which unlike UD
/// takes 64 KB: copied into registered memory, written into the work request (inline), gathered from where it lies.
/// Counted is all from preparing the send to its arrival; what differs between the three is how the bytes get to the
/// device.
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cost.hpp"

namespace tidemill::cost {
namespace {

constexpr unsigned kRounds = 16;
constexpr std::size_t kLargest = 65536;

[[noreturn]] void die(const char* what) {
  perror(what);
  std::exit(1);
}

/// Two queue pairs of rxe0, connected with each other.
struct Loop {
  explicit Loop(uint32_t inline_bytes) {
    int count = 0;
    ibv_device** const list = ibv_get_device_list(&count);
    for (int i = 0; i < count; ++i)
      if (std::strcmp(ibv_get_device_name(list[i]), "rxe0") == 0) context = ibv_open_device(list[i]);
    if (context == nullptr) die("rxe0");
    domain = ibv_alloc_pd(context);
    cq = ibv_create_cq(context, 4 * kRounds, nullptr, nullptr, 0);
    for (ibv_qp*& qp : pair) {
      ibv_qp_init_attr init{};
      init.send_cq = init.recv_cq = cq;
      init.qp_type = IBV_QPT_RC;
      init.cap = {2 * kRounds, 2 * kRounds, 1, 1, inline_bytes};
      qp = ibv_create_qp(domain, &init);
      if (qp == nullptr) die("queue pair");
      max_inline = init.cap.max_inline_data;
    }
    for (unsigned i = 0; i < 2; ++i) connect(pair[i], pair[1 - i]->qp_num);
    for (auto* memory : {&source, &copy, &target}) memory->resize(kLargest);
    source_region = ibv_reg_mr(domain, source.data(), kLargest, 0);
    copy_region = ibv_reg_mr(domain, copy.data(), kLargest, 0);
    target_region = ibv_reg_mr(domain, target.data(), kLargest, IBV_ACCESS_LOCAL_WRITE);
  }

  void connect(ibv_qp* qp, uint32_t peer) {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = 1;
    if (ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0) die("INIT");
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = IBV_MTU_4096;
    a.dest_qp_num = peer;
    a.min_rnr_timer = 12;
    a.ah_attr.is_global = 1;
    a.ah_attr.port_num = 1;
    a.ah_attr.grh.hop_limit = 64;
    ibv_query_gid(context, 1, 0, &a.ah_attr.grh.dgid);
    if (ibv_modify_qp(qp, &a,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0)
      die("RTR");
    a.qp_state = IBV_QPS_RTS;
    a.timeout = 14;
    a.retry_cnt = 7;
    a.rnr_retry = 7;
    if (ibv_modify_qp(qp, &a,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC) != 0)
      die("RTS");
  }

  /// Instructions of one send, until it has arrived.
  int64_t send(std::size_t size, bool copied, bool inlined) {
    ibv_sge to{reinterpret_cast<uintptr_t>(target.data()), static_cast<uint32_t>(size), target_region->lkey};
    ibv_recv_wr receive{}, *bad_receive = nullptr;
    receive.sg_list = &to;
    receive.num_sge = 1;
    if (ibv_post_recv(pair[1], &receive, &bad_receive) != 0) die("post_recv");
    const int64_t start = now();
    if (copied) std::memcpy(copy.data(), source.data(), size);
    ibv_sge from{reinterpret_cast<uintptr_t>(copied ? copy.data() : source.data()), static_cast<uint32_t>(size),
                 copied ? copy_region->lkey : source_region->lkey};
    ibv_send_wr request{}, *bad = nullptr;
    request.sg_list = &from;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED | (inlined ? IBV_SEND_INLINE : 0);
    if (ibv_post_send(pair[0], &request, &bad) != 0) die("post_send");
    ibv_wc wc{};
    for (int over = 0; over < 2;) {
      const int n = ibv_poll_cq(cq, 1, &wc);
      if (n > 0 && wc.status != IBV_WC_SUCCESS) die("completion");
      over += n;
    }
    return now() - start;
  }

  ibv_context* context = nullptr;
  ibv_pd* domain = nullptr;
  ibv_cq* cq = nullptr;
  std::array<ibv_qp*, 2> pair{};
  ibv_mr *source_region = nullptr, *copy_region = nullptr, *target_region = nullptr;
  std::vector<char> source, copy, target;
  uint32_t max_inline = 0;
};

/// Median: now and then an interrupt of the guest's clock falls into one.
int64_t typical(Loop& loop, std::size_t size, bool copied, bool inlined) {
  for (unsigned i = 0; i < 4; ++i) (void)loop.send(size, copied, inlined);
  std::array<int64_t, kRounds> costs;
  for (int64_t& cost : costs) cost = loop.send(size, copied, inlined);
  std::nth_element(costs.begin(), costs.begin() + kRounds / 2, costs.end());
  return costs[kRounds / 2];
}

}  // namespace

int sizes() {
  Loop loop(400);
  std::printf("INLINE %u\n", loop.max_inline);
  for (std::size_t size = 64; size <= kLargest; size *= 2) {
    const int64_t copied = typical(loop, size, true, false), gathered = typical(loop, size, false, false);
    std::printf("SIZE %zu %lld %lld", size, static_cast<long long>(copied), static_cast<long long>(gathered));
    if (size <= loop.max_inline) std::printf(" %lld", static_cast<long long>(typical(loop, size, false, true)));
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace tidemill::cost
