// SPDX-License-Identifier: Apache-2.0
/// Random registrations and deregistrations against a model of who owns what; afterwards every unsolicited MAD of the
/// pool must reach the owner the model names, or nobody. A run ends with the time it has; RC_PARAMS replays one.
#include <rapidcheck.h>

#include <iostream>
#include <map>
#include <set>

#include "fixture.hpp"

namespace tidemill::test {
namespace {

constexpr uint8_t kClasses[] = {0x00, 0x01, 0x03, 0x04, 0x06, 0x09, 0x30, 0x31, 0x4f, 0x50, 0x80, 0x81, 0xff};
constexpr uint8_t kVersions[] = {1, 2, 0x82, 0x83, 0xff};
constexpr unsigned kMethods[] = {1, 2, 3, 0x7f};
constexpr unsigned kOuis = 11;  // one of them 0, nine of the rest are one too many

struct Step {
  bool leave = false;
  unsigned who = 0;  ///< Of a leave: which of those that are there.
  Qp qp = Qp::gsi;
  bool unsolicited = true, handler = true;
  uint8_t mgmt_class = 0, version = 1, methods = 0, rmpp_version = 0;
  uint32_t oui = 0;
};
void showValue(const Step& s, std::ostream& out) {
  if (s.leave) {
    out << "leave " << s.who;
    return;
  }
  out << "register qp " << static_cast<int>(s.qp) << (s.unsolicited ? "" : " without filter")
      << (s.handler ? "" : " without handler") << " class " << int{s.mgmt_class} << " version " << int{s.version}
      << " methods " << int{s.methods} << " oui " << s.oui << " rmpp " << int{s.rmpp_version};
}

rc::Gen<Step> any_step() {
  using namespace rc;
  // Mostly what is right, so that the tables fill.
  return gen::exec([] {
    Step s;
    s.leave = *gen::weightedElement<bool>({{4, false}, {1, true}});
    s.who = *gen::inRange(0u, 64u);
    s.qp = *gen::weightedElement<Qp>({{4, Qp::gsi}, {1, Qp::smi}});
    s.unsolicited = *gen::weightedElement<bool>({{9, true}, {1, false}});
    s.handler = *gen::weightedElement<bool>({{19, true}, {1, false}});
    s.mgmt_class = *gen::elementOf(std::vector<uint8_t>(std::begin(kClasses), std::end(kClasses)));
    s.version = kVersions[*gen::weightedElement<unsigned>({{8, 0}, {8, 1}, {4, 2}, {1, 3}, {1, 4}})];
    s.methods = *gen::inRange<uint8_t>(0, 16);
    s.oui = *gen::inRange(0u, kOuis);
    s.rmpp_version = *gen::weightedElement<uint8_t>({{12, 0}, {6, 1}, {1, 2}});
    return s;
  });
}

/// What the architecture and the kernel's checks say, in their order.
class Model {
 public:
  Errc registering(unsigned agent, const Step& s) {
    if (s.rmpp_version > 1) return Errc::bad_rmpp_version;
    if (!s.unsolicited) return Errc::ok;
    if (s.version >= 0x83) return Errc::bad_class_version;
    if (!s.handler) return Errc::no_receive_handler;
    if (s.mgmt_class == 0 || (s.mgmt_class >= 0x50 && s.mgmt_class != 0x81)) return Errc::bad_class;
    const bool vendor2 = s.mgmt_class >= 0x30 && s.mgmt_class < 0x50;
    if (vendor2 && s.oui == 0) return Errc::bad_oui;
    if (s.rmpp_version == 1 && !vendor2 && s.mgmt_class != 0x03 && s.mgmt_class != 0x06) return Errc::class_without_rmpp;
    if ((s.qp == Qp::smi) != (s.mgmt_class == 0x01 || s.mgmt_class == 0x81)) return Errc::class_not_on_qp;
    const Row row{s.version, s.mgmt_class, vendor2 ? s.oui : 0};
    std::set<uint32_t> ouis;
    for (const auto& [place, owner] : owners_) {
      if (place.first.version == row.version && place.first.mgmt_class == row.mgmt_class) ouis.insert(place.first.oui);
      if (place.first == row && (s.methods >> place.second & 1) != 0) return Errc::method_taken;
    }
    if (s.methods != 0 && vendor2 && !ouis.contains(row.oui) && ouis.size() == 8) return Errc::too_many_ouis;
    for (unsigned m = 0; m < std::size(kMethods); ++m)
      if ((s.methods >> m & 1) != 0) owners_[{row, m}] = agent;
    return Errc::ok;
  }
  void leaving(unsigned agent) {
    std::erase_if(owners_, [&](const auto& entry) { return entry.second == agent; });
  }
  std::optional<unsigned> owner(uint8_t version, uint8_t mgmt_class, uint32_t oui, unsigned method) const {
    const auto found = owners_.find({{version, mgmt_class, oui}, method});
    return found == owners_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  struct Row {
    uint8_t version, mgmt_class;
    uint32_t oui;
    auto operator<=>(const Row&) const = default;
  };
  std::map<std::pair<Row, unsigned>, unsigned> owners_;
};

class Registrations : public Conformance {
 protected:
  void play(const std::vector<Step>& steps) {
    Model model;
    std::map<unsigned, Agent> agents;
    std::map<unsigned, Log> logs;
    for (unsigned i = 0; i < steps.size(); ++i) {
      const Step& s = steps[i];
      if (s.leave) {
        if (agents.empty()) continue;
        const auto who = std::next(agents.begin(), s.who % agents.size());
        RC_ASSERT(who->second.deregister() == Errc::ok);
        model.leaving(who->first);
        agents.erase(who);
        continue;
      }
      Registration r = logs[i].registration();
      r.qp = s.qp;
      r.rmpp_version = s.rmpp_version;
      if (!s.handler) r.on_receive = nullptr;
      if (s.unsolicited) {
        r.unsolicited = MadFilter{.mgmt_class = s.mgmt_class, .class_version = s.version, .methods = {}, .oui = s.oui};
        for (unsigned m = 0; m < std::size(kMethods); ++m) r.unsolicited->methods[kMethods[m]] = (s.methods >> m & 1) != 0;
      }
      auto agent = port_.register_agent(std::move(r));
      RC_ASSERT(agent.code() == model.registering(i, s));
      if (agent.ok()) agents.emplace(i, std::move(agent).value());
    }
    probe(model, logs);
  }

 private:
  void probe(const Model& model, const std::map<unsigned, Log>& logs) {
    for (const uint8_t c : kClasses)
      for (const uint8_t version : {uint8_t{1}, uint8_t{2}, uint8_t{0x82}, uint8_t{0x83}})
        for (uint32_t oui = 0; oui < (c >= 0x30 && c < 0x50 ? kOuis : 1u); ++oui)
          for (unsigned m = 0; m < std::size(kMethods); ++m) arrives(model, logs, c, version, oui, m);
  }
  void arrives(const Model& model, const std::map<unsigned, Log>& logs, uint8_t c, uint8_t version, uint32_t oui,
               unsigned m) {
    const auto received = [&] {
      std::size_t n = 0;
      for (const auto& [who, log] : logs) n += log.count(Log::Entry::received);
      return n;
    };
    Mad mad = Mad::make(c, version, static_cast<uint8_t>(kMethods[m]), 0x0010);
    if (mad.view().is_vendor2()) mad.oui(oui);
    const auto owner = model.owner(version, c, oui, m);
    const std::size_t before = received(), its = owner ? logs.at(*owner).count(Log::Entry::received) : 0;
    const uint64_t arrived = port_.stats().received;
    script_->arrive(mad, {.lid = 7}, c == 0x01 || c == 0x81 ? Qp::smi : Qp::gsi);
    RC_ASSERT(settle_until([&] { return port_.stats().received > arrived && (!owner || received() > before); }));
    if (owner) {
      RC_ASSERT(logs.at(*owner).count(Log::Entry::received) == its + 1);
    } else {
      RC_ASSERT(received() == before);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Registrations, ::testing::ValuesIn(devices(Progress::poll)));

TEST_P(Registrations, AreTheModels) {
  const bool replays = std::getenv("RC_PARAMS") != nullptr;
  const auto end = std::chrono::steady_clock::now() + (replays ? 1h : 5s);
  int ran = 0;
  EXPECT_TRUE(rc::check("registrations", [&] {
    if (std::chrono::steady_clock::now() > end) return;
    const auto steps = *rc::gen::container<std::vector<Step>>(any_step());
    ++ran;
    play(steps);
  }));
  std::cout << ran << " runs\n";
  EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace tidemill::test
