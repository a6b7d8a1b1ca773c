// SPDX-License-Identifier: Apache-2.0
// AXI4 write master of the shell: single beats of 64 bytes with strobes from several writers, many in flight, all with one
// AXI ID, so that they are done in the order in which they were taken.
// The first answer that is no OKAY, and Patience cycles without an answer while one is due, are failures as in
// tidemill_read_port. Latency 1 cycle. stop_i holds writes back, to drain.
`default_nettype none

module tidemill_write_port #(
  parameter int unsigned Writers = 3,
  parameter int unsigned Patience = 65536  /// Cycles; a power of two.
) (
  input  wire                     clk_i,
  input  wire                     rst_i,
  input  wire                     stop_i,
  input  wire  [Writers-1:0]      write_valid_i,
  output logic [Writers-1:0]      write_ready_o,
  input  wire  [Writers*58-1:0]   write_line_i,
  input  wire  [Writers*512-1:0]  write_data_i,
  input  wire  [Writers*64-1:0]   write_strobe_i,
  output logic                    awvalid_o,
  input  wire                     awready_i,
  output logic [63:0]             awaddr_o,
  output logic                    wvalid_o,
  input  wire                     wready_i,
  output logic [511:0]            wdata_o,
  output logic [63:0]             wstrb_o,
  input  wire                     bvalid_i,
  output logic                    bready_o,
  input  wire  [1:0]              bresp_i,
  output logic                    idle_o,    /// No answer is due.
  output logic                    done_o,    /// One cycle for each answer.
  output logic                    error_o,   /// One cycle for each answer that is no OKAY.
  output logic                    hung_o,    /// Until reset.
  output logic [63:0]             address_o  /// Of the write that was taken last when an answer failed.
);
  localparam int unsigned WaitBits = $clog2(Patience);
  localparam int unsigned Width = 58 + 512 + 64;

  logic [Writers*Width-1:0] writes;
  logic [Writers-1:0] source;
  logic mux_valid, mux_ready, taken, answer;
  logic [Width-1:0] write;
  logic [9:0] due_q;
  logic [WaitBits:0] waiting_q;

  always_comb begin
    for (int unsigned w = 0; w < Writers; w++) begin
      writes[w*Width+:Width] = {write_line_i[w*58+:58], write_data_i[w*512+:512], write_strobe_i[w*64+:64]};
    end
  end

  tidemill_stream_mux #(.Streams(Writers), .Width(Width)) i_mux (
    .clk_i, .rst_i, .valid_i(write_valid_i), .ready_o(write_ready_o), .data_i(writes),
    .valid_o(mux_valid), .ready_i(mux_ready), .data_o(write), .source_o(source)
  );

  assign mux_ready = (awready_i || !awvalid_o) && (wready_i || !wvalid_o) && due_q != '1 && !stop_i && !hung_o;
  assign taken     = mux_valid && mux_ready;
  assign bready_o  = 1'b1;
  assign answer    = bvalid_i;
  assign idle_o    = due_q == '0;
  assign hung_o    = waiting_q[WaitBits];
  assign done_o    = answer;

  always_ff @(posedge clk_i) begin
    if (awready_i) awvalid_o <= 1'b0;
    if (wready_i) wvalid_o <= 1'b0;
    if (taken) begin
      awvalid_o <= 1'b1;
      awaddr_o  <= {write[Width-1-:58], 6'd0};
      wvalid_o  <= 1'b1;
      wdata_o   <= write[64+:512];
      wstrb_o   <= write[63:0];
    end
    due_q <= due_q + 10'(taken) - 10'(answer);
    if (answer || due_q == '0) waiting_q <= '0;
    else if (!hung_o) waiting_q <= waiting_q + 1'b1;
    error_o <= answer && bresp_i != 2'b00;
    if (answer && bresp_i != 2'b00) address_o <= awaddr_o;
    if (rst_i) begin
      awvalid_o <= 1'b0;
      wvalid_o  <= 1'b0;
      due_q     <= '0;
      waiting_q <= '0;
      error_o   <= 1'b0;
    end
  end

  logic unused;
  assign unused = &{1'b0, source};

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      answers_are_due: assert (!answer || due_q != '0);
      if (!$past(rst_i)) begin
        if ($past(awvalid_o && !awready_i)) begin
          address_stable: assert (awvalid_o && awaddr_o == $past(awaddr_o));
        end
        if ($past(wvalid_o && !wready_i)) begin
          data_stable: assert (wvalid_o && wdata_o == $past(wdata_o) && wstrb_o == $past(wstrb_o));
        end
      end
    end
  end
endmodule

`default_nettype wire
