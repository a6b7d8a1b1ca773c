// SPDX-License-Identifier: Apache-2.0
// Round-robin arbiter: one-hot grant, held until accepted, so a later request cannot move it.
// Latency 0 cycles (combinational from request to grant); throughput one grant a cycle.
// Fair: a waiting requester sees at most Requesters - 1 grants of others. A request stays until it is accepted.
// Area: 2 x Requesters flip-flops. Reset gives requester 0 the first turn.
`default_nettype none

module tidemill_round_robin #(
  parameter int unsigned Requesters = 4  /// At least 2.
) (
  input  wire                   clk_i,
  input  wire                   rst_i,
  input  wire  [Requesters-1:0] request_i,
  output logic [Requesters-1:0] grant_o,
  input  wire                   accept_i  /// Takes the grant of this cycle.
);
  logic held_q;
  logic [Requesters-1:0] grant_q, above_q, turn, pick;

  // above_q: the requesters after the one accepted last.
  assign turn = (request_i & above_q) != '0 ? request_i & above_q : request_i;
  assign pick = turn & (~turn + 1'b1);
  assign grant_o = held_q ? grant_q : pick;

  always_ff @(posedge clk_i) begin
    held_q  <= grant_o != '0 && !accept_i;
    grant_q <= grant_o;
    if (grant_o != '0 && accept_i) above_q <= ~(grant_o | (grant_o - 1'b1));
    if (rst_i) begin
      held_q  <= 1'b0;
      above_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_hot: assert ((grant_o & (grant_o - 1'b1)) == '0);
      only_who_asks: assert ((grant_o & ~request_i) == '0);
      no_idle_cycle: assert ((grant_o != '0) == (request_i != '0));
      if (!$past(rst_i)) begin
        if ($past(grant_o != '0 && !accept_i)) begin
          held_until_accepted: assert (grant_o == $past(grant_o));
        end
        requests_stay: assert (($past(request_i & ~(accept_i ? grant_o : '0)) & ~request_i) == '0);
      end
    end
  end
endmodule

`default_nettype wire
