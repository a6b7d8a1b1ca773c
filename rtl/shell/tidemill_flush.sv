// SPDX-License-Identifier: Apache-2.0
// Flushes agents, one after the other, in all banks at once; reports each with a flush_done completion once every bank
// has visited all its slots and what that brought has gone to the router.
`default_nettype none

module tidemill_flush #(
  parameter int unsigned Banks = 8,
  parameter int unsigned Depth = 16  /// Flushes that wait; a power of two.
) (
  input  wire              clk_i,
  input  wire              rst_i,
  input  wire              valid_i,
  output logic             ready_o,
  input  wire  [23:0]      agent_i,
  output logic             start_o,   /// One cycle, to all banks.
  output logic [23:0]      agent_o,
  input  wire  [Banks-1:0] busy_i,
  output logic             done_valid_o,
  input  wire              done_ready_i,
  output logic [255:0]     done_o,
  output logic             idle_o
);
  logic waiting, take;
  logic [23:0] agent;
  logic [$clog2(Depth):0] occupancy;
  // Going: the banks work. One more cycle lets their busy show.
  logic going_q, started_q;
  tidemill_abi::completion_t done;

  tidemill_stream_fifo #(.Width(24), .Depth(Depth)) i_agents (
    .clk_i, .rst_i, .valid_i, .ready_o, .data_i(agent_i),
    .valid_o(waiting), .ready_i(take), .data_o(agent), .occupancy_o(occupancy)
  );

  assign start_o = waiting && !going_q && !done_valid_o;
  assign take    = start_o;
  assign agent_o = agent;
  assign idle_o  = occupancy == '0 && !going_q && !done_valid_o;

  always_comb begin
    done       = '0;
    done.kind  = tidemill_abi::CompletionKindFlushDone;
    done.agent = agent_q;
  end
  assign done_o = done;

  logic [23:0] agent_q;
  always_ff @(posedge clk_i) begin
    started_q <= start_o;
    if (start_o) begin
      going_q <= 1'b1;
      agent_q <= agent;
    end
    if (done_ready_i) done_valid_o <= 1'b0;
    if (going_q && !started_q && busy_i == '0) begin
      going_q      <= 1'b0;
      done_valid_o <= 1'b1;
    end
    if (rst_i) begin
      going_q      <= 1'b0;
      started_q    <= 1'b0;
      done_valid_o <= 1'b0;
    end
  end
endmodule

`default_nettype wire
