// SPDX-License-Identifier: Apache-2.0
// Credits held and credits out add up to the limit; a misuse is reported and leaves the bounds standing.
`default_nettype none

module proof (
  input wire clk_i,
  input wire reset_i,
  input wire take_i,
  input wire [1:0] give_i
);
  // Reset in the first cycle, then whenever the solver likes.
  logic started_q = 1'b0;
  logic rst;
  assign rst = reset_i || !started_q;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic available, error;
  logic [2:0] credits;
  tidemill_credit_counter #(.Limit(5), .Gives(2)) dut (
    .clk_i, .rst_i(rst), .take_i, .give_i, .available_o(available), .credits_o(credits), .error_o(error)
  );

  // A model of its own: credits out. A refused take and a give too many leave them at their bounds.
  logic [3:0] out_q, taken, gives, out;
  logic misused_q, misused;
  always_comb begin
    taken   = out_q + 4'(take_i && out_q != 4'd5);
    gives   = 4'(give_i[0]) + 4'(give_i[1]);
    out     = gives > taken ? 4'd0 : taken - gives;
    misused = (take_i && out_q == 4'd5) || gives > taken;
  end
  always_ff @(posedge clk_i) begin
    out_q     <= out;
    misused_q <= misused_q || misused;
    if (rst) begin
      out_q     <= '0;
      misused_q <= 1'b0;
    end
    if (!rst) begin
      misuse_is_reported: assert (error == misused_q);
      available_iff_any: assert (available == (credits != '0));
      bounds_stand: assert (credits <= 3'd5);
      nothing_lost_or_made: assert (4'(credits) + out_q == 4'd5);
    end
  end

endmodule

`default_nettype wire
