// SPDX-License-Identifier: Apache-2.0
// Ticks at increment / 2^32 of the clock: an accumulator whose carry is the tick, so the mean rate is exact.
// Latency: the strobe and the new count show in the cycle after the carry; a new increment counts from the cycle after
// its write. At most one tick a cycle. Area: three 32-bit registers, two adders. Reset: no ticks until an increment comes.
`default_nettype none

module tidemill_tick_generator (
  input  wire         clk_i,
  input  wire         rst_i,
  input  wire         write_i,      /// Takes increment_i.
  input  wire  [31:0] increment_i,
  input  wire  [31:0] skip_i,       /// Added to the ticks, as if that much time had passed; for simulation.
  output logic [31:0] increment_o,
  output logic        tick_o,       /// One cycle for each tick.
  output logic [31:0] ticks_o       /// Ticks since reset, modulo 2^32.
);
  logic [31:0] increment_q, fraction_q, ticks_q;
  logic [32:0] sum;
  logic tick_q;

  assign sum = {1'b0, fraction_q} + {1'b0, increment_q};
  assign increment_o = increment_q;
  assign tick_o  = tick_q;
  assign ticks_o = ticks_q;

  always_ff @(posedge clk_i) begin
    if (write_i) increment_q <= increment_i;
    fraction_q <= sum[31:0];
    tick_q     <= sum[32];
    if (sum[32] || skip_i != '0) ticks_q <= ticks_q + skip_i + 32'(sum[32]);
    if (rst_i) begin
      increment_q <= '0;
      fraction_q  <= '0;
      tick_q      <= 1'b0;
      ticks_q     <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i)) begin
      strobe_counts: assert (ticks_q == $past(ticks_q) + $past(skip_i) + 32'(tick_q));
    end
  end
endmodule

`default_nettype wire
