// SPDX-License-Identifier: Apache-2.0
// Ticks and fraction together are the sum of all increments and skips: no tick is early, late or lost.
`default_nettype none

module proof (
  input wire clk_i,
  input wire reset_i,
  input wire write_i,
  input wire [31:0] increment_i,
  input wire [31:0] skip_i
);
  // Reset in the first cycle, then whenever the solver likes.
  logic started_q = 1'b0;
  logic rst;
  assign rst = reset_i || !started_q;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic tick;
  logic [31:0] increment, ticks;
  tidemill_tick_generator dut (
    .clk_i, .rst_i(rst), .write_i, .increment_i, .skip_i, .increment_o(increment), .tick_o(tick), .ticks_o(ticks)
  );

  // The sum in 64 bits: its upper half is the number of ticks.
  logic [63:0] sum_q;
  logic [31:0] rate_q, ticks_q, skip_q;
  always_ff @(posedge clk_i) begin
    sum_q   <= sum_q + 64'(rate_q) + {skip_i, 32'd0};
    skip_q  <= skip_i;
    ticks_q <= ticks;
    if (write_i) rate_q <= increment_i;
    if (rst) begin
      sum_q   <= '0;
      rate_q  <= '0;
      ticks_q <= '0;
      skip_q  <= '0;
    end
    if (!rst) begin
      rate_is_what_was_written: assert (increment == rate_q);
`ifdef ORDER
      ticks_are_the_sum: assert (ticks == sum_q[63:32]);
`endif
      strobe_at_each_tick: assert (tick == (ticks != ticks_q + skip_q));
    end
  end

endmodule

`default_nettype wire
