// SPDX-License-Identifier: Apache-2.0
#include "endpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

namespace tidemill::verbs {
namespace {

Error failure(const std::string& what) {
  const int why = errno;
  return {Errc::device_failed, fmt::format("{}: {}", what, std::generic_category().message(why))};
}

uint64_t from_network(uint64_t v) {
  if constexpr (std::endian::native == std::endian::little) return __builtin_bswap64(v);
  return v;
}

void make_nonblocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

Result<ContextPtr> open_device(const std::string& name) {
  int count = 0;
  const std::unique_ptr<ibv_device*, Closes<ibv_free_device_list>> list(ibv_get_device_list(&count));
  std::string known;
  for (int i = 0; list && i < count; ++i) {
    const char* const found = ibv_get_device_name(list.get()[i]);
    if (!name.empty() && name != found) {
      known += known.empty() ? found : std::string(", ") + found;
      continue;
    }
    ContextPtr context(ibv_open_device(list.get()[i]));
    if (!context)
      return failure(
          fmt::format("RDMA device {} cannot be opened; /dev/infiniband/uverbs* must be readable and writable", found));
    return context;
  }
  if (known.empty())
    return Error{Errc::unknown_device,
                 "there is no RDMA device; `rdma link add rxe0 type rxe netdev IF` makes one of a network interface"};
  return Error{Errc::unknown_device, fmt::format("there is no RDMA device {}; there are: {}", name, known)};
}

}  // namespace

Result<std::unique_ptr<Endpoint>> Endpoint::open(const VerbsOptions& options) {
  std::unique_ptr<Endpoint> e(new Endpoint);
  auto context = open_device(options.device);
  if (!context) return context.error();
  e->context_ = std::move(context).value();
  VerbsIdentity& id = e->identity_;
  id.device = ibv_get_device_name(e->context_->device);
  id.port = options.port;
  e->pkey_index_ = options.pkey_index;
  e->qkey_ = options.qkey;
  make_nonblocking(e->context_->async_fd);

  ibv_port_attr port{};
  if (ibv_query_port(e->context_.get(), options.port, &port) != 0)
    return Error{Errc::no_such_port, fmt::format("RDMA device {} has no port {}", id.device, options.port)};
  id.roce = port.link_layer == IBV_LINK_LAYER_ETHERNET;
  id.lid = port.lid;
  e->lmc_ = port.lmc;
  const auto gid = e->read_gids().choose(options.gid_index);
  if (!gid) {
    return Error{Errc::bad_address,
                 options.gid_index < 0
                     ? fmt::format("port {} of {} has no GID; bring its network interface up", options.port, id.device)
                     : fmt::format("port {} of {} has no GID at index {}; `ibv_devinfo -v` lists them", options.port,
                                   id.device, options.gid_index)};
  }
  id.gid = gid->gid;
  id.gid_index = gid->index;
  uint64_t guid = 0;
  std::memcpy(&guid, gid->gid.data() + 8, sizeof guid);
  e->port_guid_ = from_network(guid);

  e->domain_.reset(ibv_alloc_pd(e->context_.get()));
  if (!e->domain_) return failure(fmt::format("{}: no protection domain", id.device));
  e->channel_.reset(ibv_create_comp_channel(e->context_.get()));
  if (!e->channel_) return failure(fmt::format("{}: no completion channel", id.device));
  make_nonblocking(e->channel_->fd);
  e->cq_.reset(
      ibv_create_cq(e->context_.get(), options.send_depth + options.receive_depth, nullptr, e->channel_.get(), 0));
  if (!e->cq_)
    return failure(fmt::format("{}: no completion queue for {} sends and {} receives; take smaller depths", id.device,
                               options.send_depth, options.receive_depth));
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = e->cq_.get();
  init.qp_type = IBV_QPT_UD;
  init.cap.max_send_wr = options.send_depth;
  init.cap.max_recv_wr = options.receive_depth;
  init.cap.max_send_sge = 2;  // the MAD, and what a short one lacks
  init.cap.max_recv_sge = 1;
  init.cap.max_inline_data = options.inline_bytes;
  e->qp_.reset(ibv_create_qp(e->domain_.get(), &init));
  if (!e->qp_)
    return failure(fmt::format("{}: no queue pair of {} sends, {} receives, {} bytes inline; take smaller ones",
                               id.device, options.send_depth, options.receive_depth, options.inline_bytes));
  id.inline_bytes =
      static_cast<uint16_t>(options.inline_bytes == 0 ? 0 : std::min<uint32_t>(init.cap.max_inline_data, 0xffff));
  id.qpn = e->qp_->qp_num;
  if (const int why = e->to_ready_to_send(); why != 0) {
    errno = why;
    return failure(fmt::format(
        "{} port {}: the queue pair cannot be made ready (P_Key index {}, Q_Key {:#x}; one with the top bit set "
        "needs CAP_NET_RAW)",
        id.device, options.port, options.pkey_index, options.qkey));
  }
  return e;
}

GidTable Endpoint::read_gids() const {
  std::vector<ibv_gid_entry> raw(256);
  const ssize_t count = ibv_query_gid_table(context_.get(), raw.data(), raw.size(), 0);
  std::vector<GidEntry> entries;
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& r = raw[static_cast<std::size_t>(i)];
    if (r.port_num != identity_.port || r.gid_index > 255) continue;
    GidEntry entry{.index = static_cast<uint8_t>(r.gid_index), .roce_v2 = r.gid_type == IBV_GID_TYPE_ROCE_V2};
    std::copy_n(r.gid.raw, entry.gid.size(), entry.gid.begin());
    entries.push_back(entry);
  }
  return GidTable(std::move(entries));
}

QueuePairState Endpoint::state() const {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  if (ibv_query_qp(qp_.get(), &attributes, IBV_QP_STATE, &init) != 0) return QueuePairState::error;
  switch (attributes.qp_state) {
    case IBV_QPS_RTS:
      return QueuePairState::working;
    case IBV_QPS_SQE:
      return QueuePairState::send_error;
    default:
      return QueuePairState::error;
  }
}

int Endpoint::to_ready_to_send() {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.pkey_index = pkey_index_;
  a.port_num = identity_.port;
  a.qkey = qkey_;
  if (const int why = ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
    return why;
  a.qp_state = IBV_QPS_RTR;
  if (const int why = ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE)) return why;
  a.qp_state = IBV_QPS_RTS;
  a.sq_psn = 0;
  return ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

bool Endpoint::resume() {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTS;
  return ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE) == 0;
}

bool Endpoint::restart() {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RESET;
  return ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE) == 0 && to_ready_to_send() == 0;
}

bool Endpoint::break_down() {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_ERR;
  return ibv_modify_qp(qp_.get(), &a, IBV_QP_STATE) == 0;
}

void Endpoint::arm() {
  if (armed_ && !fired_) return;
  if (fired_) {
    ibv_cq* which = nullptr;
    void* context = nullptr;
    // Not there yet: still armed, and readable soon.
    if (ibv_get_cq_event(channel_.get(), &which, &context) != 0) return;
    ibv_ack_cq_events(which, 1);
    fired_ = false;
  }
  armed_ = ibv_req_notify_cq(cq_.get(), 0) == 0;
}

}  // namespace tidemill::verbs
