// SPDX-License-Identifier: Apache-2.0
// Skid buffer: cuts the combinational path of valid, data and ready of one stream.
// Latency 1 cycle; throughput one word a cycle; holds two words. Order kept.
// Area: 2 x Width flip-flops. Reset drops what it holds; nothing is accepted in reset.
`default_nettype none

module tidemill_stream_skid #(
  parameter int unsigned Width = 32  /// Bits of a word.
) (
  input  wire             clk_i,
  input  wire             rst_i,
  input  wire             valid_i,
  output logic            ready_o,
  input  wire [Width-1:0] data_i,
  output logic            valid_o,
  input  wire             ready_i,
  output logic [Width-1:0] data_o
);
  logic valid_q, spare_valid_q;
  logic [Width-1:0] data_q, spare_q;

  assign ready_o = !spare_valid_q;
  assign valid_o = valid_q;
  assign data_o  = data_q;

  always_ff @(posedge clk_i) begin
    if (ready_i || !valid_q) begin
      valid_q       <= valid_i || spare_valid_q;
      data_q        <= spare_valid_q ? spare_q : data_i;
      spare_valid_q <= 1'b0;
    end else if (valid_i && !spare_valid_q) begin
      spare_valid_q <= 1'b1;
      spare_q       <= data_i;
    end
    if (rst_i) begin
      valid_q       <= 1'b0;
      spare_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      spare_only_behind_a_word: assert (!spare_valid_q || valid_q);
      if (!$past(rst_i)) begin
        if ($past(valid_i && !ready_o)) begin
          input_stable: assert (valid_i && data_i == $past(data_i));
        end
        if ($past(valid_o && !ready_i)) begin
          output_stable: assert (valid_o && data_o == $past(data_o));
        end
      end
    end
  end
endmodule

`default_nettype wire
