// SPDX-License-Identifier: Apache-2.0
/// Random programs on the public API, judged by the board and by the counts every program must end with: each accepted
/// send completes once, statistics agree, nothing is left. A failure shrinks and prints a program that can be given to
/// `run()` as it stands; RC_PARAMS="reproduce=..." (printed too) runs it again, RC_PARAMS="seed=N max_success=N"
/// others.
#include <rapidcheck.h>

#include <array>
#include <iostream>
#include <sstream>

#include "fixture.hpp"
#include "program.hpp"

namespace rc {
template <>
struct Arbitrary<tidemill::test::Step> {
  static Gen<tidemill::test::Step> arbitrary() {
    using tidemill::test::Step;
    const auto kind = gen::weightedElement<Step::Kind>({{4, Step::register_agent},
                                                        {20, Step::send},
                                                        {4, Step::batch},
                                                        {6, Step::cancel},
                                                        {4, Step::modify},
                                                        {2, Step::deregister},
                                                        {2, Step::deregister_async},
                                                        {1, Step::drop_handle},
                                                        {14, Step::poll},
                                                        {8, Step::pass_time},
                                                        {12, Step::answer},
                                                        {10, Step::report},
                                                        {6, Step::unsolicited},
                                                        {2, Step::wire_event},
                                                        {2, Step::set_window},
                                                        {2, Step::set_weight},
                                                        {3, Step::faults}});
    return gen::build<Step>(gen::set(&Step::kind, kind), gen::set(&Step::who), gen::set(&Step::what),
                            gen::set(&Step::how));
  }
};
template <>
struct Arbitrary<tidemill::test::Program> {
  static Gen<tidemill::test::Program> arbitrary() {
    using tidemill::test::Program;
    return gen::build<Program>(gen::set(&Program::fabric),
                               gen::set(&Program::seed, gen::inRange<uint32_t>(1, 1'000'000)),
                               gen::set(&Program::steps));
  }
};
}  // namespace rc

namespace tidemill::test {
namespace {

constexpr int kPrograms = 600;
constexpr std::chrono::seconds kBudget =
    1s;  ///< For each property and device; the programs that do not fit are left out.

/// One program's world: device, port, board, agents. What it finds is in `findings`.
class World {
 public:
  World(const DeviceParam& device, const Program& program) : program_(program) {
    auto opened = Device::open(device.uri, {.progress = Progress::poll, .clock = clock_});
    if (!opened.ok()) {
      note("open: " + opened.error().message);
      return;
    }
    device_.emplace(std::move(opened).value());
    std::unique_ptr<Wire> wire;
    if (program.fabric) {
      fabric_.emplace(
          SimulatedFabric::create(
              {.nodes = 4, .seed = program.seed, .faults = {.loss = 0.05, .duplication = 0.05}, .clock = clock_})
              .value());
      wire = fabric_->attach(0).value();
    } else {
      script_->attributes.send_depth = {8, 8};
      script_->auto_sent = program.seed % 2 == 0;
      wire = std::make_unique<ScriptedWire>(script_);
    }
    board_ =
        std::make_shared<RuntimeBoard>(RuntimeBoard::Options{.report = [this](const std::string& what) { note(what); },
                                                             .clock = clock_,
                                                             .wire = wire->attributes(),
                                                             .receive_buffers = 16,
                                                             .slots = device_->info().slots,
                                                             .decided_ahead = device_->info().kind == "soft" ? 0u : 64u,
                                                             .polled = true});
    auto port = device_->open_port(1, std::make_unique<WatchedWire>(board_, std::move(wire)), {.receive_buffers = 16});
    if (!port.ok()) {
      note("open_port: " + port.error().message);
      return;
    }
    port_ = Port(board_, std::move(port).value());
  }

  std::vector<std::string> run() {
    if (!findings_.empty()) return findings_;
    for (const Step& s : program_.steps) step(s);
    finish();
    return findings_;
  }

 private:
  struct Client {
    Agent agent;
    std::vector<SendId> ids;
    uint64_t accepted = 0, completed = 0, reposts = 0;
    bool over = false;
  };

  void note(std::string what) { findings_.push_back(std::move(what)); }

  Client* client(uint8_t who) { return clients_.empty() ? nullptr : clients_[who % clients_.size()].get(); }

  void add_client(const Step& s) {
    if (clients_.size() >= 12) return;
    auto owned = std::make_unique<Client>();
    Client* const c = owned.get();
    Registration r;
    r.weight = static_cast<uint8_t>(1 + s.what % 5);
    r.service_class = static_cast<uint8_t>(s.how % 3);
    r.queue_depth = 8u << (s.how >> 2) % 3;
    if ((s.how & 16) != 0) r.window = static_cast<uint16_t>(s.what % 4);
    r.match_source = (s.how & 32) != 0;
    if ((s.how & 64) != 0) {
      r.unsolicited = MadFilter::get_and_set(0x30, 1);
      r.unsolicited->oui = kEchoOui + s.what % 3;
    }
    const bool reposts = (s.how & 128) != 0, cancels = (s.how & 256) != 0, leaves = (s.how & 0x600) == 0x600;
    r.on_send = [this, c, reposts](const SendCompletion&) {
      ++c->completed;
      if (reposts && c->reposts < 20 && c->agent) {
        ++c->reposts;
        post(*c, {Step::send, 0, 3, 0x12});
      }
    };
    r.on_receive = [this, c, cancels, leaves](const Received& m) {
      if (!c->agent) return;
      if (!m.matched && !m.mad.is_response()) {
        const Mad answer = make_response(m.mad);
        const SendRequest reply{.mad = answer.bytes(), .to = m.from, .pace = {}, .tid = {}, .context = 0};
        c->accepted += c->agent.send(reply).ok();
      }
      if (cancels && !c->ids.empty()) (void)c->agent.cancel(c->ids.back());
      if (leaves) {
        if (c->agent.deregister() != Errc::in_callback && !c->over) note("deregister() in a callback was not refused");
        c->over |= c->agent.deregister_async([] {}) == Errc::ok;
      }
    };
    r.on_port_event = [](PortEvent) {};
    auto agent = port_.register_agent(std::move(r));
    if (!agent.ok()) {
      if (agent.code() != Errc::method_taken) note("register_agent: " + agent.error().message);
      return;
    }
    c->agent = std::move(agent).value();
    clients_.push_back(std::move(owned));
  }

  /// bits of how: 0-2 kind of request, 3-4 retries, 5 back-off, 6 deadline, 7 lower half given.
  SendRequest make(const Step& s, Mad& mad) const {
    static constexpr std::array<uint8_t, 4> kClasses{0x30, 0x03, 0x04, 0x06};
    const uint8_t mgmt_class = program_.fabric ? uint8_t{0x30} : kClasses[s.how & 3];
    mad = Mad::make(mgmt_class, 1, (s.how & 7) == 7 ? mad_method::get_resp : mad_method::get, 0x10);
    if (mad.view().is_vendor2()) mad.oui(kEchoOui);
    mad.tid(uint64_t{0x5000} << 32 | s.what);
    SendRequest r{.mad = mad.bytes(), .to = {}, .pace = {}, .tid = {}, .context = 0};
    r.to.lid = program_.fabric ? fabric_->lid(1 + s.what % 3) : static_cast<uint16_t>(7 + s.what % 2);
    if ((s.how & 7) < 6) r.pace.timeout = std::chrono::microseconds(50 << s.what % 8);
    r.pace.retries = (s.how >> 3) & 3;
    if ((s.how & 32) != 0) r.pace.backoff_cap = 2ms;
    if ((s.how & 64) != 0) r.pace.deadline = std::chrono::microseconds(100 << s.what % 8);
    if ((s.how & 128) != 0) r.tid = s.what % 8;
    return r;
  }
  void post(Client& c, const Step& s) {
    Mad mad;
    const SendRequest r = make(s, mad);
    const auto id = c.agent.send(r);
    if (!id.ok()) return;
    ++c.accepted;
    c.ids.push_back(id.value());
  }

  void step(const Step& s) {
    Client* const c = client(s.who);
    switch (s.kind) {
      case Step::register_agent:
        add_client(s);
        break;
      case Step::poll:
        poll(1 + s.what % 8);
        break;
      case Step::pass_time:
        clock_->advance_to(clock_->now() + std::chrono::microseconds(1 << s.what % 12));
        break;
      case Step::answer:
        answer(s);
        break;
      case Step::report:
        report(s);
        break;
      case Step::unsolicited:
        arrive(s);
        break;
      case Step::wire_event:
        wire_event(s);
        break;
      case Step::faults:
        faults(s);
        break;
      case Step::remove_device:
        fabric_ ? fabric_->remove(0) : script_->event(PortEvent::device_removed);
        break;
      default:
        if (c != nullptr && c->agent) act(*c, s);
        break;
    }
  }
  void act(Client& c, const Step& s) {
    switch (s.kind) {
      case Step::send:
        post(c, s);
        break;
      case Step::batch: {
        std::array<Mad, 5> mads;
        std::array<SendId, 5> ids;
        std::vector<SendRequest> requests;
        for (unsigned i = 0; i < 1u + s.what % 5u; ++i) {
          Step one = s;
          one.what = static_cast<uint8_t>(s.what + i);
          requests.push_back(make(one, mads[i]));
        }
        const BatchResult done = c.agent.send(requests, ids);
        c.accepted += done.accepted;
        c.ids.insert(c.ids.end(), ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(done.accepted));
        break;
      }
      case Step::cancel:
        if (!c.ids.empty())
          (void)c.agent.cancel(c.ids[c.ids.size() - 1 - s.what % std::min<std::size_t>(c.ids.size(), 16)]);
        break;
      case Step::modify:
        if (!c.ids.empty())
          (void)c.agent.modify(c.ids[c.ids.size() - 1 - s.what % std::min<std::size_t>(c.ids.size(), 16)],
                               std::chrono::microseconds((s.how % 64) * 100));
        break;
      case Step::deregister:
        if (c.agent.deregister() == Errc::ok) c.over = true;
        if (c.over && c.accepted != c.completed)
          note("deregistered with " + std::to_string(c.accepted - c.completed) + " sends not completed");
        break;
      case Step::deregister_async:
        c.over |= c.agent.deregister_async([] {}) == Errc::ok;
        break;
      case Step::drop_handle: {
        const Agent dropped = std::move(c.agent);
        c.agent = Agent();
        c.over = true;
        break;
      }
      case Step::set_window:
        (void)c.agent.set_window(s.what % 5);
        break;
      case Step::set_weight:
        (void)c.agent.set_weight(static_cast<uint8_t>(1 + s.what % 7));
        break;
      default:
        break;
    }
  }

  void poll(unsigned times) {
    for (unsigned i = 0; i < times; ++i)
      if (device_->poll(4) == 0 && i > 1) board_->idle();
    for (const Transmitted& t : script_->take_transmitted()) {
      tries_.push_back(t);
      if (!script_->auto_sent) unreported_.push_back(t);
    }
  }
  void answer(const Step& s) {
    if (tries_.empty()) return;
    const Transmitted& t = tries_[tries_.size() - 1 - s.what % std::min<std::size_t>(tries_.size(), 16)];
    Mad response = make_response(t.mad.view());
    Address from = t.to;
    switch (s.how % 12) {
      case 0:
        response.tid(response.view().tid() + 1);
        break;
      case 1:
        response.tid(response.view().tid() ^ uint64_t{1} << 40);
        break;
      case 2:
        response.put8(1, 0x04);
        break;
      case 3:
        from.lid += 1;
        break;
      case 4:
        from.grh.emplace();
        break;
      case 5:
        script_->arrive(response, from, t.qp);
        break;
      case 6:
        script_->arrive(response, from, Qp::smi);
        break;
      default:
        break;
    }
    script_->arrive(response, from, t.qp);
  }
  void report(const Step& s) {
    if (unreported_.empty()) return;
    const auto which = unreported_.begin() + s.what % static_cast<std::ptrdiff_t>(unreported_.size());
    const uint64_t token = which->token;
    unreported_.erase(which);
    switch (s.how % 16) {
      case 0:
        script_->report(token, WireStatus::error, static_cast<uint8_t>(s.how >> 8));
        break;
      case 1:
        script_->report(token, WireStatus::flushed, 0, static_cast<uint8_t>(1 + recovery_++ % 255));
        break;
      case 2:
        script_->report(token, WireStatus::flushed);
        break;
      default:
        script_->report(token, WireStatus::sent);
        break;
    }
  }
  void arrive(const Step& s) {
    Mad m = Mad::make((s.how & 8) != 0 ? 0x31 : 0x30, 1, static_cast<uint8_t>(1 + s.how % 4), 0x10);
    m.oui(kEchoOui + s.what % 4).tid(++arrived_);
    Address from;
    from.lid = 9;
    script_->arrive(m, from);
  }
  void wire_event(const Step& s) {
    static constexpr std::array kEvents{PortEvent::wire_lost, PortEvent::wire_back, PortEvent::address_changed};
    script_->event(kEvents[s.what % kEvents.size()]);
  }
  void faults(const Step& s) {
    if (!fabric_) return;
    if (s.what % 5 == 0) return fabric_->set_link(0, (s.how & 1) != 0);
    const auto rate = [&](unsigned bit) { return (s.how >> bit & 3) * 0.05; };
    fabric_->set_faults({.loss = rate(0),
                         .duplication = rate(2),
                         .reordering = rate(4),
                         .corruption = rate(6),
                         .stale = rate(8),
                         .forged = rate(10),
                         .send_error = rate(12) / 4,
                         .flush = rate(14) / 4});
  }

  void finish() {
    if (fabric_) fabric_->set_link(0, true);
    script_->auto_sent = true;
    for (const Transmitted& t : unreported_) script_->report(t.token, WireStatus::sent);
    unreported_.clear();
    for (int i = 0; i < 4; ++i) {
      poll(2);
      for (const Transmitted& t : unreported_) script_->report(t.token, WireStatus::sent);
      unreported_.clear();
    }
    for (const auto& c : clients_) {
      if (!c->agent || c->over) continue;
      if (const Errc code = c->agent.deregister(); code != Errc::ok)
        note("the last deregister(): " + std::string(describe(code)));
      const AgentStats stats = c->agent.stats();
      if (stats.accepted != c->accepted || stats.completed_total() != c->completed || stats.outstanding != 0)
        note("statistics: accepted " + std::to_string(stats.accepted) + " of " + std::to_string(c->accepted) +
             ", completed " + std::to_string(stats.completed_total()) + " of " + std::to_string(c->completed));
    }
    port_ = Port();
    for (const auto& c : clients_)
      if (c->accepted != c->completed)
        note("accepted " + std::to_string(c->accepted) + ", completed " + std::to_string(c->completed));
    const RuntimeBoard::Counts counts = board_->counts();
    if (counts.accepted != counts.completed)
      note("the board saw " + std::to_string(counts.accepted) + " accepted, " + std::to_string(counts.completed) +
           " completed");
    device_.reset();
    board_->finish();
  }

  const Program& program_;
  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  std::shared_ptr<WireScript> script_ = std::make_shared<WireScript>();
  std::optional<SimulatedFabric> fabric_;
  std::optional<Device> device_;
  std::shared_ptr<RuntimeBoard> board_;
  Port port_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Transmitted> tries_, unreported_;
  unsigned recovery_ = 0;
  uint32_t arrived_ = 0;
  std::vector<std::string> findings_;
};

std::vector<std::string> run(const DeviceParam& device, const Program& program) {
  return World(device, program).run();
}

class Programs : public ::testing::TestWithParam<DeviceParam> {
 protected:
  void SetUp() override {
    if (!GetParam().uri.starts_with("soft:"))
      GTEST_SKIP() << "programs that close a silent wire wait for two seconds of simulated time each";
  }
  /// `change` makes of a random program one of a kind.
  template <class Change>
  void check(const char* name, Change&& change) {
    // RC_PARAMS asks for certain programs: then time is no matter, and every one of them runs.
    const bool replays = std::getenv("RC_PARAMS") != nullptr;
    auto end = std::chrono::steady_clock::now() + (replays ? std::chrono::seconds(1h) : kBudget);
    bool failed = false;
    int ran = 0;
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    if (!replays) params.maxSuccess = kPrograms;
    params.maxSize = 150;
    std::cout << "seed " << params.seed << ": RC_PARAMS=\"seed=" << params.seed << "\" runs these programs again\n";
    const rc::detail::TestMetadata metadata{.id = name, .description = name};
    const auto result = rc::detail::checkTestable(
        [&](Program program) {
          if (std::chrono::steady_clock::now() > end) return;
          ++ran;
          change(program);
          const auto findings = run(GetParam(), program);
          if (findings.empty()) return;
          if (!std::exchange(failed, true)) {
            std::cout << "found: " << findings.front() << "\nin " << ::testing::PrintToString(program) << std::endl;
            end = std::chrono::steady_clock::now() + 20s;  // to shrink it
          }
          RC_FAIL(findings.front() + "\nprogram: " + ::testing::PrintToString(program));
        },
        metadata, params);
    std::ostringstream words;
    rc::detail::printResultMessage(result, words);
    EXPECT_TRUE(result.template is<rc::detail::SuccessResult>()) << words.str();
    std::cout << ran << " programs ran\n";
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Programs, ::testing::ValuesIn(devices(Progress::poll)));

TEST_P(Programs, KeepEveryPromiseOnAScriptedWire) {
  check("scripted", [](Program& p) { p.fabric = false; });
}
TEST_P(Programs, KeepEveryPromiseOnALossyFabric) {
  check("fabric", [](Program& p) { p.fabric = true; });
}
TEST_P(Programs, KeepEveryPromiseWhenTheDeviceIsRemoved) {
  check("removal", [](Program& p) {
    p.steps.insert(p.steps.begin() + static_cast<std::ptrdiff_t>(p.steps.size() * 2 / 3),
                   {Step::remove_device, 0, 0, 0});
  });
}

}  // namespace
}  // namespace tidemill::test
