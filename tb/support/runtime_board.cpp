// SPDX-License-Identifier: Apache-2.0
/// What the program and its callbacks tell the board; runtime_board_wire.cpp has the wire's side.
#include "runtime_board.hpp"

#include <algorithm>

#include "tidemill/mad.hpp"

namespace tidemill::test {

RuntimeBoard::Counts RuntimeBoard::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void RuntimeBoard::fail(const std::string& what) {
  ++counts_.violations;
  if (options_.report) options_.report(what);
}
void RuntimeBoard::fail(const Send& s, const std::string& what) {
  fail(what + ": send " + std::to_string(s.serial) + " of agent " + std::to_string(s.agent->id) + ", slot " +
       std::to_string(s.id.slot) + " generation " + std::to_string(s.id.generation) + ", class " +
       std::to_string(s.mgmt_class) + ", tries " + std::to_string(s.tries));
}

RuntimeBoard::Agent* RuntimeBoard::agent(Key key) {
  const auto found = agents_.find(key);
  return found == agents_.end() ? nullptr : &found->second;
}

/// The send a callback speaks of.
RuntimeBoard::Send* RuntimeBoard::named(Key key, uint64_t serial, const char* output) {
  const auto found = sends_.find(serial);
  if (found == sends_.end() || found->second.agent->key != key) {
    fail(std::string("I2 nothing for what was not accepted: ") + output + " of a send that never was");
    return nullptr;
  }
  if (found->second.refused) fail(found->second, std::string("I2 nothing for what was refused: ") + output);
  return &found->second;
}

RuntimeBoard::Send* RuntimeBoard::by_id(Key key, SendId id) {
  for (const auto& [serial, s] : live_)
    if (s->agent->key == key && s->known && s->id == id) return s;
  return nullptr;
}

void RuntimeBoard::silence(const Agent& a, const char* what) {
  if (a.gone) fail(std::string("I15 silence after deregistration: ") + what + " for agent " + std::to_string(a.id));
}

// ------------------------------------------------------------------ agents

uint32_t RuntimeBoard::default_window(const Registration& r) const {
  if (r.window) return *r.window;
  if (!r.on_receive) return 0;
  const uint32_t depth = options_.receive_buffers;
  if (!r.unsolicited) return depth / 4;
  switch (r.unsolicited->mgmt_class) {
    case mad_class::com_mgt:
      return depth / 4;
    case mad_class::subn_adm:
      return std::max(depth / 32, 1u);
    case mad_class::subn_lid:
    case mad_class::subn_directed:
      return std::min(depth, 512u) / 4;
    default:
      return 0;
  }
}

bool RuntimeBoard::counts_against_window(const Agent& a, uint8_t c) const {
  return a.rules.window || c == mad_class::com_mgt || c == mad_class::subn_adm || c == mad_class::subn_lid ||
         c == mad_class::subn_directed;
}

RuntimeBoard::Key RuntimeBoard::registering(const Registration& r) {
  const std::lock_guard lock(mutex_);
  const Key key = ++next_key_;
  Agent& a = agents_[key];
  a.key = key;
  a.rules = r;
  a.may_send = r.on_send != nullptr;
  a.may_receive = r.on_receive != nullptr;
  a.window = a.old_window = default_window(r);
  a.rules.on_send = nullptr;
  a.rules.on_receive = nullptr;
  a.rules.on_port_event = nullptr;
  for (auto& queue : a.queues) {
    queue = std::make_unique<Queue>();
    owner_[queue.get()] = &a;
  }
  return key;
}

void RuntimeBoard::registered(Key key, uint32_t id) {
  const std::lock_guard lock(mutex_);
  Agent& a = *agent(key);
  if (id == 0) {
    a.gone = a.refused = true;
    return;
  }
  if (id >= 1u << 24) fail("I20 agent ids have 24 bits: " + std::to_string(id));
  for (const auto& [other, b] : agents_)
    if (other != key && b.id == id && !b.gone) fail("I20 two live agents have the id " + std::to_string(id));
  a.id = id;
  // Each of its two queues may have a turn.
  group(a).weights += 2u * a.rules.weight;
}

void RuntimeBoard::window_changed(Key key, uint16_t window) {
  const std::lock_guard lock(mutex_);
  if (Agent* a = agent(key)) {
    a->old_window = a->window;
    a->window = window;
    a->window_pass = passes_ + 2;
  }
}

void RuntimeBoard::weight_changed(Key key, uint8_t weight) {
  const std::lock_guard lock(mutex_);
  if (Agent* a = agent(key)) group(*a).weights += 2u * weight;
}

void RuntimeBoard::closing(Key key) {
  const std::lock_guard lock(mutex_);
  if (Agent* a = agent(key)) {
    a->closing = true;
    ++a->closers;
    if (callback_depth_ == 0 || callback_thread_ != std::this_thread::get_id())
      a->closing_thread = std::this_thread::get_id();
  }
  ++moment_;
}
void RuntimeBoard::closing_has_begun(Key key) {
  const std::lock_guard lock(mutex_);
  if (Agent* a = agent(key)) a->closing = a->closed_to_posts = true;
  ++moment_;
}

void RuntimeBoard::deregister_result(Key key, Errc result) {
  const bool inside = in_callback();
  const std::lock_guard lock(mutex_);
  if (inside && result == Errc::ok) fail("I18 deregistration in a callback waited for itself, or did not wait");
  // Refused, it closes nothing; another thread's may be on its way all the same.
  if (Agent* a = agent(key); a != nullptr && result == Errc::in_callback && --a->closers == 0 && !a->closed_to_posts)
    a->closing = false;
}

void RuntimeBoard::deregistered(Key key) {
  const std::lock_guard lock(mutex_);
  ++moment_;
  Agent* a = agent(key);
  if (a == nullptr || a->gone) return;
  for (const auto& [serial, s] : live_)
    if (s->agent == a && s->accepted && s->form == Form::callback)
      fail(*s, "I16 deregistration completes: outstanding when it returned");
  a->closing = a->closed_to_posts = a->gone = true;
}

void RuntimeBoard::port_closing() {
  const std::lock_guard lock(mutex_);
  port_closing_ = true;
  for (auto& [key, a] : agents_) a.closing = true;
}

void RuntimeBoard::port_closed() {
  std::vector<Key> open;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, a] : agents_)
      if (!a.gone) open.push_back(key);
  }
  for (const Key key : open) deregistered(key);
}

// ------------------------------------------------------------------ posts

RuntimeBoard::Serial RuntimeBoard::posting(Key key, const SendRequest& r, Form form) {
  const std::lock_guard lock(mutex_);
  const Serial serial = ++next_serial_;
  Send& s = sends_[serial];
  s.serial = serial;
  s.agent = agent(key);
  s.request = r;
  s.request.mad = {};
  s.form = form;
  s.began = ++moment_;
  if (r.mad.size() >= kMadHeaderBytes) {
    const auto byte = [&](std::size_t at) { return static_cast<uint8_t>(r.mad[at]); };
    s.mgmt_class = byte(1);
    std::array<std::byte, kMadBytes> whole{};
    std::copy(r.mad.begin(), r.mad.begin() + static_cast<std::ptrdiff_t>(std::min(r.mad.size(), kMadBytes)),
              whole.begin());
    s.response = MadView(whole).is_response();
  }
  s.counted = !s.response && r.pace.timeout.count() > 0 && counts_against_window(*s.agent, s.mgmt_class);
  // Its place in line is taken now, so that a try that comes before the post returns finds it.
  live_.emplace(serial, &s);
  Queue& queue = *s.agent->queues[s.counted ? 0 : 1];
  queue.waiting.push_back(&s);
  if (!queue.listed) listed_.insert(&queue);
  queue.listed = true;
  s.late = s.agent->closed_to_posts || s.agent->refused;
  return serial;
}

void RuntimeBoard::posted(Serial serial, Errc result, SendId id) {
  const std::lock_guard lock(mutex_);
  Send& s = sends_.at(serial);
  s.returned = ++moment_;
  if (result != Errc::ok) {
    s.refused = true;
    if (s.over || s.responded || s.responding || s.tries != 0)
      fail(s, "I2 none for a refused post: it was sent or called back");
    end(s);
    return;
  }
  ++counts_.accepted;
  s.accepted = s.known = true;
  s.id = id;
  if (s.late) fail(s, "I17 closing is closed: accepted after deregistration had begun");
}

void RuntimeBoard::cancelling(Key key, SendId id) {
  const std::lock_guard lock(mutex_);
  ++moment_;
  if (Send* s = by_id(key, id)) s->cancel_called = true;
}

void RuntimeBoard::cancelled(Key key, SendId id, Errc result) {
  const std::lock_guard lock(mutex_);
  Send* s = by_id(key, id);
  if (s == nullptr || result != Errc::ok || s->responding || s->responded) return;
  s->cancelled = true;
  s->cancel_moment = progress_;
}

void RuntimeBoard::modifying(Key key, SendId id) {
  const std::lock_guard lock(mutex_);
  if (Send* s = by_id(key, id)) s->modified = true;
}

// ------------------------------------------------------------------ callbacks

bool RuntimeBoard::in_callback() const {
  const std::lock_guard lock(mutex_);
  return callback_depth_ != 0 && callback_thread_ == std::this_thread::get_id();
}

void RuntimeBoard::take_arrival(std::span<const std::byte> mad, Qp qp, const char* what) {
  std::string key(reinterpret_cast<const char*>(mad.data()), mad.size());
  key.push_back(static_cast<char>(qp));
  const auto found = arrivals_.find(key);
  if (found == arrivals_.end() || found->second == 0)
    return fail(std::string("I22 exactly once: ") + what +
                " carries a MAD that did not arrive, or was handed over before");
  if (--found->second == 0) arrivals_.erase(found);
}

/// Why this MAD is not the response of this send; null if it is.
const char* RuntimeBoard::mismatch(const Send& s, MadView mad, const Address& from, Qp qp) const {
  if (!mad.is_response()) return "the MAD is no response";
  if (s.response || s.request.pace.timeout.count() == 0) return "the send expects none";
  if (s.tries == 0) return "the send never left";
  if (mad.tid() != s.tid) return "another TID";
  if (mad.mgmt_class() != s.mgmt_class) return "another class";
  if (qp != s.agent->rules.qp) return "another QP";
  if (mad.is_directed_route()) return nullptr;
  const Address& to = s.request.to;
  if (from.grh.has_value() != to.grh.has_value()) return "with a GRH and without";
  if (from.grh && from.grh->gid_index != to.grh->gid_index) return "another GID of ours";
  const uint8_t mask = static_cast<uint8_t>((1u << options_.wire.lmc) - 1u);
  if (!from.grh && ((from.path_bits ^ to.path_bits) & mask) != 0) return "other path bits";
  if (s.agent->rules.match_source && (from.grh ? from.grh->gid != to.grh->gid : from.lid != to.lid))
    return "another responder";
  return nullptr;
}

RuntimeBoard::Agent& RuntimeBoard::callback_begins(Key key, const char* what) {
  ++progress_;
  ++moment_;
  ++callback_depth_;
  callback_thread_ = std::this_thread::get_id();
  Agent& a = *agent(key);
  silence(a, what);
  // The thread that deregisters runs callbacks while it waits: by then its agent is closed to posts. A callback in
  // another thread says nothing: the one that closes may stand between telling the board and telling the runtime.
  if (options_.polled && a.closing && a.closing_thread == callback_thread_) a.closed_to_posts = true;
  return a;
}

uint64_t RuntimeBoard::receive_begins(Key key, const Received& r) {
  const std::lock_guard lock(mutex_);
  const uint64_t before = progress_;
  const Agent& a = callback_begins(key, "receive callback");
  take_arrival(r.mad.bytes(), r.qp, "a receive callback");
  if (!r.matched) {
    ++counts_.unsolicited;
    const auto& f = a.rules.unsolicited;
    const bool owner = f && f->mgmt_class == r.mad.mgmt_class() && f->class_version == r.mad.class_version() &&
                       r.mad.method() < 128 && f->methods.test(r.mad.method()) &&
                       (!r.mad.is_vendor2() || f->oui == r.mad.oui());
    if (!owner || r.mad.is_response() || r.qp != a.rules.qp)
      fail("I22 one owner: agent " + std::to_string(a.id) + " got an unsolicited MAD it did not ask for");
    return r.context;
  }
  ++counts_.responded;
  Send* s = named(key, r.context, "a response");
  if (s == nullptr) return r.context;
  if (s->over) fail(*s, "I5 no response after completion");
  if (s->responded || s->responding) fail(*s, "I4 at most one response");
  if (s->known && s->id != *r.matched) fail(*s, "I9 match implies all fields: another send is named");
  if (const char* why = mismatch(*s, r.mad, r.from, r.qp)) fail(*s, std::string("I9 match implies all fields: ") + why);
  if (s->cancelled && s->cancel_moment != before) fail(*s, "I6 cancelled never matches: received after its cancel");
  // The callback had been chosen when cancel() came, and the cancel is void.
  s->cancelled = false;
  s->responding = true;
  return s->request.context;
}

void RuntimeBoard::receive_ends(Serial serial) {
  const std::lock_guard lock(mutex_);
  ++progress_;
  --callback_depth_;
  if (const auto s = sends_.find(serial); s != sends_.end() && s->second.responding) {
    s->second.responding = false;
    s->second.responded = true;
  }
}

void RuntimeBoard::event_begins(Key key, PortEvent event) {
  const std::lock_guard lock(mutex_);
  if (event == PortEvent::device_removed && !removed_) removed_ = device_failed_ = true;
  callback_begins(key, "port event");
}

void RuntimeBoard::callback_ends() {
  const std::lock_guard lock(mutex_);
  ++progress_;
  --callback_depth_;
}

uint64_t RuntimeBoard::completion_begins(Key key, const SendCompletion& c) {
  const std::lock_guard lock(mutex_);
  Agent& a = callback_begins(key, "completion");
  Send* s = named(key, c.context, "a completion");
  if (s == nullptr) return c.context;
  if (s->over && !s->refused) {
    fail(*s, "I1 exactly one completion: another one");
    return s->request.context;
  }
  if (s->refused) return s->request.context;
  if (s->known && s->id != c.id) fail(*s, "I1 exactly one completion: it names another send");
  s->id = c.id;
  judge(*s, c);
  // Flushed by its deregistration: that has begun.
  if (a.closing && c.status == SendStatus::flushed && !s->cancel_called && !s->flushed_for_good && !removed_)
    a.closed_to_posts = true;
  end(*s);
  return s->request.context;
}

uint64_t RuntimeBoard::call_ended(Key key, Serial serial, const SendCompletion& c) {
  const std::lock_guard lock(mutex_);
  ++moment_;
  Send* s = named(key, serial, "the end of a call");
  if (s == nullptr || s->refused) return c.context;
  if (s->over) fail(*s, "I1 exactly one completion: a call ended twice");
  s->accepted = true;
  judge(*s, c);
  end(*s);
  return s->request.context;
}

/// A call that gave no response: refused, or ended in a way it does not tell in full.
void RuntimeBoard::call_failed(Serial serial) {
  const std::lock_guard lock(mutex_);
  ++moment_;
  Send& s = sends_.at(serial);
  if (s.on_wire) fail(s, "I23 queue conservation: ended while the wire has a try of it");
  end(s);
}

void RuntimeBoard::judge(const Send& s, const SendCompletion& c) {
  const std::string ends = "ends as " + std::string(describe(c.status));
  const bool expects = s.request.pace.timeout.count() > 0, called_back = s.form == Form::callback;
  const uint32_t tries = s.tries - s.resends;
  if (!device_failed_ && c.tries != tries && !(s.last == WireStatus::flushed && c.tries == tries + 1))
    fail(s, "I13 number of tries: the completion says " + std::to_string(c.tries) + ", the wire saw " +
                std::to_string(tries));
  if (s.on_wire && !device_failed_) fail(s, "I23 queue conservation: completed while the wire has a try of it");
  if (s.responding) fail(s, "I3 response before completion: its receive callback has not returned");
  const bool failed = s.last == WireStatus::error;
  const bool flush_asked = s.cancel_called || s.agent->closing || removed_ || s.flushed_for_good;
  if (s.cancelled && c.status != SendStatus::flushed) fail(s, "I6 cancelled never matches: cancelled, " + ends);
  if (s.responded && c.status != SendStatus::success && !(failed && c.status == SendStatus::error))
    fail(s, "I7 cancel loses cleanly: answered, " + ends);
  if (failed && c.status != SendStatus::error && !flush_asked)
    fail(s, "I31 error isolation: the wire failed it, " + ends);
  switch (c.status) {
    case SendStatus::success:
      if (expects && called_back && s.agent->may_receive && !s.responded)
        fail(s, "I3 response before completion: success without a response");
      if (!expects && s.last != WireStatus::sent) fail(s, "I1 exactly one completion: success before the wire said so");
      break;
    case SendStatus::timeout:
      judge_timeout(s);
      break;
    case SendStatus::deadline:
      if (s.request.pace.deadline.count() == 0)
        fail(s, "ends by a deadline it does not have");
      else if (c.elapsed < s.request.pace.deadline)
        fail(s, "I12 never early: its deadline had not passed");
      break;
    case SendStatus::flushed:
      if (!flush_asked) fail(s, "I16 flushed, and nobody asked for it");
      break;
    case SendStatus::error:
      if (!failed)
        fail(s, "I31 error isolation: the wire did not fail it");
      else if (c.vendor != s.vendor)
        fail(s, "I31 error isolation: another vendor code");
      break;
    case SendStatus::duplicate:
      if (s.tries != 0 || !s.request.tid) fail(s, "a duplicate of no live send");
      break;
  }
}

void RuntimeBoard::judge_timeout(const Send& s) {
  const uint32_t tries = s.tries - s.resends;
  if (s.request.pace.timeout.count() == 0) return fail(s, "I13 number of tries: timed out without a timeout");
  if (tries != s.request.pace.retries + 1)
    fail(s, "I13 number of tries: timed out after " + std::to_string(tries) + " of " +
                std::to_string(s.request.pace.retries + 1));
  if (s.last != WireStatus::sent) fail(s, "I11 no timer before the wire: timed out while no try had left");
  if (!s.modified && options_.clock && now() - s.reported < wait_of_try(s))
    fail(s, "I12 never early: timed out before its time");
  if (s.must_match && s.form == Form::callback)
    fail(s, "I10 completeness of matching: answered, and timed out all the same");
}

void RuntimeBoard::end(Send& s) {
  if (!s.refused) ++counts_.completed;
  if (s.tries == 0) leave_queue(s);
  s.over = true;
  live_.erase(s.serial);
}

void RuntimeBoard::finish() {
  const std::lock_guard lock(mutex_);
  for (const auto& [serial, s] : live_)
    if (s->accepted) fail(*s, "I1 exactly one completion: none came");
  if (callback_depth_ != 0) fail("a callback never returned");
}

}  // namespace tidemill::test
