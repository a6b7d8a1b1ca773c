// SPDX-License-Identifier: Apache-2.0
// What the shell knows of each lane: its send ring, the producer index the host wrote last (producer), the one the arbiter
// was told of (told), and how many descriptors were fetched. One operation in two cycles; grants go first, then commands,
// doorbells, visits.
// No doorbell is lost: a doorbell stores its index and puts the lane into the queue of visits unless it stands there; a
// visit leaves the queue before it reads the index, and tells the arbiter of all that is new. A doorbell that comes
// before its lane is open waits in the table: opening a lane visits it. Closing a lane tells the arbiter of what was posted
// before, so that it is drained; what comes after belongs to the next opening.
// Reset clears the table, a lane a cycle, before anything is taken.
`default_nettype none

module tidemill_lane_table #(
  parameter int unsigned Lanes = 1024,  /// A power of two.
  localparam int unsigned LaneBits = $clog2(Lanes)
) (
  input  wire                 clk_i,
  input  wire                 rst_i,
  input  wire                 doorbell_valid_i,
  output logic                doorbell_ready_o,
  input  wire  [LaneBits-1:0] doorbell_lane_i,
  input  wire  [31:0]         doorbell_producer_i,
  input  wire                 command_valid_i,
  output logic                command_ready_o,
  input  wire  [255:0]        command_i,          /// open_lane, close_lane or weigh_lane of a lane that exists.
  input  wire                 grant_valid_i,
  output logic                grant_ready_o,
  input  wire  [LaneBits-1:0] grant_lane_i,
  input  wire  [2:0]          grant_flags_i,      /// drain, counted, QP
  output logic                fetch_valid_o,      /// The head descriptor of a granted lane.
  input  wire                 fetch_ready_i,
  output logic [63:6]         fetch_line_o,
  output logic [LaneBits-1:0] fetch_lane_o,
  output logic [2:0]          fetch_flags_o,
  output logic [31:0]         fetch_index_o,      /// Descriptors fetched from the lane, this one included.
  output logic                event_valid_o,
  input  wire                 event_ready_i,
  output logic [63:0]         event_o,            /// For the arbiter.
  output logic [15:0]         events_o,           /// Events so far, the one that is offered included.
  output logic                doorbell_refused_o, /// One cycle.
  output logic                command_refused_o,  /// One cycle.
  output logic                idle_o
);
  typedef enum logic [2:0] {OpNone, OpGrant, OpCommand, OpDoorbell, OpVisit} op_e;

  logic [31:0] producers [Lanes];
  logic [31:0] tolds [Lanes];
  logic [31:0] fetcheds [Lanes];
  logic [64:0] rings [Lanes];  // closing, open, log2 of the entries, address

  logic clearing_q;
  logic [LaneBits-1:0] clear_q;
  op_e op, op_q;
  logic [LaneBits-1:0] lane, lane_q, queue_lane;
  logic [31:0] producer_q, told_q, fetched_q, given_q;
  logic [64:0] ring_q;
  logic [2:0] flags_q;
  logic [Lanes-1:0] queued_q;
  logic queue_put, queue_put_ready, queue_valid, queue_take, fetch_free, event_free;
  logic [LaneBits:0] queue_occupancy;
  tidemill_abi::command_t command_q;
  tidemill_abi::arbiter_event_t told_event, lane_event;

  // ------------------------------------------------------------ first cycle: what is next, and its row
  assign fetch_free = !fetch_valid_o || fetch_ready_i;
  assign event_free = !event_valid_o || event_ready_i;

  always_comb begin
    op   = OpNone;
    lane = queue_lane;
    if (!clearing_q && op_q == OpNone) begin
      if (grant_valid_i && fetch_free) begin
        op   = OpGrant;
        lane = grant_lane_i;
      end else if (command_valid_i && event_free) begin
        op   = OpCommand;
        lane = command_i[96+:LaneBits];
      end else if (doorbell_valid_i) begin
        op   = OpDoorbell;
        lane = doorbell_lane_i;
      end else if (queue_valid && event_free) begin
        op = OpVisit;
      end
    end
  end

  assign grant_ready_o    = op == OpGrant;
  assign command_ready_o  = op_q == OpCommand && !tells_first;
  assign doorbell_ready_o = op == OpDoorbell;
  assign queue_take       = op == OpVisit;

  always_ff @(posedge clk_i) begin
    op_q      <= op;
    lane_q    <= lane;
    command_q <= command_i;
    given_q   <= doorbell_producer_i;
    flags_q   <= grant_flags_i;
    if (rst_i) op_q <= OpNone;
  end
  always_ff @(posedge clk_i) if (op != OpNone) producer_q <= producers[lane];
  always_ff @(posedge clk_i) if (op != OpNone) told_q <= tolds[lane];
  always_ff @(posedge clk_i) if (op != OpNone) fetched_q <= fetcheds[lane];
  always_ff @(posedge clk_i) if (op != OpNone) ring_q <= rings[lane];

  // ------------------------------------------------------------ second cycle: carry it out
  logic open, closing, opens, closes, weighs, legal;
  logic [4:0] bits;
  logic [57:0] base;
  logic [31:0] mask, head, fresh, telling, reach;
  logic tells, tells_first, in_ring;

  assign {closing, open, bits, base} = ring_q;
  assign mask    = (32'd1 << bits) - 32'd1;
  assign head    = fetched_q & mask;
  assign fresh   = producer_q - told_q;
  assign reach   = producer_q - fetched_q;
  assign in_ring  = reach <= mask + 32'd1;
  assign telling = fresh > 32'hffff ? 32'hffff : fresh;
  // A close finds what no visit has told yet: it tells that and is done the next time.
  assign tells_first = op_q == OpCommand && closes && open && !closing && in_ring && fresh != '0;
  assign tells   = (op_q == OpVisit && open && !closing && in_ring && fresh != '0) || tells_first;

  assign opens  = command_q.kind == tidemill_abi::CommandKindOpenLane;
  assign closes = command_q.kind == tidemill_abi::CommandKindCloseLane;
  assign weighs = command_q.kind == tidemill_abi::CommandKindWeighLane;
  assign legal  = (opens && (!open || (closing && told_q == fetched_q)) && command_q.weight != '0 && command_q.ring[5:0] == '0
                   && command_q.ring_bits <= 5'd16)
               || (closes && open && !closing) || (weighs && open && !closing && command_q.weight != '0);

  always_comb begin
    lane_event               = '0;
    lane_event.lane          = 16'(lane_q);
    lane_event.kind          = opens ? tidemill_abi::ArbiterKindOpenLane
                             : closes ? tidemill_abi::ArbiterKindCloseLane : tidemill_abi::ArbiterKindWeighLane;
    lane_event.qp            = command_q.qp;
    lane_event.service_class = command_q.service_class;
    lane_event.weight        = command_q.weight;
    lane_event.count         = command_q.window;
    told_event               = '0;
    told_event.lane          = 16'(lane_q);
    told_event.kind          = tidemill_abi::ArbiterKindDoorbell;
    told_event.count         = telling[15:0];
  end

  // A lane stands in the queue once; a visit that could not tell all comes again.
  assign queue_put = ((op_q == OpDoorbell || (op_q == OpCommand && opens && legal)) && !queued_q[lane_q])
                  || (tells && !tells_first && fresh != telling);

  tidemill_stream_fifo #(.Width(LaneBits), .Depth(Lanes)) i_queue (
    .clk_i, .rst_i, .valid_i(queue_put), .ready_o(queue_put_ready), .data_i(lane_q),
    .valid_o(queue_valid), .ready_i(queue_take), .data_o(queue_lane), .occupancy_o(queue_occupancy)
  );

  always_ff @(posedge clk_i) begin
    doorbell_refused_o <= op_q == OpVisit && open && !closing && !in_ring;
    command_refused_o  <= op_q == OpCommand && !legal;
    if (fetch_ready_i) fetch_valid_o <= 1'b0;
    if (op_q == OpGrant) begin
      fetch_valid_o <= 1'b1;
      fetch_line_o  <= base + 58'(head);
      fetch_lane_o  <= lane_q;
      fetch_flags_o <= flags_q;
      fetch_index_o <= fetched_q + 32'd1;
    end
    if (event_ready_i) event_valid_o <= 1'b0;
    if (op_q == OpCommand && legal && !tells_first) begin
      event_valid_o <= 1'b1;
      event_o       <= lane_event;
    end
    if (tells) begin
      event_valid_o <= 1'b1;
      event_o       <= told_event;
    end
    if ((op_q == OpCommand && legal && !tells_first) || tells) events_o <= events_o + 1'b1;
    if (op == OpVisit) queued_q[lane] <= 1'b0;
    if (queue_put) queued_q[lane_q] <= 1'b1;
    clearing_q <= clearing_q && clear_q != '1;
    clear_q    <= clear_q + 1'b1;
    if (rst_i) begin
      clearing_q         <= 1'b1;
      clear_q            <= '0;
      queued_q           <= '0;
      fetch_valid_o      <= 1'b0;
      event_valid_o      <= 1'b0;
      events_o           <= '0;
      doorbell_refused_o <= 1'b0;
      command_refused_o  <= 1'b0;
    end
  end

  logic ring_write;
  logic [64:0] ring;
  assign ring_write = op_q == OpCommand && legal && !weighs && !tells_first;
  assign ring       = opens ? {1'b0, 1'b1, command_q.ring_bits, command_q.ring[63:6]} : {1'b1, ring_q[63:0]};

  always_ff @(posedge clk_i) begin
    if (clearing_q || op_q == OpDoorbell) producers[clearing_q ? clear_q : lane_q] <= clearing_q ? '0 : given_q;
  end
  always_ff @(posedge clk_i) begin
    if (clearing_q || tells) tolds[clearing_q ? clear_q : lane_q] <= clearing_q ? '0 : told_q + telling;
  end
  always_ff @(posedge clk_i) begin
    if (clearing_q || op_q == OpGrant) fetcheds[clearing_q ? clear_q : lane_q] <= clearing_q ? '0 : fetched_q + 32'd1;
  end
  always_ff @(posedge clk_i) begin
    if (clearing_q || ring_write) rings[clearing_q ? clear_q : lane_q] <= clearing_q ? '0 : ring;
  end

  assign idle_o = !clearing_q && op_q == OpNone && queue_occupancy == '0 && !fetch_valid_o && !event_valid_o;

  logic unused;
  assign unused = &{1'b0, command_q};

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      queue_never_full: assert (!queue_put || queue_put_ready);
      grants_have_work: assert (op_q != OpGrant || told_q != fetched_q);
      told_within_ring: assert (op_q != OpVisit || !open || told_q - fetched_q <= mask + 32'd1);
    end
  end
endmodule

`default_nettype wire
