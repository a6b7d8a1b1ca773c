// SPDX-License-Identifier: Apache-2.0
#include "sim/platform.hpp"

#include "sim/statistics.hpp"

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

// Verilator expects SystemC's names without their namespace.
using sc_core::sc_time_stamp;
#include "Vshell.h"
#include "verilated.h"
#include "verilated_fst_c.h"

namespace tidemill::sim {
namespace {

constexpr unsigned kResetCycles = 8;

template <class Words, class Wide>
void to_wide(const Words& from, Wide& to, unsigned at, unsigned words) {
  for (unsigned w = 0; w < words; ++w) {
    uint64_t value;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(&from) + 8 * w, sizeof value);
    to[at + 2 * w] = static_cast<uint32_t>(value);
    to[at + 2 * w + 1] = static_cast<uint32_t>(value >> 32);
  }
}
template <class Words, class Wide>
void from_wide(const Wide& from, unsigned at, Words& to, unsigned words) {
  for (unsigned w = 0; w < words; ++w) {
    const uint64_t value = uint64_t{from[at + 2 * w + 1]} << 32 | from[at + 2 * w];
    std::memcpy(reinterpret_cast<std::byte*>(&to) + 8 * w, &value, sizeof value);
  }
}

}  // namespace

/// The card's clock: one cycle a period while there is something to run for.
class Platform::Clock : public sc_core::sc_module {
 public:
  Clock(const sc_core::sc_module_name& name, Platform& platform, sc_core::sc_time period)
      : sc_module(name), platform_(platform), period_(period) {
    SC_HAS_PROCESS(Clock);
    SC_METHOD(tick);
  }

 private:
  void tick() {
    platform_.cycle();
    next_trigger(period_);
  }
  Platform& platform_;
  const sc_core::sc_time period_;
};

/// Platforms that live when the program ends still leave a whole waveform.
namespace {
std::set<VerilatedFstC*>& open_traces() {
  static auto* const traces = new std::set<VerilatedFstC*>;
  return *traces;
}
void close_traces() {
  for (VerilatedFstC* trace : open_traces()) trace->close();
}
}  // namespace

Platform::Platform(Options options, std::shared_ptr<HostMemory> memory)
    : options_(std::move(options)),
      memory_(std::move(memory)),
      link_(*memory_, options_),
      random_(options_.seed),
      verilated_(std::make_unique<VerilatedContext>()) {
  context_ = std::make_unique<sc_core::sc_simcontext>();
  sc_core::sc_curr_simcontext = context_.get();
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  const sc_core::sc_time period(options_.period_ns, sc_core::SC_NS);
  verilated_->traceEverOn(!options_.trace.empty());
  verilated_->randReset(0);
  shell_ = std::make_unique<Vshell>(verilated_.get(), "shell");
  const unsigned banks = 8;
  for (unsigned b = 0; b < banks; ++b)
    banks_.push_back(std::make_unique<BankKernel>(("bank" + std::to_string(b)).c_str(), period));
  arbiter_ = std::make_unique<ArbiterKernel>("arbiter", period);
  clock_ = std::make_unique<Clock>("clock", *this, period);
  if (!options_.trace.empty()) {
    trace_ = std::make_unique<VerilatedFstC>();
    shell_->trace(trace_.get(), 99);
    trace_->open(options_.trace.c_str());
    if (open_traces().empty()) std::atexit(close_traces);
    open_traces().insert(trace_.get());
  }
  shell_->rst_i = 1;
  run(kResetCycles, kResetCycles);
  shell_->rst_i = 0;
  run(kResetCycles, kResetCycles);
}

Platform::~Platform() {
  sc_core::sc_curr_simcontext = context_.get();
  if (trace_) {
    trace_->close();
    open_traces().erase(trace_.get());
  }
  if (!options_.statistics.empty()) write_statistics(*this, options_.statistics);
  shell_->final();
  clock_.reset();
  arbiter_.reset();
  banks_.clear();
}

void Platform::write_register(uint32_t offset, uint32_t value, uint8_t strobe) {
  accesses_.push_back({true, offset, value, strobe});
}

uint32_t Platform::read_register(uint32_t offset) {
  accesses_.push_back({false, offset, 0, 0});
  read_value_.reset();
  while (!read_value_) run(1024, 1024);
  const uint32_t value = *read_value_;
  read_value_.reset();
  return value;
}

void Platform::run(uint64_t cycles, uint64_t patience) {
  sc_core::sc_curr_simcontext = context_.get();
  run_until_ = cycles_ + cycles;
  patience_until_ = cycles_ + patience;
  lines_seen_ = link_.lines_written();
  sc_core::sc_start(sc_core::sc_time(options_.period_ns * static_cast<double>(cycles), sc_core::SC_NS));
}

bool Platform::quiet() const { return shell_->quiet_o && accesses_.empty() && mmio_ == Mmio::idle && link_.idle(); }
bool Platform::idle() const { return shell_->idle_o && quiet() && static_cast<int32_t>(shell_->wake_o - shell_->now_o) > 0; }

uint32_t Platform::tick() const { return shell_->now_o; }
uint32_t Platform::wake() const { return shell_->wake_o; }
bool Platform::interrupt() const { return shell_->interrupt_o; }
bool Platform::failed() const { return shell_->failed_o; }
uint64_t Platform::waiting(unsigned i) const { return shell_->waiting_o[i / 2] >> (i % 2 * 16) & 0xffffu; }

void Platform::cycle() {
  drive();
  shell_->clk_i = 0;
  shell_->eval();
  if (trace_ && cycles_ >= options_.trace_from) trace_->dump(static_cast<uint64_t>(now_ns() * 1000));
  hand_over();
  shell_->clk_i = 1;
  shell_->eval();
  if (trace_ && cycles_ >= options_.trace_from) trace_->dump(static_cast<uint64_t>((now_ns() + options_.period_ns / 2) * 1000));
  ++cycles_;
  if (shell_->kernel_reset_o && !kernels_in_reset_) {
    for (auto& bank : banks_) bank->reset();
    arbiter_->reset();
    link_.reset();
    probe_.reset();
  }
  kernels_in_reset_ = shell_->kernel_reset_o;
  probe_.waiting({waiting(0), waiting(1), waiting(2), waiting(3), waiting(4), waiting(5), link_.reads_in_flight()});
  const bool news = cycles_ >= patience_until_ && link_.lines_written() != lines_seen_;
  if (cycles_ >= run_until_ || news || read_value_ || idle()) sc_core::sc_pause();
}

/// The inputs of this cycle.
void Platform::drive() {
  Vshell& s = *shell_;
  const double now = now_ns();
  link_.settle(now);

  s.m_axi_arready_i = link_.takes_read() && !stalled();
  const PcieLink::ReadAnswer* answer = link_.answer(now);
  // A valid that has been shown stays.
  s.m_axi_rvalid_i = answer != nullptr && !stalled();
  if (s.m_axi_rvalid_i) {
    s.m_axi_rid_i = static_cast<uint8_t>(answer->id);
    s.m_axi_rresp_i = static_cast<uint8_t>(answer->response);
    for (unsigned w = 0; w < answer->line.size(); ++w) s.m_axi_rdata_i[w] = answer->line[w];
  }
  const bool takes_write = link_.takes_write(now) && !stalled();
  s.m_axi_awready_i = takes_write;
  s.m_axi_wready_i = takes_write;
  s.m_axi_bvalid_i = link_.write_done() && !stalled();
  if (s.m_axi_bvalid_i) s.m_axi_bresp_i = static_cast<uint8_t>(link_.write_answer());

  // A kernel in reset takes nothing: in the first cycle the shell may still show what it was about to hand over.
  const bool kernels_run = !kernels_in_reset_;
  s.arbiter_event_ready_i = arbiter_->ready() && kernels_run && !stalled();
  s.arbiter_action_valid_i = arbiter_->valid();
  if (s.arbiter_action_valid_i) s.arbiter_action_i = arbiter_->action().w0;
  uint32_t ready = 0, valid = 0;
  for (unsigned b = 0; b < banks_.size(); ++b) {
    ready |= static_cast<uint32_t>(banks_[b]->ready() && kernels_run && !stalled()) << b;
    if (!banks_[b]->valid()) continue;
    valid |= 1u << b;
    to_wide(banks_[b]->action(), s.bank_action_i, b * 8, 4);
  }
  s.bank_event_ready_i = static_cast<uint8_t>(ready);
  s.bank_action_valid_i = static_cast<uint8_t>(valid);

  // Register accesses, one after the other.
  if (mmio_ == Mmio::idle && !accesses_.empty() && !shell_->rst_i) {
    mmio_ = Mmio::address;
    address_sent_ = data_sent_ = false;
  }
  const bool writes = mmio_ == Mmio::address && accesses_.front().is_write, reads = mmio_ == Mmio::address && !writes;
  s.s_axi_awvalid_i = writes && !address_sent_;
  s.s_axi_wvalid_i = writes && !data_sent_;
  s.s_axi_arvalid_i = reads;
  s.s_axi_bready_i = 1;
  s.s_axi_rready_i = 1;
  if (mmio_ == Mmio::address) {
    s.s_axi_awaddr_i = s.s_axi_araddr_i = static_cast<uint16_t>(accesses_.front().offset);
    s.s_axi_wdata_i = accesses_.front().value;
    s.s_axi_wstrb_i = accesses_.front().strobe;
  }
}

/// What changes hands at this edge.
void Platform::hand_over() {
  Vshell& s = *shell_;
  const double now = now_ns();
  if (s.rst_i) return;
  if (s.m_axi_arvalid_o && s.m_axi_arready_i) {
    link_.read(s.m_axi_araddr_o, s.m_axi_arid_o, now);
    probe_.read_asked(s.m_axi_arid_o, s.m_axi_araddr_o, cycles_);
  }
  if (s.m_axi_rvalid_i && s.m_axi_rready_o) {
    const PcieLink::ReadAnswer& answer = *link_.answer(now);
    probe_.read_answered(answer.id, answer.line, cycles_);
    link_.answered();
  }
  if (s.m_axi_awvalid_o && s.m_axi_awready_i) {
    Line line;
    for (unsigned w = 0; w < line.size(); ++w) line[w] = s.m_axi_wdata_o[w];
    link_.write(s.m_axi_awaddr_o, line, s.m_axi_wstrb_o, now);
    probe_.written(s.m_axi_awaddr_o, line, s.m_axi_wstrb_o, cycles_);
  }
  if (s.m_axi_bvalid_i && s.m_axi_bready_o) link_.write_answered();

  if (s.arbiter_action_valid_i && s.arbiter_action_ready_o) {
    probe_.arbiter_answered(arbiter_->action());
    arbiter_->taken();
  }
  if (s.arbiter_event_valid_o && s.arbiter_event_ready_i) {
    abi::ArbiterEvent e;
    e.w0 = s.arbiter_event_o;
    probe_.arbiter_took(e, cycles_);
    arbiter_->take(e);
  }
  for (unsigned b = 0; b < banks_.size(); ++b) {
    if (s.bank_action_valid_i >> b & s.bank_action_ready_o >> b & 1u) banks_[b]->taken();
    if (s.bank_event_valid_o >> b & s.bank_event_ready_i >> b & 1u) {
      abi::Event e;
      from_wide(s.bank_event_o, b * 16, e, 8);
      banks_[b]->take(e);
    }
  }

  if (mmio_ == Mmio::address) {
    if (accesses_.front().is_write) {
      address_sent_ |= s.s_axi_awvalid_i && s.s_axi_awready_o;
      data_sent_ |= s.s_axi_wvalid_i && s.s_axi_wready_o;
      if (address_sent_ && data_sent_) mmio_ = Mmio::answer;
    } else if (s.s_axi_arvalid_i && s.s_axi_arready_o) {
      mmio_ = Mmio::answer;
    }
  } else if (mmio_ == Mmio::answer) {
    if (accesses_.front().is_write ? s.s_axi_bvalid_o : s.s_axi_rvalid_o) {
      last_response_ = static_cast<Response>(accesses_.front().is_write ? s.s_axi_bresp_o : s.s_axi_rresp_o);
      if (accesses_.front().is_write)
        probe_.register_written(accesses_.front().offset, accesses_.front().value);
      else
        read_value_ = s.s_axi_rdata_o;
      accesses_.pop_front();
      mmio_ = Mmio::idle;
    }
  }
}

}  // namespace tidemill::sim

/// libsystemc wants one; the simulation is driven by whoever opened the device.
int sc_main(int, char*[]) { return 0; }
