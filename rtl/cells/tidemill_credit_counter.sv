// SPDX-License-Identifier: Apache-2.0
// Counts credits: one taken and up to Gives given in a cycle. Starts full.
// Latency 1 cycle from give to available_o. A take without credit and a give past the limit change nothing beyond the
// bounds and raise error_o until reset. Area: a counter of $clog2(Limit + 1) bits and an adder.
`default_nettype none

module tidemill_credit_counter #(
  parameter int unsigned Limit = 64,  /// Credits after reset, and the most there can be.
  parameter int unsigned Gives = 2    /// Credits that can come back in one cycle.
) (
  input  wire                            clk_i,
  input  wire                            rst_i,
  input  wire                            take_i,
  input  wire [Gives-1:0]                give_i,       /// A credit for each bit that is set.
  output logic                           available_o,
  output logic [$clog2(Limit + 1)-1:0]   credits_o,
  output logic                           error_o
);
  localparam int unsigned Bits = $clog2(Limit + 1);
  localparam int unsigned SumBits = $clog2(Limit + Gives + 1);

  logic [Bits-1:0] credits_q;
  logic error_q, take;
  logic [SumBits-1:0] sum;

  assign available_o = credits_q != '0;
  assign credits_o   = credits_q;
  assign error_o     = error_q;
  assign take        = take_i && available_o;

  always_comb begin
    sum = SumBits'(credits_q) - SumBits'(take);
    for (int unsigned g = 0; g < Gives; g++) sum = sum + SumBits'(give_i[g]);
  end

  always_ff @(posedge clk_i) begin
    credits_q <= sum > SumBits'(Limit) ? Bits'(Limit) : Bits'(sum);
    error_q   <= error_q || (take_i && !available_o) || sum > SumBits'(Limit);
    if (rst_i) begin
      credits_q <= Bits'(Limit);
      error_q   <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      within_limit: assert (credits_q <= Bits'(Limit));
    end
  end
endmodule

`default_nettype wire
