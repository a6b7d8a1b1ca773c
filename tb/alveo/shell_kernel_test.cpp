// SPDX-License-Identifier: Apache-2.0
// The shell as v++ would link it, at its outside: registers, host memory, and that every stream leads to its kernel.
#include <Vtidemill_shell_kernel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tidemill/abi.hpp"

namespace {

namespace abi = tidemill::abi;
using Shell = Vtidemill_shell_kernel;
constexpr unsigned kBanks = 8;
constexpr uint64_t kCommands = 0x2000000040;  // where the command ring is

/// The ports of one kernel's pair of streams.
template <class Event, class Action>
struct Streams {
  CData& event_valid;
  CData& event_ready;
  Event& event;
  CData& action_valid;
  CData& action_ready;
  Action& action;
};

class ShellKernel : public testing::Test {
 protected:
  using BankStreams = Streams<VlWide<16>, VlWide<8>>;
  Shell m;
  Streams<QData, QData> arbiter{m.arbiter_events_tvalid,  m.arbiter_events_tready,  m.arbiter_events_tdata,
                                m.arbiter_actions_tvalid, m.arbiter_actions_tready, m.arbiter_actions_tdata};
  std::array<BankStreams, kBanks> banks{{
      {m.bank0_events_tvalid, m.bank0_events_tready, m.bank0_events_tdata, m.bank0_actions_tvalid,
       m.bank0_actions_tready, m.bank0_actions_tdata},
      {m.bank1_events_tvalid, m.bank1_events_tready, m.bank1_events_tdata, m.bank1_actions_tvalid,
       m.bank1_actions_tready, m.bank1_actions_tdata},
      {m.bank2_events_tvalid, m.bank2_events_tready, m.bank2_events_tdata, m.bank2_actions_tvalid,
       m.bank2_actions_tready, m.bank2_actions_tdata},
      {m.bank3_events_tvalid, m.bank3_events_tready, m.bank3_events_tdata, m.bank3_actions_tvalid,
       m.bank3_actions_tready, m.bank3_actions_tdata},
      {m.bank4_events_tvalid, m.bank4_events_tready, m.bank4_events_tdata, m.bank4_actions_tvalid,
       m.bank4_actions_tready, m.bank4_actions_tdata},
      {m.bank5_events_tvalid, m.bank5_events_tready, m.bank5_events_tdata, m.bank5_actions_tvalid,
       m.bank5_actions_tready, m.bank5_actions_tdata},
      {m.bank6_events_tvalid, m.bank6_events_tready, m.bank6_events_tdata, m.bank6_actions_tvalid,
       m.bank6_actions_tready, m.bank6_actions_tdata},
      {m.bank7_events_tvalid, m.bank7_events_tready, m.bank7_events_tdata, m.bank7_actions_tvalid,
       m.bank7_actions_tready, m.bank7_actions_tdata},
  }};
  std::vector<uint64_t> arbiter_events;
  std::array<std::vector<abi::Event>, kBanks> bank_events;
  std::array<bool, kBanks + 1> due{};  // the last is the arbiter's
  std::vector<abi::Command> commands;
  std::optional<uint64_t> read_address;
  unsigned read_id = 0;
  bool write_answer = false;

  ShellKernel() {
    m.ap_rst_n = 0;
    for (int i = 0; i < 4; ++i) cycle();
    m.ap_rst_n = 1;
    m.s_axi_control_bready = 1;
    m.s_axi_control_rready = 1;
    for (int i = 0; i < 4; ++i) cycle();
  }

  /// One clock: kernels that answer at once, host memory that holds the commands, writes that go nowhere.
  void cycle() {
    m.ap_clk = 0;
    arbiter.event_ready = !due[kBanks];
    arbiter.action_valid = due[kBanks];
    arbiter.action = 0;
    for (unsigned b = 0; b < kBanks; ++b) {
      banks[b].event_ready = !due[b];
      banks[b].action_valid = due[b];
      for (unsigned w = 0; w < 8; ++w) banks[b].action[w] = 0;
    }
    m.m_axi_arready = !read_address;
    m.m_axi_rvalid = read_address.has_value();
    m.m_axi_rid = static_cast<CData>(read_id);
    m.m_axi_rlast = 1;
    if (read_address)
      for (unsigned w = 0; w < 16; ++w) m.m_axi_rdata[w] = word(*read_address + 4 * w);
    m.m_axi_awready = 1;
    m.m_axi_wready = 1;
    m.m_axi_bvalid = write_answer;
    m.eval();
    const bool read_taken = m.m_axi_arvalid && m.m_axi_arready, read_done = m.m_axi_rvalid && m.m_axi_rready;
    const uint64_t address = m.m_axi_araddr;
    const unsigned id = m.m_axi_arid;
    const bool written = m.m_axi_awvalid != 0, answered = m.m_axi_bvalid && m.m_axi_bready;
    std::array<bool, kBanks + 1> takes{}, answers{};
    for (unsigned b = 0; b < kBanks; ++b) {
      takes[b] = banks[b].event_valid && banks[b].event_ready;
      answers[b] = banks[b].action_valid && banks[b].action_ready;
      if (!takes[b] || m.ap_rst_n == 0) continue;
      abi::Event e;
      uint64_t* const words[] = {&e.w0, &e.w1, &e.w2, &e.w3, &e.w4, &e.w5, &e.w6, &e.w7};
      for (unsigned w = 0; w < 8; ++w) *words[w] = banks[b].event[2 * w] | uint64_t{banks[b].event[2 * w + 1]} << 32;
      bank_events[b].push_back(e);
    }
    takes[kBanks] = arbiter.event_valid && arbiter.event_ready;
    answers[kBanks] = arbiter.action_valid && arbiter.action_ready;
    if (takes[kBanks] && m.ap_rst_n != 0) arbiter_events.push_back(arbiter.event);
    m.ap_clk = 1;
    m.eval();
    if (m.ap_rst_n == 0) return;
    for (unsigned i = 0; i <= kBanks; ++i) due[i] = takes[i] || (due[i] && !answers[i]);
    if (read_done) read_address.reset();
    if (read_taken) {
      EXPECT_EQ(m.m_axi_arlen, 0);
      EXPECT_EQ(m.m_axi_arsize, 6);
      read_address = address;
      read_id = id;
    }
    write_answer = written || (write_answer && !answered);
  }

  uint32_t word(uint64_t address) const {
    const uint64_t at = address - kCommands;
    if (at / abi::Command::kBytes >= commands.size()) return 0;
    const abi::Command& c = commands[at / abi::Command::kBytes];
    const uint64_t words[] = {c.w0, c.w1, c.w2, c.w3};
    return static_cast<uint32_t>(words[at % abi::Command::kBytes / 8] >> at % 8 * 8);
  }

  void until(const std::function<bool()>& done) {
    for (int i = 0; i < 5000; ++i) {
      if (done()) return;
      cycle();
    }
    FAIL() << "nothing after 5000 cycles";
  }
  uint32_t read(uint32_t offset) {
    m.s_axi_control_arvalid = 1;
    m.s_axi_control_araddr = static_cast<SData>(offset);
    bool taken = false;
    for (int i = 0; i < 5000 && !(m.s_axi_control_rvalid && taken); ++i) {
      m.eval();
      const bool takes = m.s_axi_control_arvalid && m.s_axi_control_arready;
      cycle();
      if (takes) {
        m.s_axi_control_arvalid = 0;
        taken = true;
      }
    }
    const uint32_t value = m.s_axi_control_rdata;
    cycle();
    return value;
  }
  void write(uint32_t offset, uint32_t value) {
    m.s_axi_control_awvalid = 1;
    m.s_axi_control_wvalid = 1;
    m.s_axi_control_awaddr = static_cast<SData>(offset);
    m.s_axi_control_wdata = value;
    m.s_axi_control_wstrb = 0xf;
    bool done = false;
    for (int i = 0; i < 5000 && !done; ++i) {
      m.eval();
      const bool address = m.s_axi_control_awready != 0, data = m.s_axi_control_wready != 0;
      cycle();
      if (address) m.s_axi_control_awvalid = 0;
      if (data) m.s_axi_control_wvalid = 0;
      done = m.s_axi_control_bvalid != 0;
    }
    EXPECT_TRUE(done);
    EXPECT_EQ(m.s_axi_control_bresp, 0);
    cycle();
  }
};

TEST_F(ShellKernel, RegistersSayWhatWasBuilt) {
  EXPECT_EQ(read(abi::reg::magic), abi::kMagicReset);
  EXPECT_EQ(read(abi::reg::banks), kBanks);
  EXPECT_EQ(read(abi::reg::clock_khz), 250'000u);
}

TEST_F(ShellKernel, EveryKernelIsClearedFirstAndAfterEachReset) {
  for (unsigned round = 1; round <= 2; ++round) {
    until([&] { return arbiter_events.size() == 17; });  // after the clearing the retry lanes are opened
    EXPECT_EQ(arbiter_events.front(), ~uint64_t{0});
    until([&] { return std::ranges::none_of(bank_events, [](const auto& e) { return e.empty(); }); });
    for (const auto& events : bank_events) EXPECT_EQ(events.front().w0 & events.front().w7, ~uint64_t{0});
    write(abi::reg::reset, 1);
    for (int i = 0; i < 20; ++i) cycle();  // it ends what is due, then holds for 16 cycles
    arbiter_events.clear();
    for (auto& events : bank_events) events.clear();
  }
}

TEST_F(ShellKernel, EveryStreamLeadsToItsBank) {
  for (unsigned b = 0; b < kBanks; ++b) {
    abi::Command c;
    c.kind(abi::CommandKind::cancel);
    c.slot(static_cast<uint16_t>(b + kBanks * (b + 1)));
    c.generation(static_cast<uint16_t>(100 + b));
    commands.push_back(c);
  }
  until([&] { return (read(abi::reg::state) & 2u) == 0; });
  write(abi::reg::index_base_low, 0x1000);
  const uint32_t ring = abi::reg::ring_base_low + 0x20 * static_cast<uint32_t>(abi::Ring::command);
  write(ring, static_cast<uint32_t>(kCommands));
  write(ring + 4, static_cast<uint32_t>(kCommands >> 32));
  write(ring + 8, 4);
  write(ring + 12, kBanks);
  const auto cancel = [](const abi::Event& e) { return e.kind() == abi::EventKind::cancel; };
  until([&] { return std::ranges::all_of(bank_events, [&](auto& e) { return std::ranges::any_of(e, cancel); }); });
  for (unsigned b = 0; b < kBanks; ++b) {
    const abi::Event& e = *std::ranges::find_if(bank_events[b], cancel);
    EXPECT_EQ(e.slot(), b + 1);
    EXPECT_EQ(e.generation(), 100 + b);
  }
  EXPECT_EQ(read(abi::reg::failure), 0u);
}

}  // namespace
