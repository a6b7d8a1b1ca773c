// SPDX-License-Identifier: Apache-2.0
/// The verbs wire: puts queue pair, books, recovery, addresses and memory together.
///
///     transmit() -> pending -> [address handle] -> post, one call for all -> books -> completion -> report
///                      ^              | not yet                                           | error
///                      +-- waiting <--+                        recovery: drain, restart <-+
///
/// A pass of poll(): one post for what was given since the last, completions, recovery, reports, MADs, and one post for
/// what those led to. The completion channel is armed when the runtime asks next_event(), about to sleep: what it has
/// given meanwhile is posted by then, and often completed.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "address_handles.hpp"
#include "async_events.hpp"
#include "device_node.hpp"
#include "endpoint.hpp"
#include "receive_ring.hpp"
#include "recovery.hpp"
#include "registered_memory.hpp"
#include "resolver.hpp"
#include "send_queue.hpp"

namespace tidemill::verbs {

class UdWire final : public VerbsWire, public Maker {
 public:
  /// Null if the memory cannot be registered.
  static std::unique_ptr<UdWire> create(std::unique_ptr<Endpoint> endpoint, const VerbsOptions& options);
  ~UdWire() override;

  WireAttributes attributes() const override;
  void memory(std::span<const std::byte> region) override;
  void transmit(const WireSend& send) override { pending_.push_back(send); }
  void abandon() override;
  bool poll(WireSink& sink) override;
  std::optional<Nanoseconds> next_event() const override;
  int event_fd() const override { return epoll_; }
  VerbsIdentity identity() const override { return identity_; }
  std::shared_ptr<const VerbsCounters> counters() const override { return counters_; }

  /// For tests: what a fault of the device does to the queue pair.
  bool break_down() { return endpoint_ && endpoint_->break_down(); }

 private:
  UdWire(std::unique_ptr<Endpoint> endpoint, const VerbsOptions& options);

  // Maker.
  void* make(const Path& path) override;
  void destroy(void* handle) override;
  bool begin_slow(const Path& path) override;

  bool take_completions(WireSink& sink);
  void sent(const ibv_wc& wc);
  bool received(const ibv_wc& wc, WireSink& sink);
  bool hand_over(uint16_t buffer, uint32_t bytes, const ibv_wc& wc, WireSink& sink);
  bool retry_refused(WireSink& sink);
  void recover(WireSink& sink);
  bool restart();
  bool report(WireSink& sink);
  void post_pending();
  void hold_back_pending();
  bool build(const WireSend& send, std::size_t at, Nanoseconds when);
  void post(std::size_t count);
  /// Rarely: what the event fd announces besides completions.
  bool look_around(WireSink& sink);
  void tell(Meaning meaning, WireSink& sink);
  void close_device();
  Nanoseconds now() const { return SteadyClock().now(); }

  const VerbsOptions options_;
  const VerbsIdentity identity_;
  const std::shared_ptr<VerbsCounters> counters_ = std::make_shared<VerbsCounters>();
  DeviceNode node_;
  std::unique_ptr<Endpoint> endpoint_;  ///< Null once the device has been removed.
  WireAttributes attributes_;
  GidTable gids_;
  std::unique_ptr<RegisteredMemory> memory_;
  std::unique_ptr<ReceiveRing> receives_;
  std::unique_ptr<Resolver> resolver_;
  std::unique_ptr<AddressHandles> handles_;
  SendQueue sends_;
  Recovery recovery_;
  bool told_lost_ = false;  ///< Of a recovery that failed.

  std::vector<WireSend> pending_, given_, waiting_;  ///< Not posted; those being looked at; those without a handle yet.
  struct Refused {
    uint16_t buffer;
    ibv_wc completion;
  };
  std::vector<Refused> refused_;  ///< The runtime had no buffer free.

  mutable std::array<ibv_wc, 64> completions_;
  mutable int fetched_ = 0;  ///< Of these, not looked at yet.
  std::vector<ibv_send_wr> requests_;
  std::vector<std::array<ibv_sge, 2>> elements_;
  std::vector<SendReport> reports_;
  std::vector<uint32_t> freed_;
  int epoll_;
  unsigned empty_polls_ = 0, polls_ = 0;
};

}  // namespace tidemill::verbs
