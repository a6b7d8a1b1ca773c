// SPDX-License-Identifier: Apache-2.0
// The arbiter grants one at a time, and a requester waits for at most Requesters - 1 others.
`default_nettype none

module proof (
  input wire clk_i,
  input wire reset_i,
  input wire [2:0] request_i,
  input wire accept_i
);
  // Reset in the first cycle, then whenever the solver likes.
  logic started_q = 1'b0;
  logic rst;
  assign rst = reset_i || !started_q;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic [2:0] grant;
  tidemill_round_robin #(.Requesters(3)) dut (
    .clk_i, .rst_i(rst), .request_i, .grant_o(grant), .accept_i
  );

  // A request stays until it is accepted.
  logic [2:0] waiting_q;
  always_ff @(posedge clk_i) waiting_q <= rst ? '0 : request_i & ~(accept_i ? grant : '0);
  always_comb assume (rst || (waiting_q & ~request_i) == '0);

  // Bounded waiting of one chosen requester.
  (* anyconst *) logic [1:0] chosen;
  always_comb assume (chosen < 2'd3);
  logic [2:0] others_q;
  always_ff @(posedge clk_i) begin
    if (!request_i[chosen] || (accept_i && grant[chosen])) others_q <= '0;
    else if (accept_i && grant != '0) others_q <= others_q + 1'b1;
    if (rst) others_q <= '0;
    if (!rst) begin
`ifdef ORDER
      bounded_waiting: assert (others_q <= 3'd2);
`endif
      one_hot_or_none: assert (grant == 3'd0 || grant == 3'd1 || grant == 3'd2 || grant == 3'd4);
    end
  end

endmodule

`default_nettype wire
