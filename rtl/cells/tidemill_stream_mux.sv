// SPDX-License-Identifier: Apache-2.0
// Merges streams onto one, whole words, in round-robin order; says whose word it is.
// Latency 0 cycles (combinational; put a skid behind it to cut the path); throughput one word a cycle.
// Fair as tidemill_round_robin is. Area: an and-or of Streams x Width. Reset: first turn to stream 0.
`default_nettype none

module tidemill_stream_mux #(
  parameter int unsigned Streams = 4,  /// At least 2.
  parameter int unsigned Width = 32    /// Bits of a word.
) (
  input  wire                      clk_i,
  input  wire                      rst_i,
  input  wire  [Streams-1:0]       valid_i,
  output logic [Streams-1:0]       ready_o,
  input  wire  [Streams*Width-1:0] data_i,
  output logic                     valid_o,
  input  wire                      ready_i,
  output logic [Width-1:0]         data_o,
  output logic [Streams-1:0]       source_o  /// One-hot: the stream of the word.
);
  tidemill_round_robin #(.Requesters(Streams)) i_round_robin (
    .clk_i, .rst_i, .request_i(valid_i), .grant_o(source_o), .accept_i(ready_i)
  );

  assign valid_o = valid_i != '0;
  assign ready_o = ready_i ? source_o : '0;

  always_comb begin
    data_o = '0;
    for (int unsigned s = 0; s < Streams; s++) begin
      if (source_o[s]) data_o = data_o | data_i[s*Width+:Width];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i) && $past(valid_o && !ready_i)) begin
      output_stable: assert (valid_o && data_o == $past(data_o) && source_o == $past(source_o));
    end
  end
endmodule

`default_nettype wire
