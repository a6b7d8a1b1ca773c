// SPDX-License-Identifier: Apache-2.0
// The skid buffer loses, repeats and reorders no word.
`default_nettype none

module proof (
  input wire clk_i,
  input wire reset_i,
  input wire valid_i,
  input wire ready_i,
  input wire [3:0] data_i
);
  // Reset in the first cycle, then whenever the solver likes.
  logic started_q = 1'b0;
  logic rst;
  assign rst = reset_i || !started_q;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic ready, valid;
  logic [3:0] data;
  tidemill_stream_skid #(.Width(4)) dut (
    .clk_i, .rst_i(rst), .valid_i, .ready_o(ready), .data_i, .valid_o(valid), .ready_i, .data_o(data)
  );

  // The sender keeps its offer until it is taken.
  logic offered_q;
  logic [3:0] data_q;
  always_ff @(posedge clk_i) begin
    offered_q <= valid_i && !ready && !rst;
    data_q    <= data_i;
  end
  always_comb assume (rst || !started_q || !offered_q || (valid_i && data_i == data_q));

  // The chosen word, the n-th in, is the n-th out; never more out than in, never more than Room held.
  (* anyconst *) logic [4:0] chosen;
  logic [4:0] ins_q, outs_q;
  logic [3:0] word_q;
  always_ff @(posedge clk_i) begin
    if (valid_i && ready) begin
      ins_q <= ins_q + 1'b1;
      if (ins_q == chosen) word_q <= data_i;
    end
    if (valid && ready_i) outs_q <= outs_q + 1'b1;
    if (rst) begin
      ins_q  <= '0;
      outs_q <= '0;
    end
  end
  logic [4:0] held;
  assign held = ins_q - outs_q;
  always_ff @(posedge clk_i) begin
    if (!rst) begin
      no_loss_no_duplication: assert (held == 5'(valid) + 5'(!ready));
`ifdef ORDER
      if (valid && outs_q == chosen && held != '0) begin
        order_kept: assert (data == word_q);
      end
`endif
    end
  end

endmodule

`default_nettype wire
