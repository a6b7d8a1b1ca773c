// SPDX-License-Identifier: Apache-2.0
// Flushes agents, one after the other, in all banks at once; reports each with a flush_done completion once every bank
// has visited all its slots and what that brought has gone to the router.
// It begins behind what came before it: lane commands that stood ahead of the flush have reached the arbiter, and the
// descriptors granted until then their banks. So a lane that is closed first is flushed whole.
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
  input  wire  [15:0]      events_i,      /// Counts, all modulo 2^16: events of lanes so far,
  input  wire  [15:0]      events_done_i, /// those the arbiter has answered,
  input  wire  [15:0]      grants_i,      /// descriptors granted,
  input  wire  [15:0]      answered_i,    /// those their banks have answered.
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
  typedef enum logic [2:0] {Settle0, Settle1, Settle2, Events, Grants, Ready} fence_e;
  fence_e fence_q;
  logic [15:0] mark_q, events_left, grants_left;
  tidemill_abi::completion_t done;

  tidemill_stream_fifo #(.Width(24), .Depth(Depth)) i_agents (
    .clk_i, .rst_i, .valid_i, .ready_o, .data_i(agent_i),
    .valid_o(waiting), .ready_i(take), .data_o(agent), .occupancy_o(occupancy)
  );

  // Reached when the count has come to the mark or gone past it.
  assign events_left = events_done_i - mark_q;
  assign grants_left = answered_i - mark_q;
  assign start_o = fence_q == Ready && waiting && !going_q && !done_valid_o;
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
  logic unused;
  assign unused = &{1'b0, events_left, grants_left};

  always_ff @(posedge clk_i) begin
    case (fence_q)
      // A lane command ahead needs two cycles to be counted.
      Settle0: if (waiting) fence_q <= Settle1;
      Settle1: fence_q <= Settle2;
      Settle2: begin
        fence_q <= Events;
        mark_q  <= events_i;
      end
      Events: if (!events_left[15]) begin
        fence_q <= Grants;
        mark_q  <= grants_i;
      end
      Grants: if (!grants_left[15]) fence_q <= Ready;
      default: if (start_o) fence_q <= Settle0;
    endcase
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
      fence_q      <= Settle0;
      going_q      <= 1'b0;
      started_q    <= 1'b0;
      done_valid_o <= 1'b0;
    end
  end
endmodule

`default_nettype wire
