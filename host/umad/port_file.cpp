// SPDX-License-Identifier: Apache-2.0
#include "port_file.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "fmt/format.h"
#include "rmpp/segment.hpp"
#include "umad_wire/umad_address.hpp"

namespace tidemill::umad {
namespace {

/// What a program may leave unread, as in the kernel: beyond, arrivals are dropped; ends of sends never.
constexpr std::size_t kMostUnread = 200'000;
constexpr auto kLongestTimeout = std::chrono::seconds(1000);
constexpr std::size_t kMessageLimit = std::size_t{256} << 20;

/// errno values travel in `status`.
uint32_t status_of(const SendCompletion& c) {
  switch (c.status) {
    case SendStatus::success:
      return 0;
    case SendStatus::timeout:
    case SendStatus::deadline:
      return ETIMEDOUT;
    case SendStatus::flushed:
      return ECANCELED;
    case SendStatus::duplicate:
      return EINVAL;
    case SendStatus::error:
      return EIO;
  }
  return EIO;
}

/// Nothing may stop a thread while it holds a lock of ours.
class NoCancel {
 public:
  NoCancel() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancel() { pthread_setcancelstate(before_, nullptr); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  int before_ = 0;
};

/// The RMPP header of a message that a program may send: of data, from its beginning. What the flag alone implies may
/// be 0.
bool sendable(const MadView& mad) {
  return mad.rmpp_version() <= 1 && mad.rmpp_type() <= static_cast<uint8_t>(rmpp::Type::data) &&
         mad.rmpp_segment() <= 1;
}

}  // namespace

PortFile::PortFile() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
PortFile::~PortFile() {
  ::close(event_);
}

int PortFile::add_agent(Session& session, const AgentRequest& request) {
  const NoCancel whole;
  int number = -1;
  {
    const std::lock_guard lock(mutex_);
    if (gone_) return -EIO;
    for (int i = 0; i < UMAD_CA_MAX_AGENTS && number < 0; ++i)
      if (!agents_[i]) number = i;
    if (number < 0) return -ENOMEM;
    agents_[number] = std::make_shared<UserAgent>();
  }
  const std::weak_ptr<PortFile> file = weak_from_this();
  Registration r;
  const bool smi = request.mgmt_class == mad_class::subn_lid || request.mgmt_class == mad_class::subn_directed;
  r.qp = smi ? Qp::smi : Qp::gsi;
  r.rmpp_version = request.own_rmpp ? 0 : request.rmpp_version;
  r.own_rmpp = request.own_rmpp;
  r.message_limit = kMessageLimit;
  r.queue_depth = 4096;
  r.name = "umad, class " + std::to_string(request.mgmt_class);
  r.on_receive = [file, number](const Received& m) {
    if (const auto f = file.lock()) f->received(number, m);
  };
  r.on_send = [file, number](const SendCompletion& c) {
    if (const auto f = file.lock()) f->completed(number, c);
  };
  r.on_port_event = [file](PortEvent e) {
    if (const auto f = file.lock()) f->port_event(e);
  };
  if (request.mgmt_class != 0)
    r.unsolicited = MadFilter{.mgmt_class = request.mgmt_class,
                              .class_version = request.class_version,
                              .methods = request.methods,
                              .oui = request.oui};
  if (request.methods.any())
    if (const Error e = session.ibsim().listen(); e.code != Errc::ok)
      fmt::print(stderr, "tidemill: no unsolicited MADs: {}\n", e.message);
  auto agent = session.port().register_agent(std::move(r));
  const std::lock_guard lock(mutex_);
  if (!agent.ok()) {
    agents_[number].reset();
    return agent.code() == Errc::ids_exhausted ? -ENOMEM : agent.code() == Errc::device_failed ? -EIO : -EINVAL;
  }
  agents_[number]->agent = std::move(agent).value();
  agents_[number]->rmpp = request.rmpp_version == 1 && !request.own_rmpp;
  return number;
}

int PortFile::remove_agent(int number) {
  const NoCancel whole;
  Agent leaving;
  {
    const std::lock_guard lock(mutex_);
    if (number < 0 || number >= UMAD_CA_MAX_AGENTS || !agents_[number] || agents_[number]->leaving ||
        !agents_[number]->agent)
      return -EINVAL;
    agents_[number]->leaving = true;
    leaving = std::move(agents_[number]->agent);
  }
  leaving.deregister();
  const std::lock_guard lock(mutex_);
  agents_[number].reset();
  return 0;
}

void PortFile::remove_all() {
  // Whoever waits for it to be readable sees that it is no more.
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    ::eventfd_write(event_, 1);
  }
  for (int i = 0; i < UMAD_CA_MAX_AGENTS; ++i) remove_agent(i);
}

int PortFile::send(int number, const ib_user_mad& header, std::span<const std::byte> mad, int timeout_ms, int retries) {
  const NoCancel whole;
  if (mad.size() < 36 || retries < 0) return -EINVAL;
  Mad head;
  std::copy_n(mad.begin(), std::min(mad.size(), kMadBytes), head.bytes().begin());
  const MadView view = head.view();
  const bool response = view.is_response(), active = rmpp::is_message(mad);
  auto timeout = std::chrono::milliseconds(static_cast<unsigned>(timeout_ms));
  if (timeout_ms < 0 || timeout > kLongestTimeout) timeout = kLongestTimeout;
  const int tries_left = std::min(retries, static_cast<int>(kMaxRetries));

  std::unique_lock lock(mutex_);
  if (gone_) return -EIO;
  if (number < 0 || number >= UMAD_CA_MAX_AGENTS || !agents_[number] || agents_[number]->leaving ||
      !agents_[number]->agent)
    return -EINVAL;
  const std::shared_ptr<UserAgent> held = agents_[number];  // no other takes its place unseen
  UserAgent& agent = *held;
  const bool message = active && agent.rmpp;
  if (message && (!sendable(view) || mad.size() < rmpp::data_offset(view.mgmt_class()))) return -EINVAL;
  if (!message && mad.size() > kMadBytes) return -EINVAL;
  if (response && !message) timeout = {};  // a response is answered by nothing

  const uint64_t context = agent.next_context++;
  const auto low_tid = static_cast<uint32_t>(view.tid());
  if (!response) head.tid(uint64_t{agent.agent.id()} << 32 | low_tid);
  Outstanding out{.header = header, .mad = head, .due = {}, .name = {}};
  if (!response && timeout.count() != 0) {
    out.name = {view.tid(), view.mgmt_class()};
    if (!agent.live.insert(*out.name).second) return -EINVAL;
  }
  out.due = timeout.count() == 0 ? std::chrono::steady_clock::time_point::max()
                                 : std::chrono::steady_clock::now() + (tries_left + 1) * timeout;

  const auto name = out.name;
  agent.sends.emplace(context, std::move(out));
  SendRequest r{.mad = mad,
                .to = from_umad(header.addr),
                .pace = {.timeout = timeout, .retries = static_cast<unsigned>(tries_left)},
                .context = context};
  if (!response) r.tid = low_tid;
  for (;;) {
    Errc refused = Errc::closing;
    if (!agent.leaving) refused = agent.agent.send(r).code();
    if (refused == Errc::ok) return 0;
    if (refused != Errc::would_block) {
      if (name) agent.live.erase(*name);
      agent.sends.erase(context);
      return refused == Errc::device_failed ? -EIO : -EINVAL;
    }
    // The kernel's queue has no end; ours makes its caller wait. Not under the lock: callbacks make the room.
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    lock.lock();
    if (agents_[number] != held) return -EINVAL;
  }
}

void PortFile::received(int number, const Received& r) {
  Item item{};
  item.header.agent_id = static_cast<uint32_t>(number);
  item.header.addr = to_umad(r.from);
  item.header.addr.qkey = 0;
  item.mad.assign(r.message.begin(), r.message.end());
  const std::lock_guard lock(mutex_);
  if (agents_[number] && agents_[number]->leaving) return;
  if (queue_.size() >= kMostUnread) {
    if (overflowed_++ == 0)
      std::fprintf(stderr, "tidemill: %zu MADs wait unread in a umad port; what arrives more is dropped\n", kMostUnread);
    return;
  }
  push(std::move(item));
}

void PortFile::completed(int number, const SendCompletion& c) {
  const std::lock_guard lock(mutex_);
  UserAgent* const agent = agents_[number].get();
  if (agent == nullptr) return;
  const auto found = agent->sends.find(c.context);
  if (found == agent->sends.end()) return;
  const Outstanding out = found->second;
  agent->sends.erase(found);
  if (out.name) agent->live.erase(*out.name);
  if (c.status == SendStatus::success || agent->leaving) return;
  Item item{.header = out.header, .mad = {}};
  const auto head = out.mad.bytes().first<kMadHeaderBytes>();
  item.mad.assign(head.begin(), head.end());
  item.header.agent_id = static_cast<uint32_t>(number);
  item.header.status = status_of(c);
  push(std::move(item));
}

void PortFile::port_event(PortEvent event) {
  if (event != PortEvent::device_removed) return;
  const std::lock_guard lock(mutex_);
  gone_ = true;
  ::eventfd_write(event_, 1);  // readable from now on
}

void PortFile::push(Item item) {
  item.header.length = static_cast<uint32_t>(sizeof(ib_user_mad) + item.mad.size());
  if (queue_.empty() && !gone_) ::eventfd_write(event_, 1);
  queue_.push_back(std::move(item));
}

int PortFile::receive(std::byte* umad, int* length) {
  const NoCancel whole;
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) return gone_ ? -EIO : -EWOULDBLOCK;
  const Item& item = queue_.front();
  const std::size_t room = *length < 0 ? 0 : static_cast<std::size_t>(*length), size = item.mad.size();
  *length = static_cast<int>(size);
  if (size > room) {
    if (room < std::min<std::size_t>(size, kMadBytes)) return -EINVAL;
    // Too long for the caller: it learns how long, with the first segment, and comes again.
    std::memcpy(umad, &item.header, sizeof item.header);
    std::memcpy(umad + sizeof item.header, item.mad.data(), kMadBytes);
    return -ENOSPC;
  }
  std::memcpy(umad, &item.header, sizeof item.header);
  std::memcpy(umad + sizeof item.header, item.mad.data(), size);
  const int number = static_cast<int>(item.header.agent_id);
  queue_.pop_front();
  if (queue_.empty() && !gone_) {
    eventfd_t count = 0;
    ::eventfd_read(event_, &count);
  }
  return number;
}

bool PortFile::end_is_due() const {
  const std::lock_guard lock(mutex_);
  const auto soon = std::chrono::steady_clock::now();
  for (const auto& agent : agents_)
    if (agent)
      for (const auto& [context, out] : agent->sends)
        if (out.due <= soon) return true;
  return false;
}

}  // namespace tidemill::umad
