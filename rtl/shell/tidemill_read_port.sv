// SPDX-License-Identifier: Apache-2.0
// AXI4 read master of the shell: requests of single 64-byte lines from several readers, many in flight, each reader with
// an AXI ID of its own, so that lines come back in order for each and in any order among them.
// Readers take their lines at once: they ask for no more than they have room for.
// The first answer that is no OKAY, and Patience cycles without an answer while one is due, are failures: reported, and no
// request goes out until reset. Latency 1 cycle each way. stop_i holds requests back, to drain.
`default_nettype none

module tidemill_read_port #(
  parameter int unsigned Readers = 5,
  parameter int unsigned IdBits = 3,       /// 2^IdBits >= Readers.
  parameter int unsigned Patience = 65536  /// Cycles; a power of two.
) (
  input  wire                    clk_i,
  input  wire                    rst_i,
  input  wire                    stop_i,
  input  wire  [Readers-1:0]     request_valid_i,
  output logic [Readers-1:0]     request_ready_o,
  input  wire  [Readers*58-1:0]  request_line_i,
  output logic [Readers-1:0]     line_valid_o,
  output logic [511:0]           line_o,
  output logic                   arvalid_o,
  input  wire                    arready_i,
  output logic [63:0]            araddr_o,
  output logic [IdBits-1:0]      arid_o,
  input  wire                    rvalid_i,
  output logic                   rready_o,
  input  wire  [511:0]           rdata_i,
  input  wire  [IdBits-1:0]      rid_i,
  input  wire  [1:0]             rresp_i,
  output logic                   idle_o,     /// No answer is due.
  output logic                   error_o,    /// One cycle for each answer that is no OKAY.
  output logic                   hung_o,     /// Until reset.
  output logic [63:0]            address_o   /// Of the oldest request of the reader whose answer failed.
);
  localparam int unsigned WaitBits = $clog2(Patience);

  logic [Readers-1:0] source;
  logic [57:0] line;
  logic mux_valid, mux_ready, request_taken, answer;
  logic [9:0] due_q;
  logic [WaitBits:0] waiting_q;
  logic [IdBits-1:0] id;
  logic [57:0] last_q [1 << IdBits];

  tidemill_stream_mux #(.Streams(Readers), .Width(58)) i_mux (
    .clk_i, .rst_i, .valid_i(request_valid_i), .ready_o(request_ready_o), .data_i(request_line_i),
    .valid_o(mux_valid), .ready_i(mux_ready), .data_o(line), .source_o(source)
  );

  always_comb begin
    id = '0;
    for (int unsigned r = 0; r < Readers; r++) begin
      if (source[r]) id = IdBits'(r);
    end
  end

  assign mux_ready     = (arready_i || !arvalid_o) && !stop_i && !hung_o;
  assign request_taken = mux_valid && mux_ready;
  assign rready_o      = 1'b1;
  assign answer        = rvalid_i;
  assign idle_o        = due_q == '0 && !arvalid_o;
  assign hung_o        = waiting_q[WaitBits];

  always_ff @(posedge clk_i) begin
    if (arready_i || !arvalid_o) arvalid_o <= request_taken;
    if (request_taken) begin
      araddr_o   <= {line, 6'd0};
      arid_o     <= id;
      last_q[id] <= line;
    end
    due_q <= due_q + 10'(request_taken) - 10'(answer);
    if (answer || due_q == '0) waiting_q <= '0;
    else if (!hung_o) waiting_q <= waiting_q + 1'b1;

    line_valid_o <= '0;
    for (int unsigned r = 0; r < Readers; r++) begin
      if (answer && rid_i == IdBits'(r)) line_valid_o[r] <= 1'b1;
    end
    if (answer) line_o <= rdata_i;
    error_o <= answer && rresp_i != 2'b00;
    if (answer && rresp_i != 2'b00) address_o <= {last_q[rid_i], 6'd0};
    if (rst_i) begin
      arvalid_o    <= 1'b0;
      due_q        <= '0;
      waiting_q    <= '0;
      line_valid_o <= '0;
      error_o      <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      answers_are_due: assert (!answer || due_q != '0);
      if (!$past(rst_i) && $past(arvalid_o && !arready_i)) begin
        request_stable: assert (arvalid_o && araddr_o == $past(araddr_o) && arid_o == $past(arid_o));
      end
    end
  end
endmodule

`default_nettype wire
