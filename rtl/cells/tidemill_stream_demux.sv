// SPDX-License-Identifier: Apache-2.0
// Sends each word of a stream to the output its index names.
// Latency 0 cycles (combinational); throughput one word a cycle. An index past the last output is a fault of the sender:
// the assertion fires, and the word is dropped so that the stream does not hang. No state; reset quiets the assertions.
`default_nettype none

module tidemill_stream_demux #(
  parameter int unsigned Streams = 4,  /// Outputs, at least 2.
  parameter int unsigned Width = 32    /// Bits of a word.
) (
  input  wire                       clk_i,
  input  wire                       rst_i,
  input  wire                       valid_i,
  output logic                      ready_o,
  input  wire [$clog2(Streams)-1:0] index_i,
  input  wire [Width-1:0]           data_i,
  output logic [Streams-1:0]        valid_o,
  input  wire [Streams-1:0]         ready_i,
  output logic [Width-1:0]          data_o
);
  logic [Streams-1:0] select;

  always_comb begin
    select = '0;
    for (int unsigned s = 0; s < Streams; s++) begin
      if (32'(index_i) == s) select[s] = 1'b1;
    end
  end

  assign valid_o = valid_i ? select : '0;
  assign ready_o = (select & ~ready_i) == '0;
  assign data_o  = data_i;

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_output: assert ((valid_o & (valid_o - 1'b1)) == '0);
      index_in_range: assert (!valid_i || valid_o != '0);
      if (!$past(rst_i) && $past(valid_i && !ready_o)) begin
        input_stable: assert (valid_i && index_i == $past(index_i) && data_i == $past(data_i));
      end
    end
  end
endmodule

`default_nettype wire
