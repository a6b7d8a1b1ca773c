// SPDX-License-Identifier: Apache-2.0
// The shell as v++ links it: the tool's names for clock, reset and interfaces, one AXI4-Stream each way for each
// kernel, and the signals of AXI4 that the shell leaves out because they never change. A kernel link stands behind each
// pair of streams.
// Verilog with plain ports, because Vivado's IP packager takes no SystemVerilog as a top (UG1118).
`default_nettype none

module tidemill_shell_kernel (
  input  wire         ap_clk,
  input  wire         ap_rst_n,
  /* verilator lint_off SYMRSVDWORD */  // the name that v++ asks for
  output wire         interrupt,
  /* verilator lint_on SYMRSVDWORD */
  // Registers
  input  wire         s_axi_control_awvalid,
  output wire         s_axi_control_awready,
  input  wire [15:0]  s_axi_control_awaddr,
  input  wire         s_axi_control_wvalid,
  output wire         s_axi_control_wready,
  input  wire [31:0]  s_axi_control_wdata,
  input  wire [3:0]   s_axi_control_wstrb,
  output wire         s_axi_control_bvalid,
  input  wire         s_axi_control_bready,
  output wire [1:0]   s_axi_control_bresp,
  input  wire         s_axi_control_arvalid,
  output wire         s_axi_control_arready,
  input  wire [15:0]  s_axi_control_araddr,
  output wire         s_axi_control_rvalid,
  input  wire         s_axi_control_rready,
  output wire [31:0]  s_axi_control_rdata,
  output wire [1:0]   s_axi_control_rresp,
  // Host memory
  output wire         m_axi_arvalid,
  input  wire         m_axi_arready,
  output wire [63:0]  m_axi_araddr,
  output wire [2:0]   m_axi_arid,
  output wire [7:0]   m_axi_arlen,
  output wire [2:0]   m_axi_arsize,
  output wire [1:0]   m_axi_arburst,
  output wire [3:0]   m_axi_arcache,
  output wire [2:0]   m_axi_arprot,
  input  wire         m_axi_rvalid,
  output wire         m_axi_rready,
  input  wire [511:0] m_axi_rdata,
  input  wire [2:0]   m_axi_rid,
  input  wire [1:0]   m_axi_rresp,
  input  wire         m_axi_rlast,
  output wire         m_axi_awvalid,
  input  wire         m_axi_awready,
  output wire [63:0]  m_axi_awaddr,
  output wire [2:0]   m_axi_awid,
  output wire [7:0]   m_axi_awlen,
  output wire [2:0]   m_axi_awsize,
  output wire [1:0]   m_axi_awburst,
  output wire [3:0]   m_axi_awcache,
  output wire [2:0]   m_axi_awprot,
  output wire         m_axi_wvalid,
  input  wire         m_axi_wready,
  output wire [511:0] m_axi_wdata,
  output wire [63:0]  m_axi_wstrb,
  output wire         m_axi_wlast,
  input  wire         m_axi_bvalid,
  output wire         m_axi_bready,
  input  wire [2:0]   m_axi_bid,
  input  wire [1:0]   m_axi_bresp,
  // Send arbiter
  output wire         arbiter_events_tvalid,
  input  wire         arbiter_events_tready,
  output wire [63:0]  arbiter_events_tdata,
  input  wire         arbiter_actions_tvalid,
  output wire         arbiter_actions_tready,
  input  wire [63:0]  arbiter_actions_tdata,
  // Banks
  output wire         bank0_events_tvalid,
  input  wire         bank0_events_tready,
  output wire [511:0] bank0_events_tdata,
  input  wire         bank0_actions_tvalid,
  output wire         bank0_actions_tready,
  input  wire [255:0] bank0_actions_tdata,
  output wire         bank1_events_tvalid,
  input  wire         bank1_events_tready,
  output wire [511:0] bank1_events_tdata,
  input  wire         bank1_actions_tvalid,
  output wire         bank1_actions_tready,
  input  wire [255:0] bank1_actions_tdata,
  output wire         bank2_events_tvalid,
  input  wire         bank2_events_tready,
  output wire [511:0] bank2_events_tdata,
  input  wire         bank2_actions_tvalid,
  output wire         bank2_actions_tready,
  input  wire [255:0] bank2_actions_tdata,
  output wire         bank3_events_tvalid,
  input  wire         bank3_events_tready,
  output wire [511:0] bank3_events_tdata,
  input  wire         bank3_actions_tvalid,
  output wire         bank3_actions_tready,
  input  wire [255:0] bank3_actions_tdata,
  output wire         bank4_events_tvalid,
  input  wire         bank4_events_tready,
  output wire [511:0] bank4_events_tdata,
  input  wire         bank4_actions_tvalid,
  output wire         bank4_actions_tready,
  input  wire [255:0] bank4_actions_tdata,
  output wire         bank5_events_tvalid,
  input  wire         bank5_events_tready,
  output wire [511:0] bank5_events_tdata,
  input  wire         bank5_actions_tvalid,
  output wire         bank5_actions_tready,
  input  wire [255:0] bank5_actions_tdata,
  output wire         bank6_events_tvalid,
  input  wire         bank6_events_tready,
  output wire [511:0] bank6_events_tdata,
  input  wire         bank6_actions_tvalid,
  output wire         bank6_actions_tready,
  input  wire [255:0] bank6_actions_tdata,
  output wire         bank7_events_tvalid,
  input  wire         bank7_events_tready,
  output wire [511:0] bank7_events_tdata,
  input  wire         bank7_actions_tvalid,
  output wire         bank7_actions_tready,
  input  wire [255:0] bank7_actions_tdata
);
  reg rst_q = 1'b1;
  always @(posedge ap_clk) rst_q <= !ap_rst_n;

  // Single beats of 64 bytes, normal memory that may be buffered.
  assign m_axi_arlen   = 8'd0;
  assign m_axi_arsize  = 3'd6;
  assign m_axi_arburst = 2'b01;
  assign m_axi_arcache = 4'b0011;
  assign m_axi_arprot  = 3'b000;
  assign m_axi_awid    = 3'd0;
  assign m_axi_awlen   = 8'd0;
  assign m_axi_awsize  = 3'd6;
  assign m_axi_awburst = 2'b01;
  assign m_axi_awcache = 4'b0011;
  assign m_axi_awprot  = 3'b000;
  assign m_axi_wlast   = 1'b1;

  wire kernel_reset, arbiter_event_valid, arbiter_event_ready, arbiter_action_valid, arbiter_action_ready;
  wire [63:0] arbiter_event, arbiter_action;
  wire [7:0] event_valid, event_ready, action_valid, action_ready;           // at the shell
  wire [7:0] events_valid, events_ready, actions_valid, actions_ready;       // at the kernels
  wire [8*512-1:0] bank_event, events;
  wire [8*256-1:0] bank_action, actions;
  wire failed, idle, quiet;
  wire [31:0] wake, now;
  wire [95:0] waiting;

  // Register `failure` says what failed; idle, quiet and the rest are for simulation.
  wire unused = &{1'b0, failed, idle, quiet, wake, now, waiting, m_axi_rlast, m_axi_bid};

  tidemill_shell i_shell (
    .clk_i(ap_clk), .rst_i(rst_q),
    .s_axi_awvalid_i(s_axi_control_awvalid), .s_axi_awready_o(s_axi_control_awready),
    .s_axi_awaddr_i(s_axi_control_awaddr), .s_axi_wvalid_i(s_axi_control_wvalid),
    .s_axi_wready_o(s_axi_control_wready), .s_axi_wdata_i(s_axi_control_wdata), .s_axi_wstrb_i(s_axi_control_wstrb),
    .s_axi_bvalid_o(s_axi_control_bvalid), .s_axi_bready_i(s_axi_control_bready), .s_axi_bresp_o(s_axi_control_bresp),
    .s_axi_arvalid_i(s_axi_control_arvalid), .s_axi_arready_o(s_axi_control_arready),
    .s_axi_araddr_i(s_axi_control_araddr), .s_axi_rvalid_o(s_axi_control_rvalid),
    .s_axi_rready_i(s_axi_control_rready), .s_axi_rdata_o(s_axi_control_rdata), .s_axi_rresp_o(s_axi_control_rresp),
    .m_axi_arvalid_o(m_axi_arvalid), .m_axi_arready_i(m_axi_arready), .m_axi_araddr_o(m_axi_araddr),
    .m_axi_arid_o(m_axi_arid), .m_axi_rvalid_i(m_axi_rvalid), .m_axi_rready_o(m_axi_rready),
    .m_axi_rdata_i(m_axi_rdata), .m_axi_rid_i(m_axi_rid), .m_axi_rresp_i(m_axi_rresp),
    .m_axi_awvalid_o(m_axi_awvalid), .m_axi_awready_i(m_axi_awready), .m_axi_awaddr_o(m_axi_awaddr),
    .m_axi_wvalid_o(m_axi_wvalid), .m_axi_wready_i(m_axi_wready), .m_axi_wdata_o(m_axi_wdata),
    .m_axi_wstrb_o(m_axi_wstrb), .m_axi_bvalid_i(m_axi_bvalid), .m_axi_bready_o(m_axi_bready),
    .m_axi_bresp_i(m_axi_bresp),
    .interrupt_o(interrupt), .failed_o(failed), .kernel_reset_o(kernel_reset),
    .arbiter_event_valid_o(arbiter_event_valid), .arbiter_event_ready_i(arbiter_event_ready),
    .arbiter_event_o(arbiter_event), .arbiter_action_valid_i(arbiter_action_valid),
    .arbiter_action_ready_o(arbiter_action_ready), .arbiter_action_i(arbiter_action),
    .bank_event_valid_o(event_valid), .bank_event_ready_i(event_ready), .bank_event_o(bank_event),
    .bank_action_valid_i(action_valid), .bank_action_ready_o(action_ready), .bank_action_i(bank_action),
    .idle_o(idle), .quiet_o(quiet), .wake_o(wake), .now_o(now), .waiting_o(waiting)
  );

  tidemill_kernel_link #(.EventWidth(64), .ActionWidth(64)) i_arbiter_link (
    .clk_i(ap_clk), .rst_i(rst_q), .shell_reset_i(kernel_reset),
    .event_valid_i(arbiter_event_valid), .event_ready_o(arbiter_event_ready), .event_i(arbiter_event),
    .action_valid_o(arbiter_action_valid), .action_ready_i(arbiter_action_ready), .action_o(arbiter_action),
    .event_valid_o(arbiter_events_tvalid), .event_ready_i(arbiter_events_tready), .event_o(arbiter_events_tdata),
    .action_valid_i(arbiter_actions_tvalid), .action_ready_o(arbiter_actions_tready), .action_i(arbiter_actions_tdata)
  );

  generate
    genvar b;
    for (b = 0; b < 8; b = b + 1) begin : g_bank
      tidemill_kernel_link #(.EventWidth(512), .ActionWidth(256)) i_link (
        .clk_i(ap_clk), .rst_i(rst_q), .shell_reset_i(kernel_reset),
        .event_valid_i(event_valid[b]), .event_ready_o(event_ready[b]), .event_i(bank_event[b*512+:512]),
        .action_valid_o(action_valid[b]), .action_ready_i(action_ready[b]), .action_o(bank_action[b*256+:256]),
        .event_valid_o(events_valid[b]), .event_ready_i(events_ready[b]), .event_o(events[b*512+:512]),
        .action_valid_i(actions_valid[b]), .action_ready_o(actions_ready[b]), .action_i(actions[b*256+:256])
      );
    end
  endgenerate

  assign {bank7_events_tvalid, bank6_events_tvalid, bank5_events_tvalid, bank4_events_tvalid,
    bank3_events_tvalid, bank2_events_tvalid, bank1_events_tvalid, bank0_events_tvalid} = events_valid;
  assign {bank7_events_tdata, bank6_events_tdata, bank5_events_tdata, bank4_events_tdata,
    bank3_events_tdata, bank2_events_tdata, bank1_events_tdata, bank0_events_tdata} = events;
  assign {bank7_actions_tready, bank6_actions_tready, bank5_actions_tready, bank4_actions_tready,
    bank3_actions_tready, bank2_actions_tready, bank1_actions_tready, bank0_actions_tready} = actions_ready;
  assign events_ready = {bank7_events_tready, bank6_events_tready, bank5_events_tready, bank4_events_tready,
    bank3_events_tready, bank2_events_tready, bank1_events_tready, bank0_events_tready};
  assign actions_valid = {bank7_actions_tvalid, bank6_actions_tvalid, bank5_actions_tvalid, bank4_actions_tvalid,
    bank3_actions_tvalid, bank2_actions_tvalid, bank1_actions_tvalid, bank0_actions_tvalid};
  assign actions = {bank7_actions_tdata, bank6_actions_tdata, bank5_actions_tdata, bank4_actions_tdata,
    bank3_actions_tdata, bank2_actions_tdata, bank1_actions_tdata, bank0_actions_tdata};
endmodule

`default_nettype wire
