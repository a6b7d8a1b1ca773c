// SPDX-License-Identifier: Apache-2.0
// A ring host to card: reads the lines that hold new entries and hands the entries on, in order.
// A line is 64 bytes; up to Lines of them are asked for ahead. Latency: 1 cycle from producer to request, 2 from line to entry;
// throughput one entry a cycle. A producer index beyond the end of the ring is refused and changes nothing.
// Area: Lines x 512 bits of LUT RAM. Reset stops the ring; start_i starts it at index 0.
`default_nettype none

module tidemill_ring_reader #(
  parameter int unsigned EntryBits = 256,  /// 128 or 256.
  parameter int unsigned Lines = 16        /// Read ahead; a power of two.
) (
  input  wire                  clk_i,
  input  wire                  rst_i,
  input  wire                  start_i,
  input  wire  [63:6]          base_i,
  input  wire  [4:0]           bits_i,             /// The ring has 2^bits_i entries.
  input  wire                  producer_write_i,
  input  wire  [31:0]          producer_i,
  output logic [31:0]          producer_o,
  output logic                 producer_refused_o, /// One cycle.
  output logic [31:0]          consumer_o,         /// Entries handed on.
  output logic                 read_valid_o,
  input  wire                  read_ready_i,
  output logic [63:6]          read_line_o,
  input  wire                  line_valid_i,       /// Never refused: there is room for what was asked for.
  input  wire  [511:0]         line_i,
  output logic                 valid_o,
  input  wire                  ready_i,
  output logic [EntryBits-1:0] data_o,
  output logic                 idle_o
);
  localparam int unsigned PerLine = 512 / EntryBits;
  localparam int unsigned PositionBits = $clog2(PerLine);
  localparam int unsigned LineBits = $clog2(Lines);

  logic started_q;
  logic [31:0] producer_q, asked_q, consumer_q, mask, index, ahead;
  logic [LineBits:0] ask_q, arrive_q, out_q;
  logic [511:0] lines [Lines];
  logic [2*PositionBits-1:0] spans [Lines];  // first and last position of a line's new entries
  logic [PositionBits-1:0] first, last, span_first, span_last, position, position_q;
  logic inside_q, take;
  logic [511:0] line;

  assign mask       = (32'd1 << bits_i) - 32'd1;
  assign index      = asked_q & mask;
  assign ahead      = producer_i - consumer_q;
  assign producer_o = producer_q;
  assign consumer_o = consumer_q;

  // The entries of one line are asked for together, as many as are there.
  assign first = asked_q[PositionBits-1:0];
  assign last  = (producer_q - asked_q) < 32'(PerLine) - 32'(first) ? producer_q[PositionBits-1:0] - 1'b1 : '1;
  assign read_valid_o = started_q && asked_q != producer_q && (ask_q - out_q) != (LineBits + 1)'(Lines);
  assign read_line_o  = base_i + (58'(index) >> PositionBits);

  assign {span_first, span_last} = spans[out_q[LineBits-1:0]];
  assign position = inside_q ? position_q : span_first;
  assign line     = lines[out_q[LineBits-1:0]];
  assign take     = out_q != arrive_q && (ready_i || !valid_o);
  assign idle_o   = asked_q == producer_q && ask_q == out_q && !valid_o;

  always_ff @(posedge clk_i) begin
    producer_refused_o <= 1'b0;
    if (producer_write_i) begin
      if (started_q && ahead <= mask + 32'd1) producer_q <= producer_i;
      else producer_refused_o <= 1'b1;
    end
    if (read_valid_o && read_ready_i) begin
      spans[ask_q[LineBits-1:0]] <= {first, last};
      ask_q   <= ask_q + 1'b1;
      asked_q <= asked_q + 32'(last) - 32'(first) + 32'd1;
    end
    if (line_valid_i) begin
      lines[arrive_q[LineBits-1:0]] <= line_i;
      arrive_q <= arrive_q + 1'b1;
    end
    if (take) begin
      data_o     <= line[32'(position)*EntryBits+:EntryBits];
      consumer_q <= consumer_q + 32'd1;
      position_q <= position + 1'b1;
      inside_q   <= position != span_last;
      if (position == span_last) out_q <= out_q + 1'b1;
    end
    if (ready_i || !valid_o) valid_o <= take;
    if (start_i) begin
      started_q  <= 1'b1;
      producer_q <= '0;
      asked_q    <= '0;
      consumer_q <= '0;
    end
    if (rst_i) begin
      started_q  <= 1'b0;
      producer_q <= '0;
      asked_q    <= '0;
      consumer_q <= '0;
      ask_q      <= '0;
      arrive_q   <= '0;
      out_q      <= '0;
      inside_q   <= 1'b0;
      valid_o    <= 1'b0;
      producer_refused_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      no_line_unasked: assert (!line_valid_i || arrive_q != ask_q);
      within_ring: assert (!started_q || producer_q - consumer_q <= mask + 32'd1);
      in_order: assert ((ask_q - out_q) <= (LineBits + 1)'(Lines) && (arrive_q - out_q) <= (ask_q - out_q));
      if (!$past(rst_i) && $past(read_valid_o && !read_ready_i && !start_i)) begin
        request_stays: assert (read_valid_o && read_line_o == $past(read_line_o));
      end
      if (!$past(rst_i) && $past(valid_o && !ready_i)) begin
        output_stable: assert (valid_o && data_o == $past(data_o));
      end
    end
  end
endmodule

`default_nettype wire
