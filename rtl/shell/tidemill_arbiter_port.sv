// SPDX-License-Identifier: Apache-2.0
// What goes into the send arbiter kernel and comes out of it. Events wait in turn (round robin): those of lanes, window
// credits, retries, wire credits of each QP (gathered into one event of many), and a grant while the kernel says that one
// is possible and its result has a place to go. One event is with the kernel, the next stands ready.
// After reset it opens the retry lanes, one for each QP of each bank. Latency 1 cycle each way.
`default_nettype none

module tidemill_arbiter_port #(
  parameter int unsigned Lanes = 1024,       /// Lanes of the host; retry lanes come after them.
  parameter int unsigned BankBits = 3,
  parameter int unsigned RetryWeight = 16,
  parameter int unsigned RetryClass = 1,
  localparam int unsigned LaneBits = $clog2(Lanes),
  localparam int unsigned RetryBits = BankBits + 1  // bank, QP
) (
  input  wire                  clk_i,
  input  wire                  rst_i,
  input  wire                  lane_event_valid_i,
  output logic                 lane_event_ready_o,
  input  wire  [63:0]          lane_event_i,
  input  wire                  window_valid_i,
  output logic                 window_ready_o,
  input  wire  [15:0]          window_lane_i,
  input  wire                  retry_valid_i,
  output logic                 retry_ready_o,
  input  wire  [RetryBits-1:0] retry_lane_i,
  input  wire  [1:0]           wire_credit_a_i,     /// A credit of each QP comes back: from an action,
  input  wire  [1:0]           wire_credit_b_i,     /// from a sent report.
  input  wire                  wire_credit_write_i, /// The host gives more.
  input  wire                  wire_credit_qp_i,
  input  wire  [15:0]          wire_credit_count_i,
  output logic                 grant_valid_o,       /// A lane of the host may send.
  input  wire                  grant_ready_i,
  output logic [LaneBits-1:0]  grant_lane_o,
  output logic [2:0]           grant_flags_o,       /// drain, counted, QP
  output logic                 again_valid_o,       /// The head of a retry queue may be sent.
  input  wire                  again_ready_i,
  output logic [RetryBits-1:0] again_lane_o,
  output logic                 event_valid_o,       /// To the kernel.
  input  wire                  event_ready_i,
  output logic [63:0]          event_o,
  input  wire                  action_valid_i,
  output logic                 action_ready_o,
  input  wire  [63:0]          action_i,
  output logic                 rejected_o,          /// One cycle: the kernel refused an event.
  output logic [15:0]          lane_events_o,       /// Lane events the kernel has answered so far.
  output logic [15:0]          grants_o,            /// Lanes of the host granted so far.
  output logic                 idle_o
);
  localparam int unsigned Sources = 6;
  typedef logic [Sources-1:0] sources_t;

  tidemill_abi::arbiter_event_t init_event, window_event, retry_event, wire0_event, wire1_event, grant_event;
  tidemill_abi::arbiter_action_t action;
  logic [RetryBits:0] init_q;
  logic initial_events, loads, grant_due_q, more_q, takes, answers;
  logic [1:0] in_kernel_q;  // events taken and not answered: at most one
  sources_t wants, above_q, turn, pick;
  logic [63:0] event_d;
  logic [15:0] credit0_q, credit1_q;

  assign initial_events = !init_q[RetryBits];
  assign action = action_i;

  function automatic logic [15:0] retry_lane(input logic [RetryBits-1:0] i);
    retry_lane = 16'(Lanes) + 16'(i);
  endfunction

  // Credits gather while there is something to grant without them: each event costs the kernel's time.
  function automatic logic credit_due(input logic [15:0] credit, input logic more);
    credit_due = credit >= 16'd8 || (credit != '0 && !more);
  endfunction

  always_comb begin
    init_event               = '0;
    init_event.kind          = tidemill_abi::ArbiterKindOpenLane;
    init_event.lane          = retry_lane(init_q[RetryBits-1:0]);
    init_event.qp            = init_q[0];
    init_event.service_class = 2'(RetryClass);
    init_event.weight        = 8'(RetryWeight);
    window_event       = '0;
    window_event.kind  = tidemill_abi::ArbiterKindWindowCredit;
    window_event.lane  = window_lane_i;
    retry_event        = '0;
    retry_event.kind   = tidemill_abi::ArbiterKindDoorbell;
    retry_event.lane   = retry_lane(retry_lane_i);
    retry_event.count  = 16'd1;
    wire0_event        = '0;
    wire0_event.kind   = tidemill_abi::ArbiterKindWireCredit;
    wire0_event.count  = credit0_q;
    wire1_event        = '0;
    wire1_event.kind   = tidemill_abi::ArbiterKindWireCredit;
    wire1_event.qp     = 1'b1;
    wire1_event.count  = credit1_q;
    grant_event        = '0;
    grant_event.kind   = tidemill_abi::ArbiterKindGrant;
  end

  assign wants = {more_q && !grant_due_q && !grant_valid_o && !again_valid_o, credit_due(credit1_q, more_q), credit_due(credit0_q, more_q),
                  retry_valid_i, window_valid_i, lane_event_valid_i};
  assign turn  = (wants & above_q) != '0 ? wants & above_q : wants;
  assign pick  = turn & (~turn + 1'b1);
  assign loads = (event_ready_i || !event_valid_o) && (initial_events || wants != '0);
  assign lane_event_ready_o = loads && !initial_events && pick[0];
  assign window_ready_o     = loads && !initial_events && pick[1];
  assign retry_ready_o      = loads && !initial_events && pick[2];

  always_comb begin
    event_d = init_event;
    if (!initial_events) begin
      event_d = '0;
      if (pick[0]) event_d = event_d | lane_event_i;
      if (pick[1]) event_d = event_d | window_event;
      if (pick[2]) event_d = event_d | retry_event;
      if (pick[3]) event_d = event_d | wire0_event;
      if (pick[4]) event_d = event_d | wire1_event;
      if (pick[5]) event_d = event_d | grant_event;
    end
  end

  assign takes   = event_valid_o && event_ready_i;
  assign answers = action_valid_i && action_ready_o;
  assign action_ready_o = 1'b1;
  assign rejected_o = answers && action.rejected;
  assign idle_o  = !initial_events && !event_valid_o && in_kernel_q == '0 && wants == '0 && !grant_valid_o && !again_valid_o;

  always_ff @(posedge clk_i) begin
    if (event_ready_i || !event_valid_o) begin
      event_valid_o <= loads;
      if (loads) event_o <= event_d;
    end
    if (loads && initial_events) init_q <= init_q + 1'b1;
    if (loads && !initial_events) begin
      above_q <= ~(pick | (pick - 1'b1));
      if (pick[5]) grant_due_q <= 1'b1;
    end
    credit0_q <= (loads && !initial_events && pick[3] ? '0 : credit0_q) + 16'(wire_credit_a_i[0]) + 16'(wire_credit_b_i[0])
               + (wire_credit_write_i && !wire_credit_qp_i ? wire_credit_count_i : '0);
    credit1_q <= (loads && !initial_events && pick[4] ? '0 : credit1_q) + 16'(wire_credit_a_i[1]) + 16'(wire_credit_b_i[1])
               + (wire_credit_write_i && wire_credit_qp_i ? wire_credit_count_i : '0);
    in_kernel_q <= in_kernel_q + 2'(takes) - 2'(answers);

    if (grant_ready_i) grant_valid_o <= 1'b0;
    if (again_ready_i) again_valid_o <= 1'b0;
    if (answers) more_q <= action.more;
    // Only the answer of a grant grants, and only one is out at a time.
    if (answers && grant_answer_q) grant_due_q <= 1'b0;
    if (answers && action.granted) begin
      grant_valid_o <= action.lane < 16'(Lanes);
      grant_lane_o  <= action.lane[LaneBits-1:0];
      grant_flags_o <= {action.drain, action.counted, action.qp};
      again_valid_o <= action.lane >= 16'(Lanes);
      again_lane_o  <= RetryBits'(action.lane - 16'(Lanes));
    end
    if (rst_i) begin
      event_valid_o <= 1'b0;
      init_q        <= '0;
      above_q       <= '0;
      grant_due_q   <= 1'b0;
      credit0_q     <= '0;
      credit1_q     <= '0;
      in_kernel_q   <= '0;
      grant_valid_o <= 1'b0;
      again_valid_o <= 1'b0;
      more_q        <= 1'b0;
    end
  end

  // Is the event that the kernel works on a grant?
  logic grant_answer_q, lane_answer_q, lane_event_q;
  tidemill_abi::arbiter_event_t event_out;
  assign event_out = event_o;
  always_ff @(posedge clk_i) begin
    if (loads) lane_event_q <= !initial_events && pick[0];
    if (takes) grant_answer_q <= event_out.kind == tidemill_abi::ArbiterKindGrant;
    if (takes) lane_answer_q <= lane_event_q;
    if (answers && lane_answer_q) lane_events_o <= lane_events_o + 1'b1;
    if (answers && action.granted && action.lane < 16'(Lanes)) grants_o <= grants_o + 1'b1;
    if (rst_i) begin
      lane_events_o <= '0;
      grants_o      <= '0;
    end
  end

  logic unused;
  assign unused = &{1'b0, action, event_out};

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_event_in_the_kernel: assert (in_kernel_q <= 2'd1 && !(answers && in_kernel_q == '0));
      only_grants_grant: assert (!(answers && action.granted) || grant_answer_q);
      result_has_a_place: assert (!(answers && action.granted) || (!grant_valid_o && !again_valid_o));
      if (!$past(rst_i) && $past(event_valid_o && !event_ready_i)) begin
        event_stable: assert (event_valid_o && event_o == $past(event_o));
      end
    end
  end
endmodule

`default_nettype wire
