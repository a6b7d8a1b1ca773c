// SPDX-License-Identifier: Apache-2.0
// Each word goes to the output its index names, and to no other.
`default_nettype none

module proof (
  input wire clk_i,
  input wire reset_i,
  input wire valid_i,
  input wire [1:0] index_i,
  input wire [1:0] data_i,
  input wire [2:0] ready_i
);
  // Reset in the first cycle, then whenever the solver likes.
  logic started_q = 1'b0;
  logic rst;
  assign rst = reset_i || !started_q;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic ready;
  logic [2:0] valid;
  logic [1:0] data;
  tidemill_stream_demux #(.Streams(3), .Width(2)) dut (
    .clk_i, .rst_i(rst), .valid_i, .ready_o(ready), .index_i, .data_i, .valid_o(valid), .ready_i, .data_o(data)
  );

  // The sender keeps its offer until it is taken, and knows how many outputs there are.
  logic offered_q;
  logic [3:0] offer_q;
  always_ff @(posedge clk_i) begin
    offered_q <= valid_i && !ready && !rst;
    offer_q   <= {index_i, data_i};
  end
  always_comb assume (rst || !offered_q || (valid_i && {index_i, data_i} == offer_q));
  always_comb assume (!valid_i || index_i < 2'd3);

  (* anyconst *) logic [1:0] chosen;
  always_comb assume (chosen < 2'd3);
  always_ff @(posedge clk_i) begin
    if (!rst) begin
      only_where_sent: assert (valid[chosen] == (valid_i && index_i == chosen));
      if (valid_i && index_i == chosen) begin
        taken_when_its_output_is: assert (ready == ready_i[chosen] && data == data_i);
      end
    end
  end

endmodule

`default_nettype wire
