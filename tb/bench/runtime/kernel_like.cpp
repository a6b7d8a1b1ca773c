// SPDX-License-Identifier: Apache-2.0
#include "kernel_like.hpp"

#include <cstring>

namespace tidemill::bench {
namespace {

constexpr uint64_t kAgent = 1;

int64_t clock_now() {
  return SteadyClock().now().count();
}

}  // namespace

KernelLike::KernelLike(std::unique_ptr<Wire> wire, uint32_t sends, SendHandler on_send, ReceiveHandler on_receive)
    : wire_(std::move(wire)),
      depth_(wire_->attributes().send_depth[1]),
      on_send_(std::move(on_send)),
      on_receive_(std::move(on_receive)),
      sends_(std::make_unique<Send[]>(sends)),
      now_(clock_now()) {
  for (uint32_t i = 0; i < sends; ++i) free_.append(&sends_[i]);
}

bool KernelLike::send(const SendRequest& request) {
  const std::lock_guard lock(mutex_);
  Send* const s = free_.first();
  if (s == nullptr) return false;
  List::remove(s);
  std::memcpy(s->mad.data(), request.mad.data(), request.mad.size());
  s->tid = kAgent << 32 | next_tid_++;
  const uint64_t wire_tid = __builtin_bswap64(s->tid);
  std::memcpy(s->mad.data() + 8, &wire_tid, sizeof wire_tid);
  s->mgmt_class = static_cast<uint8_t>(s->mad[1]);
  s->tries = 0;
  s->retries = request.pace.retries;
  s->timeout = request.pace.timeout.count();
  s->posted = now_;
  s->context = request.context;
  s->to = request.to;
  queue(s);
  return true;
}

void KernelLike::queue(Send* s) {
  if (wire_count_ < depth_)
    transmit(s);
  else
    overflow_.append(s);
}

void KernelLike::transmit(Send* s) {
  ++wire_count_;
  ++s->tries;
  on_wire_.append(s);
  wire_->transmit({reinterpret_cast<uint64_t>(s), Qp::gsi, s->to, s->mad});
}

/// Sorted by deadline; the place is looked for from the tail on.
void KernelLike::wait(Send* s) {
  s->due = now_ + s->timeout;
  Send* before = waiting_.last();
  while (before != nullptr && before->due > s->due) before = waiting_.before(before);
  waiting_.insert(s, before);
}

void KernelLike::sent(uint64_t token, WireStatus status, uint8_t, uint8_t) {
  auto* const s = reinterpret_cast<Send*>(token);
  bool failed = false;
  {
    const std::lock_guard lock(mutex_);
    List::remove(s);
    --wire_count_;
    if (Send* const next = overflow_.first(); next != nullptr) {
      List::remove(next);
      transmit(next);
    }
    failed = status != WireStatus::sent;
    if (!failed) wait(s);
  }
  if (failed) complete(s, SendStatus::error);
}

KernelLike::Send* KernelLike::find(MadView response) {
  const uint64_t tid = response.tid();
  const uint8_t mgmt_class = response.mgmt_class();
  for (List* list : {&waiting_, &on_wire_})
    for (Send* s = list->first(); s != nullptr; s = list->after(s))
      if (s->tid == tid && s->mgmt_class == mgmt_class) return s;
  return nullptr;
}

bool KernelLike::received(const WireReceived& mad) {
  const MadView view(mad.mad.first<kMadBytes>());
  Send* s = nullptr;
  {
    const std::lock_guard lock(mutex_);
    s = find(view);
    if (s == nullptr) return true;
    List::remove(s);
  }
  Received r{.mad = view, .from = mad.from, .qp = mad.qp, .port = 1};
  r.context = s->context;
  on_receive_(r);
  complete(s, SendStatus::success);
  return true;
}

/// The send is in no list.
void KernelLike::complete(Send* s, SendStatus status) {
  const SendCompletion done{.id = {},
                            .status = status,
                            .tries = s->tries,
                            .elapsed = Nanoseconds(now_ - s->posted),
                            .context = s->context,
                            .vendor = 0};
  {
    const std::lock_guard lock(mutex_);
    free_.insert(s, nullptr);
  }
  on_send_(done);
}

void KernelLike::poll() {
  {
    const std::lock_guard lock(mutex_);
    now_ = clock_now();
  }
  wire_->poll(*this);
  expire();
}

void KernelLike::expire() {
  for (;;) {
    Send* s = nullptr;
    {
      const std::lock_guard lock(mutex_);
      s = waiting_.first();
      if (s == nullptr || s->due > now_) return;
      List::remove(s);
      if (s->retries != 0) {
        --s->retries;
        queue(s);
        continue;
      }
    }
    complete(s, SendStatus::timeout);
  }
}

}  // namespace tidemill::bench
