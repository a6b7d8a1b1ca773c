// SPDX-License-Identifier: Apache-2.0
// Each word out is the word its stream offers, and exactly that stream is told so.
`default_nettype none

module proof (
  input wire clk_i,
  input wire reset_i,
  input wire [2:0] valid_i,
  input wire ready_i,
  input wire [5:0] data_i
);
  // Reset in the first cycle, then whenever the solver likes.
  logic started_q = 1'b0;
  logic rst;
  assign rst = reset_i || !started_q;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic [2:0] ready, source;
  logic valid;
  logic [1:0] data;
  tidemill_stream_mux #(.Streams(3), .Width(2)) dut (
    .clk_i, .rst_i(rst), .valid_i, .ready_o(ready), .data_i, .valid_o(valid), .ready_i, .data_o(data),
    .source_o(source)
  );

  // Senders keep their offers until they are taken.
  logic [2:0] offered_q;
  logic [5:0] data_q;
  always_ff @(posedge clk_i) begin
    offered_q <= rst ? '0 : valid_i & ~ready;
    data_q    <= data_i;
  end
  for (genvar s = 0; s < 3; s++) begin : g_sender
    always_comb assume (rst || !offered_q[s] || (valid_i[s] && data_i[2*s+:2] == data_q[2*s+:2]));
  end

  always_ff @(posedge clk_i) begin
    if (!rst) begin
      taken_once_and_only_if_sent: assert ((valid && ready_i) == ((valid_i & ready) != '0));
      one_at_a_time: assert ((ready & (ready - 1'b1)) == '0);
      someone_is_named: assert (valid == (source != '0));
    end
  end
  logic [2:0] right;
  for (genvar s = 0; s < 3; s++) begin : g_word
    assign right[s] = !source[s] || (valid_i[s] && data == data_i[2*s+:2] && ready[s] == ready_i);
  end
  always_ff @(posedge clk_i) begin
    if (!rst) begin
      the_word_of_its_stream: assert (right == '1);
    end
  end
endmodule

`default_nettype wire
