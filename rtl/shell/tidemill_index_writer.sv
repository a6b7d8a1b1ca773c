// SPDX-License-Identifier: Apache-2.0
// Tells the host how far the card has read: writes counts into the index array in host memory, 32 bits each. Lanes as they
// change, the newest count if several come while one waits for the bus; rings when their count has changed and Pause
// cycles have passed.
`default_nettype none

module tidemill_index_writer #(
  parameter int unsigned Lanes = 1024,
  parameter int unsigned Rings = 4,    /// Their counts come after those of the lanes.
  parameter int unsigned Pause = 32,   /// Cycles between two counts of rings.
  localparam int unsigned LaneBits = $clog2(Lanes)
) (
  input  wire                  clk_i,
  input  wire                  rst_i,
  input  wire  [63:6]          base_i,
  input  wire                  lane_valid_i,
  output logic                 lane_ready_o,
  input  wire  [LaneBits-1:0]  lane_i,
  input  wire  [31:0]          lane_index_i,
  input  wire  [Rings*32-1:0]  ring_index_i,
  output logic                 write_valid_o,
  input  wire                  write_ready_i,
  output logic [63:6]          write_line_o,
  output logic [511:0]         write_data_o,
  output logic [63:0]          write_strobe_o,
  output logic                 idle_o
);
  localparam int unsigned NumberBits = LaneBits + 1;
  localparam int unsigned RingBits = $clog2(Rings);

  logic waits_q, same, free, ring_turn;
  logic [NumberBits-1:0] number_q;
  logic [31:0] index_q;
  logic [Rings*32-1:0] told_q;
  logic [Rings-1:0] changed;
  logic [RingBits-1:0] ring;
  logic [$clog2(Pause):0] pause_q;

  always_comb begin
    ring = '0;
    for (int unsigned i = 0; i < Rings; i++) begin
      changed[i] = ring_index_i[i*32+:32] != told_q[i*32+:32];
      if (changed[i]) ring = RingBits'(i);
    end
  end

  // A count that has not been offered to the bus yet may still be replaced.
  assign same = waits_q && number_q == {1'b0, lane_i};
  assign free = !waits_q || !write_valid_o || write_ready_i;
  assign lane_ready_o = free || same;
  assign ring_turn    = free && !lane_valid_i && changed != '0 && pause_q == '0;
  assign idle_o       = !waits_q && !write_valid_o && changed == '0;

  always_ff @(posedge clk_i) begin
    if (pause_q != '0) pause_q <= pause_q - 1'b1;
    if (write_ready_i || !write_valid_o) begin
      write_valid_o  <= waits_q;
      write_line_o   <= base_i + (58'(number_q) >> 4);
      write_data_o   <= {16{index_q}};
      write_strobe_o <= 64'hf << {number_q[3:0], 2'b00};
      waits_q        <= 1'b0;
    end
    if (lane_valid_i && lane_ready_o) begin
      waits_q  <= 1'b1;
      number_q <= {1'b0, lane_i};
      index_q  <= lane_index_i;
    end
    if (ring_turn) begin
      waits_q  <= 1'b1;
      number_q <= NumberBits'(Lanes) + NumberBits'(ring);
      index_q  <= ring_index_i[32*32'(ring)+:32];
      told_q[32*32'(ring)+:32] <= ring_index_i[32*32'(ring)+:32];
      pause_q  <= ($clog2(Pause) + 1)'(Pause);
    end
    if (rst_i) begin
      waits_q       <= 1'b0;
      write_valid_o <= 1'b0;
      told_q        <= '0;
      pause_q       <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i) && $past(write_valid_o && !write_ready_i)) begin
      write_stable: assert (write_valid_o && write_line_o == $past(write_line_o) && write_data_o == $past(write_data_o));
    end
  end
endmodule

`default_nettype wire
