// SPDX-License-Identifier: Apache-2.0
#include "sim/xrt/session.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "rpc.pb.h"
#include "tidemill/abi.hpp"

namespace tidemill::sim {
namespace {

/// Cycles between two looks at the host's socket: a few milliseconds.
constexpr uint64_t kTurnCycles = 256;
constexpr int kMostIdleMs = 1000;
constexpr int64_t kTickNs = 1024;
/// Ticks: the card goes on by no more in a turn, and lags behind the wall clock by no more.
constexpr uint32_t kMostStep = 1000, kMostLag = 1'000'000;

}  // namespace

Session::Session(const SessionOptions& options, Channel host, Channel to_host)
    : options_(options),
      host_(std::move(host)),
      own_(std::make_shared<DeviceMemory>()),
      memory_(std::make_shared<RemoteMemory>(std::move(to_host), own_)),
      card_(options.card, true, memory_) {}

/// The tick up to which the card may go. A wheel that is behind gets no more to turn, or nothing else would get its
/// cycles; what lags too far behind is let go.
uint32_t Session::follow() {
  using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::steady_clock;
  const auto now = static_cast<uint32_t>(duration_cast<nanoseconds>(steady_clock::now() - began_).count() / kTickNs);
  if (now - followed_ > kMostLag) followed_ = now - kMostLag;
  const Platform& p = card_.platform();
  if (static_cast<int32_t>(p.wake() - p.tick()) > 0) {
    const uint32_t step = std::min(now - followed_, kMostStep);
    followed_ += step;
    told_ += step;
  }
  return told_;
}

/// How long nothing happens if the host asks for nothing.
int Session::idle_ms() const {
  if (!follows_clock_) return kMostIdleMs;
  if (more_) return 0;
  return 1;
}

void Session::run(const std::function<void()>& alive) {
  while (memory_->host_answers()) {
    alive();
    pollfd p{host_.fd(), POLLIN, 0};
    const int ready = poll(&p, 1, idle_ms());
    if (ready > 0 && !serve()) break;
    // What the host has written in a row is taken before the card goes on: a call must not wait for a turn.
    if (ready > 0 && poll(&p, 1, 0) > 0) continue;
    if (follows_clock_) more_ = card_.work(follow(), kTurnCycles);
  }
  memory_->close();
  // Ending before the host has closed could lose the last answer.
  if (memory_->host_answers()) host_.await_end();
}

bool Session::answer(const google::protobuf::MessageLite& message) {
  return host_.send(Channel::Header::answer, Api::close, message);
}

bool Session::serve() {
  const auto api = host_.receive_call(message_);
  if (!api) return false;
  rpc::Acknowledge ok;
  ok.set_ok(true);
  switch (*api) {
    case Api::close:
      answer(ok);
      return false;
    case Api::copy_to_device: {
      rpc::CopyToDevice call;
      rpc::CopyToDeviceAnswer done;
      if (!call.ParseFromString(message_)) return false;
      const bool taken = own_->write(call.address() + call.seek(), call.data().data(), call.data().size());
      done.set_bytes(taken ? call.data().size() : 0);
      return answer(done);
    }
    case Api::copy_from_device: {
      rpc::CopyFromDevice call;
      rpc::CopyFromDeviceAnswer done;
      if (!call.ParseFromString(message_)) return false;
      if (call.bytes() > DeviceMemory::kBytes) return false;
      done.mutable_data()->resize(call.bytes());
      if (!own_->read(call.address() + call.skip(), done.mutable_data()->data(), call.bytes()))
        done.mutable_data()->clear();
      done.set_bytes(done.data().size());
      return answer(done);
    }
    case Api::register_write: {
      rpc::RegisterAccess call;
      if (!call.ParseFromString(message_) || call.data().size() % 4 != 0) return false;
      for (std::size_t at = 0; at < call.data().size(); at += 4) {
        uint32_t value;
        std::memcpy(&value, call.data().data() + at, sizeof value);
        ok.set_ok(write(call.address() + at, value) && ok.ok());
      }
      return answer(ok);
    }
    case Api::register_read: {
      rpc::RegisterAccess call;
      rpc::RegisterReadAnswer values;
      if (!call.ParseFromString(message_)) return false;
      values.set_ok(true);
      for (uint32_t at = 0; at < call.bytes(); at += 4) {
        const auto value = read(call.address() + at);
        values.set_ok(values.ok() && value.has_value());
        const uint32_t word = value.value_or(0);
        values.mutable_data()->append(reinterpret_cast<const char*>(&word), sizeof word);
      }
      return answer(values);
    }
    case Api::debug_messages: {
      rpc::DebugMessages none;
      none.set_info("");
      none.set_warning("");
      none.set_error("");
      return answer(none);
    }
    // XRT has chosen the address of what it allocates, and memory of the host it does not tell of.
    case Api::alloc:
    case Api::free:
    case Api::set_environment:
    default:
      return answer(ok);
  }
}

std::optional<uint32_t> Session::read(uint64_t address) {
  if (address - kEmulationBase < xrt_emulation::kBytes)
    return read_emulation(static_cast<uint32_t>(address - kEmulationBase));
  if (address - kShellBase >= abi::reg::kBytes) return std::nullopt;
  const auto offset = static_cast<uint32_t>(address - kShellBase);
  ++count(Counter::register_reads);
  const uint32_t value = card_.read(offset);
  more_ = true;
  return offset == abi::reg::version ? options_.version.value_or(value) : value;
}

bool Session::write(uint64_t address, uint32_t value) {
  if (address - kEmulationBase < xrt_emulation::kBytes) {
    write_emulation(static_cast<uint32_t>(address - kEmulationBase), value);
    return true;
  }
  if (address - kShellBase >= abi::reg::kBytes) return false;
  const auto offset = static_cast<uint32_t>(address - kShellBase);
  count_write(offset);
  card_.write(offset, value);
  more_ = true;
  return true;
}

void Session::count_write(uint32_t offset) {
  if (offset >= abi::reg::lane_doorbell) {
    ++count(Counter::lane_doorbells);
    return;
  }
  const auto producer = [](abi::Ring ring) { return abi::reg::ring_producer + 0x20u * static_cast<uint32_t>(ring); };
  if (offset == producer(abi::Ring::command))
    ++count(Counter::command_producers);
  else if (offset == producer(abi::Ring::sent))
    ++count(Counter::sent_producers);
  else if (offset == producer(abi::Ring::received_smi) || offset == producer(abi::Ring::received_gsi))
    ++count(Counter::received_producers);
  else
    ++count(Counter::other_writes);
}

uint64_t Session::counter(uint32_t index) const {
  switch (static_cast<Counter>(index)) {
    case Counter::lines_read:
      return memory_->lines_read();
    case Counter::lines_written:
      return memory_->lines_written();
    default:
      return counters_[index];
  }
}

uint32_t Session::read_emulation(uint32_t offset) const {
  namespace reg = xrt_emulation;
  const auto half = [offset](uint64_t value) { return static_cast<uint32_t>(offset % 8 == 0 ? value : value >> 32); };
  if (offset >= reg::counters && offset < reg::counters + 8 * reg::kCounters)
    return half(counter((offset - reg::counters) / 8));
  switch (offset) {
    case reg::magic:
      return reg::kMagicValue;
    case reg::process:
      return static_cast<uint32_t>(getpid());
    case reg::follow_clock:
      return follows_clock_ ? 1 : 0;
    case reg::status:
      return (more_ ? 1u : 0u) | (card_.platform().failed() ? 2u : 0u);
    case reg::wake:
      return card_.platform().wake();
    case reg::time:
    case reg::time + 4:
      return half(static_cast<uint64_t>(card_.time().value_or(Nanoseconds(0)).count()));
    case reg::cycles:
    case reg::cycles + 4:
      return half(card_.platform().cycles());
    default:
      return 0;
  }
}

void Session::write_emulation(uint32_t offset, uint32_t value) {
  if (offset == xrt_emulation::follow_clock) {
    follows_clock_ = value != 0;
    card_.follow_clock(follows_clock_);
  } else if (offset == xrt_emulation::memory) {
    told_memory_ = (told_memory_ & ~uint64_t{0xffffffff}) | value;
  } else if (offset == xrt_emulation::memory + 4) {
    told_memory_ = (told_memory_ & 0xffffffff) | uint64_t{value} << 32;
  } else if (offset == xrt_emulation::pages) {
    using Whose = RemoteMemory::Whose;
    if (const uint64_t pages = value & ~xrt_emulation::kPagesOfTheCard; pages != 0)
      memory_->handed_out(told_memory_, pages * 4096,
                          (value & xrt_emulation::kPagesOfTheCard) != 0 ? Whose::card : Whose::host);
    else
      memory_->given_back(told_memory_);
  } else if (offset == xrt_emulation::work) {
    more_ = card_.work(value);
  }
}

void Session::report(std::FILE* log) const {
  std::fprintf(log, "%llu cycles", static_cast<unsigned long long>(card_.platform().cycles()));
  for (uint32_t i = 0; i < xrt_emulation::kCounters; ++i)
    std::fprintf(log, ", %llu %s", static_cast<unsigned long long>(counter(i)), xrt_emulation::kCounterNames[i]);
  std::fputc('\n', log);
}

}  // namespace tidemill::sim
