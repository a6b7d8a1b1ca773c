// SPDX-License-Identifier: Apache-2.0
// FIFO in a RAM with a registered read, so that Yosys and Vivado take block RAM or LUT RAM by its size.
// Latency 2 cycles (accepted in cycle t, valid in t + 2); throughput one word a cycle; holds Depth words. Order kept.
// Area: Depth x Width bits of RAM. Reset drops what it holds; nothing is accepted in reset.
`default_nettype none

module tidemill_stream_fifo #(
  parameter int unsigned Width = 32,  /// Bits of a word.
  parameter int unsigned Depth = 16   /// Words; a power of two, at least 2.
) (
  input  wire                    clk_i,
  input  wire                    rst_i,
  input  wire                    valid_i,
  output logic                   ready_o,
  input  wire [Width-1:0]        data_i,
  output logic                   valid_o,
  input  wire                    ready_i,
  output logic [Width-1:0]       data_o,
  output logic [$clog2(Depth):0] occupancy_o  /// Words held, the one at the output included.
);
  localparam int unsigned IndexBits = $clog2(Depth);

  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : g_check
    $fatal(1, "tidemill_stream_fifo: Depth must be a power of two");
  end

  logic [Width-1:0] ram [Depth];
  logic [IndexBits:0] write_q, read_q, count_q;
  logic valid_q, put, get, fetch;
  logic [Width-1:0] data_q;

  assign ready_o     = count_q != (IndexBits + 1)'(Depth);
  assign valid_o     = valid_q;
  assign data_o      = data_q;
  assign occupancy_o = count_q;
  assign put   = valid_i && ready_o && !rst_i;
  assign get   = valid_q && ready_i;
  assign fetch = write_q != read_q && (ready_i || !valid_q);

  always_ff @(posedge clk_i) begin
    if (put) ram[write_q[IndexBits-1:0]] <= data_i;
  end

  always_ff @(posedge clk_i) begin
    if (fetch) data_q <= ram[read_q[IndexBits-1:0]];
  end

  always_ff @(posedge clk_i) begin
    if (put) write_q <= write_q + 1'b1;
    if (fetch) read_q <= read_q + 1'b1;
    if (fetch || ready_i) valid_q <= fetch;
    if (put && !get) count_q <= count_q + 1'b1;
    if (get && !put) count_q <= count_q - 1'b1;
    if (rst_i) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
      valid_q <= 1'b0;
    end
  end

  logic [IndexBits:0] in_ram;
  assign in_ram = write_q - read_q;

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      no_overflow: assert (count_q <= (IndexBits + 1)'(Depth));
      ram_within_depth: assert (in_ram <= (IndexBits + 1)'(Depth));
      count_is_what_is_held: assert (count_q == in_ram + (IndexBits + 1)'(valid_q));
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
