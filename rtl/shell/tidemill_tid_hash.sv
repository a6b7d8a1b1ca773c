// SPDX-License-Identifier: Apache-2.0
// Keyed hash of a TID, as hls/tid_hash.hpp defines it: two folded 64 x 64-bit products. What comes along passes by its side.
// Latency 6 cycles; throughput one a cycle; the whole pipeline stands while its end is not taken. Order kept.
// Area: eight 32 x 32-bit multipliers, each with a register behind it to be moved in; 6 x Width flip-flops.
`default_nettype none

module tidemill_tid_hash #(
  parameter int unsigned Width = 64  /// Bits that come along.
) (
  input  wire              clk_i,
  input  wire              rst_i,
  input  wire  [63:0]      seed_i,   /// Unchanged while anything is inside.
  input  wire              valid_i,
  output logic             ready_o,
  input  wire  [63:0]      tid_i,
  input  wire  [Width-1:0] data_i,
  output logic             valid_o,
  input  wire              ready_i,
  output logic [63:0]      hash_o,
  output logic [Width-1:0] data_o,
  output logic             idle_o
);
  localparam logic [63:0] Golden = 64'h9e37_79b9_7f4a_7c15;
  localparam logic [63:0] Root = 64'h6a09_e667_f3bc_c909;
  localparam int unsigned Stages = 6;

  logic [Stages-1:0] valid_q;
  logic [Width-1:0] data_q [Stages];
  logic [63:0] first, second, once_q, hash_q;
  logic [255:0] product_a_q, product_b_q, product_c_q, product_d_q;
  logic advance;

  assign first   = Golden ^ {seed_i[62:0], 1'b0};
  assign second  = (seed_i ^ Golden) | 64'd1;
  assign advance = !valid_q[Stages-1] || ready_i;
  assign ready_o = advance;
  assign valid_o = valid_q[Stages-1];
  assign hash_o  = hash_q;
  assign data_o  = data_q[Stages-1];
  assign idle_o  = valid_q == '0;

  function automatic logic [255:0] products(input logic [63:0] a, input logic [63:0] b);
    products = {64'(a[63:32]) * 64'(b[63:32]), 64'(a[63:32]) * 64'(b[31:0]),
                64'(a[31:0]) * 64'(b[63:32]), 64'(a[31:0]) * 64'(b[31:0])};
  endfunction

  function automatic logic [63:0] folded(input logic [255:0] p);
    logic [63:0] middle, low, high;
    middle = 64'(p[63:32]) + 64'(p[95:64]) + 64'(p[159:128]);
    low    = {middle[31:0], p[31:0]};
    high   = p[255:192] + 64'(p[127:96]) + 64'(p[191:160]) + 64'(middle[63:32]);
    folded = low ^ high;
  endfunction

  always_ff @(posedge clk_i) begin
    if (advance) begin
      valid_q <= {valid_q[Stages-2:0], valid_i};
      if (valid_i || valid_q != '0) begin
        data_q[0] <= data_i;
        for (int unsigned s = 1; s < Stages; s++) data_q[s] <= data_q[s-1];
        product_a_q <= products(tid_i ^ seed_i, first);
        product_b_q <= product_a_q;
        once_q      <= folded(product_b_q) ^ Root;
        product_c_q <= products(once_q, second);
        product_d_q <= product_c_q;
        hash_q      <= folded(product_d_q);
      end
    end
    if (rst_i) valid_q <= '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i) && $past(valid_o && !ready_i)) begin
      output_stable: assert (valid_o && hash_o == $past(hash_o));
    end
  end
endmodule

`default_nettype wire
