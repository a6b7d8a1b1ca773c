// SPDX-License-Identifier: Apache-2.0
// One response for each request, of the same data and code; a register access for each, done once.
`default_nettype none

module proof (
  input wire clk_i,
  input wire reset_i,
  input wire awvalid_i,
  input wire [3:0] awaddr_i,
  input wire wvalid_i,
  input wire [31:0] wdata_i,
  input wire [3:0] wstrb_i,
  input wire bready_i,
  input wire arvalid_i,
  input wire [3:0] araddr_i,
  input wire rready_i,
  input wire write_done_i,
  input wire [1:0] write_response_i,
  input wire read_done_i,
  input wire [31:0] read_data_i,
  input wire [1:0] read_response_i
);
  // Reset in the first cycle, then whenever the solver likes.
  logic started_q = 1'b0;
  logic rst;
  assign rst = reset_i || !started_q;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic awready, wready, bvalid, arready, rvalid, write, read;
  logic [1:0] bresp, rresp;
  logic [31:0] rdata, write_data;
  logic [3:0] write_address, write_strobe, read_address;
  tidemill_axi_lite_slave #(.AddressWidth(4)) dut (
    .clk_i, .rst_i(rst), .awvalid_i, .awready_o(awready), .awaddr_i, .wvalid_i, .wready_o(wready), .wdata_i, .wstrb_i,
    .bvalid_o(bvalid), .bready_i, .bresp_o(bresp), .arvalid_i, .arready_o(arready), .araddr_i, .rvalid_o(rvalid),
    .rready_i, .rdata_o(rdata), .rresp_o(rresp), .reg_write_o(write), .reg_write_address_o(write_address),
    .reg_write_data_o(write_data), .reg_write_strobe_o(write_strobe), .reg_write_done_i(write_done_i),
    .reg_write_response_i(write_response_i), .reg_read_o(read), .reg_read_address_o(read_address),
    .reg_read_done_i(read_done_i), .reg_read_data_i(read_data_i), .reg_read_response_i(read_response_i)
  );

  // What is on its way, kept apart from the slave.
  logic aw_q, w_q, b_q, ar_q, r_q;
  logic [3:0] awaddr_q, wstrb_q, araddr_q;
  logic [31:0] wdata_q, rdata_q;
  logic [1:0] bresp_q, rresp_q;
  always_ff @(posedge clk_i) begin
    if (awvalid_i && awready) {aw_q, awaddr_q} <= {1'b1, awaddr_i};
    if (wvalid_i && wready) {w_q, wdata_q, wstrb_q} <= {1'b1, wdata_i, wstrb_i};
    if (arvalid_i && arready) {ar_q, araddr_q} <= {1'b1, araddr_i};
    if (write && write_done_i) {aw_q, w_q, b_q, bresp_q} <= {3'b001, write_response_i};
    if (read && read_done_i) {ar_q, r_q, rdata_q, rresp_q} <= {2'b01, read_data_i, read_response_i};
    if (bvalid && bready_i) b_q <= 1'b0;
    if (rvalid && rready_i) r_q <= 1'b0;
    if (rst) {aw_q, w_q, b_q, ar_q, r_q} <= '0;
    if (!rst) begin
      write_when_both_came: assert (write == (aw_q && w_q));
      read_when_asked: assert (read == ar_q);
      one_response_each: assert (bvalid == b_q && rvalid == r_q);
      one_outstanding_and_never_stuck: assert (awready == !(aw_q || b_q) && wready == !(w_q || b_q)
        && arready == !(ar_q || r_q));
      if (write) begin
        write_as_asked: assert (write_address == awaddr_q && write_data == wdata_q && write_strobe == wstrb_q);
      end
      if (read) begin
        read_as_asked: assert (read_address == araddr_q);
      end
      if (bvalid) begin
        write_response_passed_on: assert (bresp == bresp_q);
      end
      if (rvalid) begin
        read_response_passed_on: assert (rdata == rdata_q && rresp == rresp_q);
      end
    end
  end

endmodule

`default_nettype wire
