// SPDX-License-Identifier: Apache-2.0
/// Registration: every check has its own error, and a refused registration leaves no trace.
#include "fixture.hpp"

namespace tidemill::test {
namespace {

class Register : public Conformance {
 protected:
  static MadFilter filter(uint8_t mgmt_class, uint8_t version = 1, std::initializer_list<unsigned> methods = {1, 2}, uint32_t oui = 0) {
    MadFilter f{.mgmt_class = mgmt_class, .class_version = version, .methods = {}, .oui = oui};
    for (const unsigned m : methods) f.methods.set(m);
    return f;
  }
  Errc code(Registration r) {
    auto agent = port_.register_agent(std::move(r));
    if (!agent.ok()) {
      EXPECT_FALSE(agent.error().message.empty());
    }
    return agent.code();
  }
  Registration with(std::optional<MadFilter> f) { return log_.registration(std::move(f)); }
  Log log_;
};
INSTANTIATE_TEST_SUITE_P(Devices, Register, ::testing::ValuesIn(devices()));

TEST_P(Register, EachCheckHasItsOwnError) {
  Registration r = with(filter(0x03));
  r.rmpp_version = 2;
  EXPECT_EQ(code(r), Errc::bad_rmpp_version);
  EXPECT_EQ(code(with(filter(0x03, 0x83))), Errc::bad_class_version);
  r = with(filter(0x03));
  r.on_receive = nullptr;
  EXPECT_EQ(code(r), Errc::no_receive_handler);
  EXPECT_EQ(code(with(filter(0))), Errc::bad_class);
  EXPECT_EQ(code(with(filter(0x50))), Errc::bad_class);
  EXPECT_EQ(code(with(filter(0x30))), Errc::bad_oui);
  EXPECT_EQ(code(with(filter(0x30, 1, {1}, 0x1000000))), Errc::bad_oui);
  r = with(filter(0x04));
  r.rmpp_version = 1;
  EXPECT_EQ(code(r), Errc::class_without_rmpp);
  EXPECT_EQ(code(with(filter(0x01))), Errc::class_not_on_qp);
  r = with(filter(0x03));
  r.qp = Qp::smi;
  EXPECT_EQ(code(r), Errc::class_not_on_qp);
  EXPECT_EQ(code(Registration{}), Errc::no_send_handler);
  r = with({});
  r.weight = 0;
  EXPECT_EQ(code(r), Errc::bad_weight);
  r = with({});
  r.service_class = 4;
  EXPECT_EQ(code(r), Errc::bad_weight);
  r = with({});
  r.queue_depth = 100;
  EXPECT_EQ(code(r), Errc::bad_queue_depth);
}

TEST_P(Register, APortWithoutSmiRefusesIt) {
  open({.has_smi = false});
  Registration r = with(filter(0x81));
  r.qp = Qp::smi;
  EXPECT_EQ(code(r), Errc::qp_not_supported);
}

TEST_P(Register, AMethodHasOneOwner) {
  Agent first = register_agent(with(filter(0x04, 1, {1, 2})));
  EXPECT_EQ(code(with(filter(0x04, 1, {2, 3}))), Errc::method_taken);
  // The refused one left no trace: method 3 is free, other versions and classes are others.
  Agent third = register_agent(with(filter(0x04, 1, {3})));
  Agent other_version = register_agent(with(filter(0x04, 2, {1, 2})));
  Agent other_class = register_agent(with(filter(0x06, 1, {1, 2})));
  EXPECT_EQ(first.deregister(), Errc::ok);
  Agent again = register_agent(with(filter(0x04, 1, {1, 2})));
  EXPECT_TRUE(again);
}

TEST_P(Register, VendorClassesAreToldApartByOui) {
  Agent a = register_agent(with(filter(0x30, 1, {1}, 0x001122)));
  Agent b = register_agent(with(filter(0x30, 1, {1}, 0x001123)));
  EXPECT_EQ(code(with(filter(0x30, 1, {1}, 0x001122))), Errc::method_taken);
}

TEST_P(Register, TheNinthOuiOfAClassIsRefusedUntilOneGoes) {
  std::vector<Agent> agents;
  for (uint32_t oui = 1; oui <= 8; ++oui) agents.push_back(register_agent(with(filter(0x31, 1, {1}, oui))));
  EXPECT_EQ(code(with(filter(0x31, 1, {1}, 9))), Errc::too_many_ouis);
  EXPECT_EQ(agents.back().deregister(), Errc::ok);
  EXPECT_EQ(code(with(filter(0x31, 1, {1}, 9))), Errc::ok);
}

TEST_P(Register, AnEmptyMethodMaskIsAccepted) { EXPECT_TRUE(register_agent(with(filter(0x04, 1, {})))); }

TEST_P(Register, ThousandsOfAgents) {
  std::vector<Agent> agents;
  std::vector<uint32_t> ids;
  for (int i = 0; i < 3000; ++i) {
    agents.push_back(register_agent(with({})));
    ids.push_back(agents.back().id());
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
  EXPECT_NE(ids.front(), 0u);
  EXPECT_LT(ids.back(), 1u << 24);
}

TEST_P(Register, ACallsOnlyAgentCannotPostWithoutAWaiter) {
  Registration r;
  r.calls_only = true;
  Agent agent = register_agent(std::move(r));
  const Mad mad = request();
  EXPECT_EQ(agent.send(to_peer(mad)).code(), Errc::no_send_handler);
}

TEST_P(Register, OnAClosedPortFails) {
  Agent agent = register_agent(with({}));
  port_ = Port();
  const Mad mad = request();
  EXPECT_EQ(agent.send(to_peer(mad)).code(), Errc::closing);
  EXPECT_EQ(port_.register_agent(with({})).code(), Errc::no_such_port);
}

}  // namespace
}  // namespace tidemill::test
