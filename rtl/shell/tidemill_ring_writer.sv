// SPDX-License-Identifier: Apache-2.0
// A ring card to host: puts entries into lines of 64 bytes and writes them with byte strobes. While a line waits for the
// bus, the next entries gather in the line behind it, so that several go in one beat under load and none waits without.
// Each entry carries the lap bit: 1 in the first lap. The host has made the ring as long as there can be entries.
// Latency: 2 cycles from entry to line; throughput one entry a cycle. Reset stops the ring; start_i starts it at index 0.
`default_nettype none

module tidemill_ring_writer #(
  parameter int unsigned EntryBits = 256,  /// 128 or 256.
  parameter int unsigned OwnerBit = 224    /// Place of the lap bit in an entry.
) (
  input  wire                  clk_i,
  input  wire                  rst_i,
  input  wire                  start_i,
  input  wire  [63:6]          base_i,
  input  wire  [4:0]           bits_i,       /// The ring has 2^bits_i entries.
  output logic [31:0]          producer_o,   /// Entries put into lines.
  input  wire                  valid_i,
  output logic                 ready_o,
  input  wire  [EntryBits-1:0] data_i,
  output logic                 write_valid_o,
  input  wire                  write_ready_i,
  output logic [63:6]          write_line_o,
  output logic [511:0]         write_data_o,
  output logic [63:0]          write_strobe_o,
  output logic                 idle_o
);
  localparam int unsigned PerLine = 512 / EntryBits;
  localparam int unsigned PositionBits = $clog2(PerLine);
  localparam int unsigned EntryBytes = EntryBits / 8;

  logic started_q, lap, put, full, pass, gathering_q;
  logic [31:0] producer_q, mask, index;
  logic [PositionBits-1:0] position;
  logic [63:6] line_q;
  logic [511:0] gather_q;
  logic [63:0] strobe_q;
  logic [EntryBits-1:0] entry;

  assign mask       = (32'd1 << bits_i) - 32'd1;
  assign index      = producer_q & mask;
  assign lap        = !producer_q[bits_i];
  assign position   = producer_q[PositionBits-1:0];
  assign producer_o = producer_q;
  assign entry      = (data_i & ~(EntryBits'(1) << OwnerBit)) | (EntryBits'(lap) << OwnerBit);

  // The line that gathers goes on when the one at the bus has gone; a full one takes no more.
  assign full    = gathering_q && strobe_q[63];
  assign pass    = gathering_q && (write_ready_i || !write_valid_o);
  assign ready_o = started_q && (!full || pass);
  assign put     = valid_i && ready_o;
  assign idle_o  = !gathering_q && !write_valid_o;

  always_ff @(posedge clk_i) begin
    if (write_ready_i || !write_valid_o) write_valid_o <= gathering_q;
    if (pass) begin
      write_line_o   <= line_q;
      write_data_o   <= gather_q;
      write_strobe_o <= strobe_q;
      gathering_q    <= 1'b0;
      strobe_q       <= '0;
    end
    if (put) begin
      gather_q[32'(position)*EntryBits+:EntryBits] <= entry;
      strobe_q[32'(position)*EntryBytes+:EntryBytes] <= '1;
      line_q      <= base_i + (58'(index) >> PositionBits);
      gathering_q <= 1'b1;
      producer_q  <= producer_q + 32'd1;
    end
    if (start_i) begin
      started_q  <= 1'b1;
      producer_q <= '0;
    end
    if (rst_i) begin
      started_q     <= 1'b0;
      producer_q    <= '0;
      gathering_q   <= 1'b0;
      strobe_q      <= '0;
      write_valid_o <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i) && $past(write_valid_o && !write_ready_i)) begin
      line_stable: assert (write_valid_o && write_line_o == $past(write_line_o) && write_data_o == $past(write_data_o)
        && write_strobe_o == $past(write_strobe_o));
    end
  end
endmodule

`default_nettype wire
