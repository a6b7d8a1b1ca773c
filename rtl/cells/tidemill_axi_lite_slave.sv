// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite slave to a plain register port. One read and one write outstanding, independent of each other.
// The register side holds reg_*_done_i low as long as it needs; its response (OKAY, SLVERR, DECERR) goes on the bus.
// Latency: request to register port 1 cycle, done to response 1 cycle; one write in 3 cycles, one read in 3 cycles at best.
// ready and valid come from registers. Reset drops what is outstanding.
`default_nettype none

module tidemill_axi_lite_slave #(
  parameter int unsigned AddressWidth = 16  /// Bits of a byte address.
) (
  input  wire                     clk_i,
  input  wire                     rst_i,
  input  wire                     awvalid_i,
  output logic                    awready_o,
  input  wire  [AddressWidth-1:0] awaddr_i,
  input  wire                     wvalid_i,
  output logic                    wready_o,
  input  wire  [31:0]             wdata_i,
  input  wire  [3:0]              wstrb_i,
  output logic                    bvalid_o,
  input  wire                     bready_i,
  output logic [1:0]              bresp_o,
  input  wire                     arvalid_i,
  output logic                    arready_o,
  input  wire  [AddressWidth-1:0] araddr_i,
  output logic                    rvalid_o,
  input  wire                     rready_i,
  output logic [31:0]             rdata_o,
  output logic [1:0]              rresp_o,
  output logic                    reg_write_o,        /// A write to do; held until done.
  output logic [AddressWidth-1:0] reg_write_address_o,
  output logic [31:0]             reg_write_data_o,
  output logic [3:0]              reg_write_strobe_o,
  input  wire                     reg_write_done_i,
  input  wire  [1:0]              reg_write_response_i,
  output logic                    reg_read_o,         /// A read to do; held until done.
  output logic [AddressWidth-1:0] reg_read_address_o,
  input  wire                     reg_read_done_i,
  input  wire  [31:0]             reg_read_data_i,
  input  wire  [1:0]              reg_read_response_i
);
  logic aw_q, w_q, b_q, ar_q, r_q;

  assign awready_o   = !aw_q && !b_q;
  assign wready_o    = !w_q && !b_q;
  assign bvalid_o    = b_q;
  assign reg_write_o = aw_q && w_q;
  assign arready_o   = !ar_q && !r_q;
  assign rvalid_o    = r_q;
  assign reg_read_o  = ar_q;

  always_ff @(posedge clk_i) begin
    if (awvalid_i && awready_o) begin
      aw_q                <= 1'b1;
      reg_write_address_o <= awaddr_i;
    end
    if (wvalid_i && wready_o) begin
      w_q                <= 1'b1;
      reg_write_data_o   <= wdata_i;
      reg_write_strobe_o <= wstrb_i;
    end
    if (reg_write_o && reg_write_done_i) begin
      aw_q    <= 1'b0;
      w_q     <= 1'b0;
      b_q     <= 1'b1;
      bresp_o <= reg_write_response_i;
    end
    if (b_q && bready_i) b_q <= 1'b0;
    if (rst_i) begin
      aw_q <= 1'b0;
      w_q  <= 1'b0;
      b_q  <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (arvalid_i && arready_o) begin
      ar_q               <= 1'b1;
      reg_read_address_o <= araddr_i;
    end
    if (reg_read_o && reg_read_done_i) begin
      ar_q    <= 1'b0;
      r_q     <= 1'b1;
      rdata_o <= reg_read_data_i;
      rresp_o <= reg_read_response_i;
    end
    if (r_q && rready_i) r_q <= 1'b0;
    if (rst_i) begin
      ar_q <= 1'b0;
      r_q  <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_write: assert (!b_q || !(aw_q || w_q));
      one_read: assert (!r_q || !ar_q);
      if (!$past(rst_i)) begin
        if ($past(bvalid_o && !bready_i)) begin
          b_stable: assert (bvalid_o && bresp_o == $past(bresp_o));
        end
        if ($past(rvalid_o && !rready_i)) begin
          r_stable: assert (rvalid_o && rdata_o == $past(rdata_o) && rresp_o == $past(rresp_o));
        end
        if ($past(reg_write_o && !reg_write_done_i)) begin
          write_stable: assert (reg_write_o && reg_write_address_o == $past(reg_write_address_o)
            && reg_write_data_o == $past(reg_write_data_o) && reg_write_strobe_o == $past(reg_write_strobe_o));
        end
        if ($past(reg_read_o && !reg_read_done_i)) begin
          read_stable: assert (reg_read_o && reg_read_address_o == $past(reg_read_address_o));
        end
      end
    end
  end
endmodule

`default_nettype wire
