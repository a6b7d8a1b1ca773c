// SPDX-License-Identifier: Apache-2.0
// Reads the descriptors of granted lanes from host memory, Depth at a time, and hands them on in the order of the grants.
// Of what the host wrote the card believes only what it cannot know better: lane, QP, window use and drain come from the grant.
// Latency 1 cycle from grant to request, 2 from line to descriptor; throughput one a cycle. Area: Depth x 384 bits of RAM.
`default_nettype none

module tidemill_descriptor_fetch #(
  parameter int unsigned LaneBits = 10,
  parameter int unsigned Depth = 64  /// Descriptors asked for and not handed on yet; a power of two.
) (
  input  wire                 clk_i,
  input  wire                 rst_i,
  input  wire                 fetch_valid_i,
  output logic                fetch_ready_o,
  input  wire  [63:6]         fetch_line_i,
  input  wire  [LaneBits-1:0] fetch_lane_i,
  input  wire  [2:0]          fetch_flags_i,     /// drain, counted, QP
  input  wire  [31:0]         fetch_index_i,
  output logic                read_valid_o,
  input  wire                 read_ready_i,
  output logic [63:6]         read_line_o,
  input  wire                 line_valid_i,
  input  wire  [511:0]        line_i,
  output logic                valid_o,
  input  wire                 ready_i,
  output logic [319:0]        descriptor_o,      /// Its first five words.
  output logic                index_valid_o,     /// Its lane has one more descriptor fetched.
  input  wire                 index_ready_i,
  output logic [LaneBits-1:0] index_lane_o,
  output logic [31:0]         index_o,
  output logic [7:0]           waiting_o,         /// Asked for and not handed on yet.
  output logic                 idle_o
);
  localparam int unsigned DepthBits = $clog2(Depth);
  localparam int unsigned Width = LaneBits + 32 + 320;

  logic [LaneBits+3+32-1:0] grants [Depth];
  logic [DepthBits:0] ask_q, arrive_q, out_q, waiting;
  logic room, asked, put_ready, fifo_valid, fifo_ready, line_valid_q;
  logic [2:0] flags;
  logic [LaneBits-1:0] lane;
  logic [31:0] index;
  tidemill_abi::descriptor_t given, descriptor;
  logic [LaneBits+3+32-1:0] grant_q;
  logic [511:0] line_q;
  logic [Width-1:0] fifo_data;
  logic [DepthBits:0] occupancy;

  assign room          = (ask_q - out_q) != (DepthBits + 1)'(Depth);
  assign read_valid_o  = fetch_valid_i && room;
  assign fetch_ready_o = read_ready_i && room;
  assign read_line_o   = fetch_line_i;
  assign asked         = read_valid_o && read_ready_i;

  always_ff @(posedge clk_i) begin
    if (asked) grants[ask_q[DepthBits-1:0]] <= {fetch_lane_i, fetch_flags_i, fetch_index_i};
    if (asked) ask_q <= ask_q + 1'b1;
    if (line_valid_i) begin
      grant_q  <= grants[arrive_q[DepthBits-1:0]];
      line_q   <= line_i;
      arrive_q <= arrive_q + 1'b1;
    end
    line_valid_q <= line_valid_i;
    if (fifo_valid && fifo_ready) out_q <= out_q + 1'b1;
    if (rst_i) begin
      ask_q        <= '0;
      arrive_q     <= '0;
      out_q        <= '0;
      line_valid_q <= 1'b0;
    end
  end

  assign {lane, flags, index} = grant_q;
  assign given = line_q;
  always_comb begin
    descriptor         = given;
    descriptor.lane    = 16'(lane);
    descriptor.qp      = flags[0];
    descriptor.counted = flags[1];
    descriptor.drain   = flags[2];
  end

  tidemill_stream_fifo #(.Width(Width), .Depth(Depth)) i_fifo (
    .clk_i, .rst_i, .valid_i(line_valid_q), .ready_o(put_ready), .data_i({lane, index, descriptor[319:0]}),
    .valid_o(fifo_valid), .ready_i(fifo_ready), .data_o(fifo_data), .occupancy_o(occupancy)
  );

  assign fifo_ready    = ready_i && index_ready_i;
  assign valid_o       = fifo_valid && index_ready_i;
  assign index_valid_o = fifo_valid && ready_i;
  assign descriptor_o  = fifo_data[319:0];
  assign {index_lane_o, index_o} = fifo_data[Width-1:320];
  assign idle_o        = ask_q == out_q;
  assign waiting       = ask_q - out_q;
  assign waiting_o     = 8'(waiting);

  logic unused;
  assign unused = &{1'b0, occupancy, descriptor};

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      always_room: assert (!line_valid_q || put_ready);
      no_line_unasked: assert (!line_valid_i || arrive_q != ask_q);
    end
  end
endmodule

`default_nettype wire
