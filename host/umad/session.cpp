// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "big_endian.hpp"
#include "environment.hpp"
#include "files.hpp"
#include "fmt/format.h"
#include "issm_file.hpp"
#include "per_process.hpp"
#include "stats_file.hpp"

namespace tidemill::umad {
namespace {

Result<Adapter> describe_adapter(const Ibsim& ibsim) {
  const auto node = ibsim.node_info();
  if (!node) return node.error();
  const auto port = ibsim.port_info();
  if (!port) return port.error();
  const auto& n = node.value();
  Adapter a;
  a.node_type = get8(n, 2);
  const bool is_switch = a.node_type == 2;
  a.ports = is_switch ? 0 : get8(n, 3);
  a.port = is_switch ? 0 : get8(port.value(), 28);
  a.system_guid = get64(n, 4);
  a.node_guid = get64(n, 12);
  a.hardware = get32(n, 32);
  a.vendor_id = get32(n, 36) & 0xffffffu;
  return a;
}

/// A child's place on the fabric is its own, as its threads are.
struct Process {
  std::mutex mutex;
  std::unique_ptr<Session> session;
  bool failed = false;
};

Process& process() {
  static auto* const of = new PerProcess<Process>;
  return of->get();
}

void complain(const Error& e) {
  fmt::print(stderr, "tidemill: {}\n", e.message);
}

void close_at_exit() {
  Process& p = process();
  const std::lock_guard lock(p.mutex);
  p.session.reset();
  p.failed = true;
  drop_files();  // their agents hold the device
}

}  // namespace

Session* Session::get() {
  Process& p = process();
  const std::lock_guard lock(p.mutex);
  if (!p.session && !p.failed) {
    auto opened = Session::open();
    // After opening: what the device has loaded, XRT above all, registers its own end, and must not end before ours.
    if (opened.ok() && std::atexit(close_at_exit) == 0) {
      p.session = std::move(opened).value();
    } else {
      fmt::print(stderr, "tidemill: {}\n", opened.ok() ? "no room to register the end" : opened.error().message);
      p.failed = true;
    }
  }
  return p.session.get();
}

Result<std::unique_ptr<Session>> Session::open() {
  if (const std::string wire = environment("TIDEMILL_WIRE", "ibsim:"); wire != "ibsim:")
    return Error{Errc::bad_uri, fmt::format("TIDEMILL_WIRE '{}' is not known to libibumad; it is ibsim:", wire)};
  auto ibsim = Ibsim::connect(IbsimOptions::from_environment());
  if (!ibsim) return ibsim.error();
  auto adapter = describe_adapter(*ibsim);
  if (!adapter) return adapter.error();
  auto wire = ibsim->wire();
  if (!wire) return wire.error();
  auto device = Device::open(environment("TIDEMILL_DEVICE", "soft:"));
  if (!device) return device.error();
  std::shared_ptr<Trace> trace;
  if (!environment("TIDEMILL_TRACE").empty()) trace = std::make_shared<Trace>();
  std::unique_ptr<Session> session(new Session(std::move(ibsim).value(), *adapter, std::move(device).value(), trace));
  auto port = session->device_.open_port(1, std::move(wire).value(), {.receive_buffers = 4096, .trace = trace});
  if (!port) return port.error();
  session->port_ = std::move(port).value();
  return session;
}

Session::Session(Ibsim ibsim, Adapter adapter, Device device, std::shared_ptr<Trace> trace)
    : ibsim_(std::move(ibsim)), adapter_(adapter), device_(std::move(device)), trace_(std::move(trace)) {}

Session::~Session() {
  if (!port_) return;
  write_stats_file();
  port_ = Port();  // with its agents: what was under way to them ends before the trace does
  write_trace();
}

void Session::write_trace() const {
  const std::string prefix = environment("TIDEMILL_TRACE");
  if (!trace_ || prefix.empty()) return;
  if (const auto written = trace_->write_timeline(prefix + ".json"); !written) complain(written.error());
  if (const auto written = trace_->write_capture(prefix + ".pcapng"); !written) complain(written.error());
}

void Session::write_stats_file() const {
  if (const std::string path = environment("TIDEMILL_STATS"); !path.empty())
    if (const Error e = write_stats(path, device_, port_, ibsim_.counters()); e.code != Errc::ok) complain(e);
}

Result<std::string> Session::issm_path() {
  if (!issm_) {
    auto file = std::make_unique<IssmFile>([this](bool on) { ibsim_.set_issm(on); });
    if (file->path().empty())
      return Error{Errc::file_failed,
                   "the file that stands for the port's issm device cannot be made in the folder for temporary files"};
    issm_ = std::move(file);
  }
  return issm_->path();
}

}  // namespace tidemill::umad
