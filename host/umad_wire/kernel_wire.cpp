// SPDX-License-Identifier: Apache-2.0
/// The umad wire: one file descriptor of ib_umad, an agent of the kernel for what is sent on each QP and one for each
/// filter served.
#include <endian.h>
#include <fmt/format.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <system_error>
#include <utility>
#include <vector>

#include "tid_book.hpp"
#include "tidemill/umad_wire.hpp"
#include "umad_address.hpp"

namespace tidemill {
namespace umad {
namespace {

/// MADs read in a pass, so that a pass ends.
constexpr unsigned kReadsPerPoll = 256;
constexpr uint8_t kTries = 0;  // the engine retries
constexpr std::size_t kTidAt = 8;

void count(std::atomic<uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::string reason(int error) {
  return std::generic_category().message(error < 0 ? -error : error);
}

class KernelWire final : public UmadWire {
 public:
  static Result<std::unique_ptr<UmadWire>> open(UmadOptions options);
  KernelWire(int port, int wait_ms) : port_(port), wait_ms_(wait_ms), buffer_(umad_size() + kMadBytes) {}
  ~KernelWire() override { umad_close_port(port_); }
  KernelWire(const KernelWire&) = delete;
  KernelWire& operator=(const KernelWire&) = delete;

  WireAttributes attributes() const override { return attributes_; }
  void transmit(const WireSend& send) override;
  bool poll(WireSink& sink) override;
  std::optional<Nanoseconds> next_event() const override {
    return reports_.empty() && !refused_ ? std::nullopt : std::optional(SteadyClock().now());
  }
  int event_fd() const override { return gone_ ? -1 : umad_get_fd(port_); }
  std::shared_ptr<const UmadCounters> counters() const override { return counters_; }

 private:
  Error register_agents(const UmadOptions& options, bool infiniband);
  std::byte* mad() { return static_cast<std::byte*>(umad_get_mad(buffer_.data())); }
  bool read_one(WireSink& sink);
  bool hand_over(WireSink& sink);

  struct Report {
    uint64_t token;
    WireStatus status;
    uint8_t vendor;
  };

  const int port_;
  const int wait_ms_;
  WireAttributes attributes_;
  std::array<int, 2> sender_{-1, -1};
  std::vector<char> buffer_;
  TidBook tids_;
  std::vector<Report> reports_, reporting_;
  std::optional<WireReceived> refused_;  ///< Its bytes stay in `refused_mad_`.
  std::array<std::byte, kMadBytes> refused_mad_{};
  bool gone_ = false;
  const std::shared_ptr<UmadCounters> counters_ = std::make_shared<UmadCounters>();
};

Result<std::unique_ptr<UmadWire>> KernelWire::open(UmadOptions options) {
  if (umad_init() < 0) return Error{Errc::unknown_device, "the kernel has no umad; `modprobe ib_umad`"};
  umad_port_t port{};
  const char* const name = options.device.empty() ? nullptr : options.device.c_str();
  if (umad_get_port(name, options.port, &port) != 0) {
    return Error{Errc::no_such_port,
                 fmt::format("no port {} of {} for MADs; `ibstat` lists what there is", options.port,
                             options.device.empty() ? "any RDMA device" : options.device)};
  }
  const std::string device = port.ca_name;
  const bool infiniband = std::strncmp(port.link_layer, "InfiniBand", sizeof port.link_layer) == 0;
  WireAttributes attributes{
      .lid = static_cast<uint16_t>(port.base_lid), .lmc = static_cast<uint8_t>(port.lmc), .has_smi = infiniband};
  attributes.port_guid = be64toh(port.port_guid);
  umad_release_port(&port);

  const int id = umad_open_port(device.c_str(), options.port);
  if (id < 0)
    return Error{Errc::device_failed, fmt::format("{} port {}: {}; /dev/infiniband/umad* must be readable and writable",
                                                  device, options.port, reason(id))};
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(options.response_wait).count();
  auto wire = std::make_unique<KernelWire>(id, static_cast<int>(std::clamp<int64_t>(wait, 1, 3'600'000)));
  wire->attributes_ = attributes;
  if (Error e = wire->register_agents(options, infiniband); e.code != Errc::ok) return e;
  return std::unique_ptr<UmadWire>(std::move(wire));
}

Error KernelWire::register_agents(const UmadOptions& options, bool infiniband) {
  sender_[1] = umad_register(port_, 0, 0, 0, nullptr);
  if (infiniband) sender_[0] = umad_register(port_, mad_class::subn_directed, 1, 0, nullptr);
  if (sender_[1] < 0)
    return {Errc::device_failed, fmt::format("the kernel registers no MAD agent: {}", reason(sender_[1]))};
  for (const MadFilter& f : options.served) {
    std::array<long, 16 / sizeof(long)> methods{};
    for (std::size_t m = 0; m < 128; ++m)
      if (f.methods[m]) methods[m / (8 * sizeof(long))] |= static_cast<long>(1ul << m % (8 * sizeof(long)));
    const bool vendor2 = f.mgmt_class >= mad_class::vendor2_first && f.mgmt_class <= mad_class::vendor2_last;
    std::array<uint8_t, 3> oui{static_cast<uint8_t>(f.oui >> 16), static_cast<uint8_t>(f.oui >> 8),
                               static_cast<uint8_t>(f.oui)};
    const int agent = vendor2 ? umad_register_oui(port_, f.mgmt_class, 0, oui.data(), methods.data())
                              : umad_register(port_, f.mgmt_class, f.class_version, 0, methods.data());
    if (agent < 0) {
      return {
          Errc::method_taken,
          fmt::format("the kernel does not deliver class {:#x} version {}: {}; another program or the kernel has it",
                      f.mgmt_class, f.class_version, reason(agent))};
    }
  }
  return {};
}

void KernelWire::transmit(const WireSend& send) {
  const auto report = [&](WireStatus status, int error) {
    reports_.push_back({send.token, status, static_cast<uint8_t>(std::min(error, 255))});
  };
  const int agent = sender_[static_cast<unsigned>(send.qp)];
  if (gone_) return report(WireStatus::flushed, 0);
  if (agent < 0) return report(WireStatus::error, ENODEV);
  std::fill(buffer_.begin(), buffer_.end(), char{0});
  auto* const header = reinterpret_cast<ib_user_mad_t*>(buffer_.data());
  header->addr = to_umad(send.to);
  std::copy_n(send.mad.begin(), std::min(send.mad.size(), kMadBytes), mad());
  const MadView view(std::span<const std::byte, kMadBytes>(mad(), kMadBytes));
  const bool request = !view.is_response();
  uint32_t lower = 0;
  if (request) {
    lower = tids_.enter(view.tid());
    for (std::size_t i = 0; i < 4; ++i) mad()[kTidAt + 4 + i] = static_cast<std::byte>(lower >> (24 - 8 * i));
  }
  const int result = umad_send(port_, agent, buffer_.data(), kMadBytes, request ? wait_ms_ : 0, kTries);
  if (result == 0) {
    count(counters_->sent);
    return report(WireStatus::sent, 0);
  }
  if (request) (void)tids_.take(lower);
  count(counters_->send_errors);
  report(WireStatus::error, errno != 0 ? errno : -result);
}

bool KernelWire::hand_over(WireSink& sink) {
  if (!sink.received(*refused_)) return false;
  refused_.reset();
  count(counters_->received);
  return true;
}

bool KernelWire::read_one(WireSink& sink) {
  int length = kMadBytes;
  errno = 0;
  if (umad_recv(port_, buffer_.data(), &length, 0) < 0) {
    if (errno == EIO || errno == ENODEV) {
      gone_ = true;
      sink.event(PortEvent::device_removed);
    }
    return false;
  }
  const auto* const header = reinterpret_cast<const ib_user_mad_t*>(buffer_.data());
  const MadView view(std::span<const std::byte, kMadBytes>(mad(), kMadBytes));
  const auto lower = static_cast<uint32_t>(view.tid());
  if (header->status != 0) {  // our own request comes back: no response; the engine has its own timers
    (void)tids_.take(lower);
    count(counters_->given_up);
    return true;
  }
  std::copy_n(mad(), kMadBytes, refused_mad_.begin());
  if (view.is_response()) {
    const auto tid = tids_.take(lower);
    if (!tid) {
      count(counters_->unknown);
      return true;
    }
    for (std::size_t i = 0; i < 8; ++i) refused_mad_[kTidAt + i] = static_cast<std::byte>(*tid >> (56 - 8 * i));
  }
  const bool smi = view.mgmt_class() == mad_class::subn_lid || view.is_directed_route();
  Address from = from_umad(header->addr);
  from.qkey = from.qpn == 0 ? 0 : kGsiQkey;
  refused_ = WireReceived{smi ? Qp::smi : Qp::gsi, from, refused_mad_};
  return hand_over(sink);
}

bool KernelWire::poll(WireSink& sink) {
  const bool reported = !reports_.empty();
  reporting_.swap(reports_);
  for (const Report& r : reporting_) sink.sent(r.token, r.status, r.vendor);
  reporting_.clear();
  if (gone_) return reported;
  bool received = refused_ && hand_over(sink);
  for (unsigned i = 0; i < kReadsPerPoll && !refused_ && read_one(sink); ++i) received = true;
  return reported || received;
}

}  // namespace
}  // namespace umad

Result<std::unique_ptr<UmadWire>> UmadWire::open(UmadOptions options) {
  return umad::KernelWire::open(std::move(options));
}

}  // namespace tidemill
