// SPDX-License-Identifier: Apache-2.0
/// The verbs objects of a wire: device, completion queue, UD queue pair. Closing order is member order, backwards.
#pragma once
#include <infiniband/verbs.h>

#include <memory>
#include <span>

#include "gid_table.hpp"
#include "recovery.hpp"
#include "tidemill/verbs_wire.hpp"

namespace tidemill::verbs {

template <auto function>
struct Closes {
  template <class T>
  void operator()(T* object) const {
    (void)function(object);
  }
};
using ContextPtr = std::unique_ptr<ibv_context, Closes<ibv_close_device>>;
using DomainPtr = std::unique_ptr<ibv_pd, Closes<ibv_dealloc_pd>>;
using ChannelPtr = std::unique_ptr<ibv_comp_channel, Closes<ibv_destroy_comp_channel>>;
using CompletionQueuePtr = std::unique_ptr<ibv_cq, Closes<ibv_destroy_cq>>;
using QueuePairPtr = std::unique_ptr<ibv_qp, Closes<ibv_destroy_qp>>;
using MemoryRegionPtr = std::unique_ptr<ibv_mr, Closes<ibv_dereg_mr>>;

class Endpoint {
 public:
  /// A queue pair in RTS, with nothing posted.
  static Result<std::unique_ptr<Endpoint>> open(const VerbsOptions& options);

  const VerbsIdentity& identity() const { return identity_; }
  uint64_t port_guid() const { return port_guid_; }
  uint8_t lmc() const { return lmc_; }
  ibv_pd* domain() const { return domain_.get(); }
  ibv_qp* queue_pair() const { return qp_.get(); }
  ibv_context* context() const { return context_.get(); }
  int channel_fd() const { return channel_->fd; }
  GidTable read_gids() const;

  QueuePairState state() const;
  /// SQE to RTS.
  bool resume();
  /// Through RESET to RTS: work requests posted before say nothing more, receives must be posted again.
  bool restart();
  /// Nothing is read or written any more; before address handles and memory go.
  void stop() { qp_.reset(); }
  /// As a fault of the device does it.
  bool break_down();

  int poll(std::span<ibv_wc> completions) {
    return ibv_poll_cq(cq_.get(), static_cast<int>(completions.size()), completions.data());
  }
  /// The channel becomes readable with the next completion. A completion may have come before: poll once more.
  void arm();
  bool armed() const { return armed_; }
  /// A completion was seen while armed: the channel's event is or will be there.
  void fired() { fired_ = armed_; }

 private:
  Endpoint() = default;
  int to_ready_to_send();

  VerbsIdentity identity_;
  uint64_t port_guid_ = 0;
  uint8_t lmc_ = 0;
  uint16_t pkey_index_ = 0;
  uint32_t qkey_ = 0;
  bool armed_ = false, fired_ = false;
  ContextPtr context_;
  DomainPtr domain_;
  ChannelPtr channel_;
  CompletionQueuePtr cq_;
  QueuePairPtr qp_;
};

}  // namespace tidemill::verbs
