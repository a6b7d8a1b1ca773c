// SPDX-License-Identifier: Apache-2.0
#include "ud_wire.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tidemill {

Result<std::unique_ptr<VerbsWire>> VerbsWire::open(VerbsOptions options) {
  if (options.send_depth == 0 || options.receive_depth == 0)
    return Error{Errc::bad_option, "send_depth and receive_depth of a verbs wire are 1 to 65535"};
  if (options.address_handles == 0)
    return Error{Errc::bad_option, "a verbs wire needs room for one address handle at least"};
  auto endpoint = verbs::Endpoint::open(options);
  if (!endpoint) return endpoint.error();
  auto wire = verbs::UdWire::create(std::move(endpoint).value(), options);
  if (!wire)
    return Error{Errc::device_failed,
                 fmt::format("{} receive and {} send buffers cannot be registered; raise the limit on locked memory "
                             "(ulimit -l) or take smaller depths",
                             options.receive_depth, options.send_depth)};
  return std::unique_ptr<VerbsWire>(std::move(wire));
}

}  // namespace tidemill

namespace tidemill::verbs {
namespace {

/// Every so often poll() also looks for what is not a completion; a sleeper is woken for it anyway.
constexpr unsigned kEmptyPolls = 8, kPolls = 256;

void watch(int epoll, int fd) {
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.fd = fd;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

uint8_t vendor_of(const ibv_wc& wc) {
  // The device's own code is worth more than the status, if it has one below ours.
  const uint32_t code = wc.vendor_err != 0 ? wc.vendor_err : static_cast<uint32_t>(wc.status);
  return static_cast<uint8_t>(std::min<uint32_t>(code, static_cast<uint32_t>(VerbsFault::no_route) - 1));
}

void count(std::atomic<uint64_t>& counter, uint64_t by = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace

std::unique_ptr<UdWire> UdWire::create(std::unique_ptr<Endpoint> endpoint, const VerbsOptions& options) {
  std::unique_ptr<UdWire> wire(new UdWire(std::move(endpoint), options));
  return wire->memory_->ok() && wire->receives_->ok() ? std::move(wire) : nullptr;
}

UdWire::UdWire(std::unique_ptr<Endpoint> endpoint, const VerbsOptions& options)
    : options_(options),
      identity_(endpoint->identity()),
      node_(endpoint->context()->device->dev_name),
      endpoint_(std::move(endpoint)),
      gids_(endpoint_->read_gids()),
      memory_(std::make_unique<RegisteredMemory>(endpoint_->domain(), options.send_depth)),
      receives_(std::make_unique<ReceiveRing>(endpoint_->domain(), options.receive_depth)),
      resolver_(std::make_unique<Resolver>([this](const Path& path) { return make(path); })),
      handles_(std::make_unique<AddressHandles>(*this, options.address_handles, options.address_handle_life)),
      sends_(options.send_depth),
      requests_(options.send_depth),
      elements_(options.send_depth),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  attributes_ = {.lid = identity_.lid, .lmc = endpoint_->lmc(), .has_smi = false, .port_guid = endpoint_->port_guid()};
  attributes_.send_depth = {options.send_depth, options.send_depth};
  watch(epoll_, endpoint_->channel_fd());
  watch(epoll_, endpoint_->context()->async_fd);
  watch(epoll_, resolver_->event_fd());
  watch(epoll_, node_.event_fd());
  if (receives_->ok()) receives_->start(endpoint_->queue_pair(), {});
}

UdWire::~UdWire() {
  close_device();
  close(epoll_);
}

WireAttributes UdWire::attributes() const {
  return attributes_;
}

void UdWire::memory(std::span<const std::byte> region) {
  if (memory_) memory_->region(region);
}

// ---------------------------------------------------------------- address handles

void* UdWire::make(const Path& path) {
  ibv_ah_attr a{};
  a.dlid = path.lid;
  a.sl = path.sl;
  a.src_path_bits = path.path_bits;
  a.port_num = identity_.port;
  if (path.grh) {
    a.is_global = 1;
    std::copy(path.grh->gid.begin(), path.grh->gid.end(), a.grh.dgid.raw);
    a.grh.sgid_index = path.grh->gid_index;
    a.grh.hop_limit = path.grh->hop_limit;
    a.grh.traffic_class = path.grh->traffic_class;
    a.grh.flow_label = path.grh->flow_label;
  }
  ibv_ah* const handle = ibv_create_ah(endpoint_->domain(), &a);
  ++(handle != nullptr ? counters_->address_handles : counters_->address_failures);  // also the resolver's thread
  return handle;
}

void UdWire::destroy(void* handle) {
  ibv_destroy_ah(static_cast<ibv_ah*>(handle));
}

bool UdWire::begin_slow(const Path& path) {
  // A link-local GID holds the MAC, and InfiniBand resolves nothing: neither can block.
  if (!identity_.roce || !path.grh || kind_of(path.grh->gid) == GidKind::link_local) return false;
  resolver_->ask(path);
  return true;
}

// ---------------------------------------------------------------- sending

bool UdWire::build(const WireSend& send, std::size_t at, Nanoseconds when) {
  if (send.to.pkey_index != options_.pkey_index) {
    sends_.refused(send.token, static_cast<uint8_t>(VerbsFault::wrong_pkey));
    count(counters_->send_errors);
    return false;
  }
  AddressHandles::Held held;
  if (!identity_.roce || send.to.grh) held = handles_->hold(Path::of(send.to), when);
  if (held.found == AddressHandles::Found::later) {
    waiting_.push_back(send);
    return false;
  }
  if (held.found == AddressHandles::Found::no) {
    sends_.refused(send.token, static_cast<uint8_t>(VerbsFault::no_route));
    count(counters_->send_errors);
    return false;
  }
  const RegisteredMemory::Place place = memory_->place(send.mad, sends_.next_id());
  if (place.copied) count(counters_->copied);
  elements_[at] = {place.at, memory_->padding(place.at.length)};
  ibv_send_wr& r = requests_[at];
  r = {};
  r.wr_id = sends_.next_id();
  r.next = &requests_[at + 1 < requests_.size() ? at + 1 : 0];
  r.sg_list = elements_[at].data();
  r.num_sge = place.at.length < kMadBytes ? 2 : 1;
  r.opcode = IBV_WR_SEND;
  r.send_flags = send.mad.size() <= identity_.inline_bytes ? IBV_SEND_INLINE : 0;
  r.wr.ud.ah = static_cast<ibv_ah*>(held.handle);
  r.wr.ud.remote_qpn = send.to.qpn;
  r.wr.ud.remote_qkey = send.to.qkey;
  sends_.posted(send.token, held.index);
  return true;
}

void UdWire::post_pending() {
  if (pending_.empty() || !recovery_.ready() || !endpoint_) return;
  given_.swap(pending_);
  std::size_t ready = 0;
  const Nanoseconds when = now();
  for (const WireSend& send : given_) {
    if (sends_.outstanding() == options_.send_depth)
      pending_.push_back(send);  // more than the runtime gives
    else
      ready += build(send, ready, when) ? 1 : 0;
  }
  given_.clear();
  if (ready != 0) post(ready);
}

void UdWire::post(std::size_t ready) {
  const uint64_t first_id = requests_[0].wr_id;
  requests_[ready - 1].next = nullptr;
  requests_[ready - 1].send_flags |= IBV_SEND_SIGNALED;
  ibv_send_wr* refused = nullptr;
  count(counters_->posts);
  count(counters_->posted, ready);
  if (ibv_post_send(endpoint_->queue_pair(), requests_.data(), &refused) == 0) return;
  // The device took those before `refused`, whose end nothing signals: they come back with a restart, as flushed. The
  // offender ends with an error, those behind it are given again.
  const uint64_t bad = refused != nullptr ? refused->wr_id : first_id;
  sends_.not_posted(bad, static_cast<uint8_t>(VerbsFault::not_posted));
  count(counters_->send_errors);
  recovery_.failed(now(), true);
}

void UdWire::hold_back_pending() {
  for (auto* tries : {&waiting_, &pending_}) {
    for (const WireSend& send : *tries) sends_.held_back(send.token);
    tries->clear();
  }
}

void UdWire::sent(const ibv_wc& wc) {
  switch (wc.status) {
    case IBV_WC_SUCCESS:
      sends_.completed(wc.wr_id, SendQueue::Outcome::success, 0);
      return;
    case IBV_WC_WR_FLUSH_ERR:
      sends_.completed(wc.wr_id, SendQueue::Outcome::flushed, 0);
      count(counters_->flushed);
      break;
    default:
      sends_.completed(wc.wr_id, SendQueue::Outcome::error, vendor_of(wc));
      count(counters_->send_errors);
      break;
  }
  recovery_.failed(now());
}

// ---------------------------------------------------------------- failure

void UdWire::recover(WireSink& sink) {
  const Nanoseconds when = now();
  if (!recovery_.ready() && !(recovery_.lost() && when < recovery_.due())) {
    const Recovery::Step step = recovery_.next(when, endpoint_->state(), sends_.outstanding());
    if (step != Recovery::Step::none) {
      const bool ok = step == Recovery::Step::resume ? endpoint_->resume() : restart();
      const uint8_t number = recovery_.finished(when, ok);
      count(ok ? counters_->recoveries : counters_->failed_recoveries);
      sends_.forget();
      if (ok) hold_back_pending();  // behind those that were flushed: all go again, in their old order
      sends_.recovered(number);
    } else if (recovery_.ready()) {
      sends_.recovered(0);
    }
  }
  if (recovery_.lost() == told_lost_) return;
  told_lost_ = recovery_.lost();
  sink.event(told_lost_ ? PortEvent::wire_lost : PortEvent::wire_back);
}

bool UdWire::restart() {
  if (!endpoint_->restart()) return false;
  std::vector<uint16_t> kept;
  for (const Refused& r : refused_) kept.push_back(r.buffer);
  receives_->start(endpoint_->queue_pair(), kept);
  return true;
}

void UdWire::abandon() {
  sends_.forget();
  hold_back_pending();
  sends_.recovered(0);
  if (!endpoint_) return;
  // Not before RESET does the device read no more.
  const bool ok = restart();
  if (!ok || !recovery_.ready()) (void)recovery_.finished(now(), ok);
}

void UdWire::close_device() {
  if (!endpoint_) return;
  resolver_->stop();
  endpoint_->stop();
  sends_.forget();
  refused_.clear();
  for (const auto& answer : resolver_->take())
    if (answer.handle != nullptr) destroy(answer.handle);
  handles_.reset();
  receives_.reset();
  memory_.reset();
  endpoint_.reset();
  fetched_ = 0;
}

// ---------------------------------------------------------------- events

bool UdWire::look_around(WireSink& sink) {
  std::array<epoll_event, 4> ready;
  const int count_ready = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), 0);
  bool reported = false;
  for (int i = 0; i < count_ready && endpoint_; ++i) {
    const int fd = ready[static_cast<std::size_t>(i)].data.fd;
    if (fd == resolver_->event_fd()) {
      for (const Resolver::Answer& a : resolver_->take()) handles_->resolved(a.path, a.handle, now());
      // Before what was given later.
      pending_.insert(pending_.begin(), waiting_.begin(), waiting_.end());
      waiting_.clear();
      reported = true;
    } else if (fd == node_.event_fd()) {
      if (!node_.removed()) continue;
      tell(Meaning::removed, sink);
      reported = true;
    } else if (fd == endpoint_->context()->async_fd) {
      ibv_async_event event{};
      while (endpoint_ && ibv_get_async_event(endpoint_->context(), &event) == 0) {
        const Meaning meaning = meaning_of(event, identity_.port, endpoint_->queue_pair());
        ibv_ack_async_event(&event);
        tell(meaning, sink);
        reported |= meaning != Meaning::nothing;
      }
    } else {
      endpoint_->fired();
    }
  }
  return reported;
}

void UdWire::tell(Meaning meaning, WireSink& sink) {
  switch (meaning) {
    case Meaning::nothing:
      return;
    case Meaning::link_lost:
      sink.event(PortEvent::wire_lost);
      return;
    case Meaning::link_back:
      handles_->expire_all();
      sink.event(PortEvent::wire_back);
      return;
    case Meaning::addresses_changed:
      handles_->expire_all();
      gids_ = endpoint_->read_gids();
      sink.event(PortEvent::address_changed);
      return;
    case Meaning::queue_pair_failed:
      recovery_.failed(now());
      return;
    case Meaning::removed:
      // Closed at once: the kernel's removal waits for us. The runtime calls abandon() inside the event.
      hold_back_pending();
      close_device();
      sink.event(PortEvent::device_removed);
      return;
  }
}

// ---------------------------------------------------------------- receiving

bool UdWire::received(const ibv_wc& wc, WireSink& sink) {
  if (!receives_->owns(wc.wr_id)) return false;
  const uint16_t buffer = ReceiveRing::buffer_of(wc.wr_id);
  if (wc.status != IBV_WC_SUCCESS) {
    if (wc.status != IBV_WC_WR_FLUSH_ERR) count(counters_->receive_errors);
    recovery_.failed(now());
    receives_->release(buffer);
    return false;
  }
  if (!refused_.empty() || !hand_over(buffer, wc.byte_len, wc, sink)) {
    refused_.push_back({buffer, wc});
    return false;
  }
  receives_->release(buffer);
  return true;
}

bool UdWire::hand_over(uint16_t buffer, uint32_t bytes, const ibv_wc& wc, WireSink& sink) {
  WireReceived r{.qp = Qp::gsi, .from = {}, .mad = receives_->mad(buffer, bytes)};
  r.from.lid = wc.slid;
  r.from.sl = wc.sl;
  r.from.path_bits = wc.dlid_path_bits;
  r.from.qpn = wc.src_qp;
  r.from.qkey = options_.qkey;
  r.from.pkey_index = options_.pkey_index;
  if ((wc.wc_flags & IBV_WC_GRH) != 0) {
    if (const auto header = parse_network_header(receives_->header(buffer))) {
      r.from.grh = GlobalRoute{
          .gid = header->source,
          .gid_index = gids_.index_of(header->destination, identity_.gid_index).value_or(identity_.gid_index),
          .traffic_class = header->traffic_class,
          .flow_label = header->flow_label};
    }
  }
  if (!sink.received(r)) return false;
  count(counters_->received);
  return true;
}

bool UdWire::retry_refused(WireSink& sink) {
  std::size_t done = 0;
  while (done < refused_.size() &&
         hand_over(refused_[done].buffer, refused_[done].completion.byte_len, refused_[done].completion, sink))
    receives_->release(refused_[done++].buffer);
  refused_.erase(refused_.begin(), refused_.begin() + static_cast<std::ptrdiff_t>(done));
  return done != 0;
}

// ---------------------------------------------------------------- a pass

bool UdWire::take_completions(WireSink& sink) {
  const int n = fetched_ > 0 ? fetched_ : endpoint_->poll(completions_);
  fetched_ = 0;
  if (n <= 0) return false;
  endpoint_->fired();
  const std::span<const ibv_wc> got(completions_.data(), static_cast<std::size_t>(n));
  // A response that came with the completion of its request counts after it.
  for (const ibv_wc& wc : got)
    if ((wc.wr_id & kReceiveId) == 0) sent(wc);
  report(sink);
  for (const ibv_wc& wc : got)
    if ((wc.wr_id & kReceiveId) != 0) received(wc, sink);
  return true;
}

bool UdWire::report(WireSink& sink) {
  if (!sends_.has_reports()) return false;
  std::vector<SendReport> reports;
  reports.swap(reports_);
  sends_.take(reports, freed_);
  if (handles_)
    for (const uint32_t handle : freed_) handles_->release(handle);
  for (const SendReport& r : reports) sink.sent(r.token, r.status, r.vendor, r.recovery);
  reports_.swap(reports);
  return true;
}

bool UdWire::poll(WireSink& sink) {
  bool reported = false;
  if (endpoint_) {
    // First what was given since: a device that sends at once has completed it by the next line.
    post_pending();
    if (!refused_.empty()) reported |= retry_refused(sink);
    reported |= take_completions(sink);
    if (!recovery_.ready() || told_lost_) recover(sink);
    if (++polls_ % kPolls == 0 || (!reported && ++empty_polls_ % kEmptyPolls == 0)) reported |= look_around(sink);
  }
  reported |= report(sink);
  if (!endpoint_) {
    // Whatever is given to a wire that is gone comes back.
    hold_back_pending();
    sends_.recovered(0);
    return report(sink) || reported;
  }
  if (recovery_.ready()) receives_->post(endpoint_->queue_pair());
  post_pending();
  return reported;
}

std::optional<Nanoseconds> UdWire::next_event() const {
  if (sends_.has_reports() || !refused_.empty() || (recovery_.ready() && !pending_.empty())) return now();
  if (!endpoint_) return pending_.empty() ? std::nullopt : std::optional(now());
  endpoint_->arm();
  // What came before that is not announced.
  if (fetched_ <= 0) fetched_ = endpoint_->poll(completions_);
  if (fetched_ > 0) return now();
  if (recovery_.lost()) return recovery_.due();
  if (!recovery_.ready()) return std::min(recovery_.due(), now() + std::chrono::milliseconds(1));
  return std::nullopt;
}

}  // namespace tidemill::verbs
