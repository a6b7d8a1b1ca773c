// SPDX-License-Identifier: Apache-2.0
// What goes into one bank kernel and comes out of it: queues in front, one event with the kernel at a time, in turn (round
// robin) descriptor, retry, sent, received, command, tick step, flush step. An event that the bank asks to see again goes
// back at once, with the action's cursor and cause and the hash of its TID; a flush step comes again in its turn.
// A tick step is made only when the bank's first timer has come. Slots lose their low bits, the bank's number, on the way in
// and get them back on the way out.
// Latency 1 cycle from queue to kernel, 1 from action to router; the queues for descriptors and responses take 2, the others 1.
`default_nettype none

module tidemill_bank_port #(
  parameter int unsigned BankBits = 3,
  parameter int unsigned QueueDepth = 8  /// Descriptors and responses that wait; a power of two.
) (
  input  wire                 clk_i,
  input  wire                 rst_i,
  input  wire  [31:0]         now_i,
  input  wire  [BankBits-1:0] number_i,
  input  wire                 descriptor_valid_i,
  output logic                descriptor_ready_o,
  input  wire  [383:0]        descriptor_i,        /// hash, five words of a descriptor
  input  wire                 received_valid_i,
  output logic                received_ready_o,
  input  wire  [255:0]        received_i,          /// hash, three words of a received header
  input  wire                 sent_valid_i,
  output logic                sent_ready_o,
  input  wire  [63:0]         sent_i,              /// first word of a sent report
  input  wire                 command_valid_i,
  output logic                command_ready_o,
  input  wire  [95:0]         command_i,           /// ticks, first word of a command
  input  wire                 retry_valid_i,
  output logic                retry_ready_o,
  input  wire                 retry_qp_i,
  input  wire                 flush_start_i,       /// One cycle; busy until the last step's action has gone out.
  input  wire  [23:0]         flush_agent_i,
  output logic                flush_busy_o,
  output logic                rehash_valid_o,
  input  wire                 rehash_ready_i,
  output logic [63:0]         rehash_tid_o,
  input  wire                 rehashed_valid_i,
  input  wire  [63:0]         rehashed_i,
  output logic                event_valid_o,       /// To the kernel.
  input  wire                 event_ready_i,
  output logic [511:0]        event_o,
  input  wire                 action_valid_i,
  output logic                action_ready_o,
  input  wire  [255:0]        action_i,
  output logic                valid_o,             /// To the router.
  input  wire                 ready_i,
  output logic [255:0]        action_o,
  output logic                sent_o,              /// The action answers a sent report that was not rejected.
  output logic                descriptor_o,        /// The action answers a descriptor.
  output logic                no_room_o,           /// The try was put off because the matcher was full.
  output logic                event_done_o,        /// One cycle for each event, for counting.
  output logic [31:0]         wake_o,              /// First tick at which the bank has timer work.
  output logic [7:0]          descriptors_o,       /// That wait.
  output logic [7:0]          responses_o,         /// That wait.
  output logic                quiet_o,             /// Nothing but timers.
  output logic                idle_o
);
  localparam int unsigned Sources = 7;

  typedef enum logic [2:0] {Idle, Event, Action, Rehash, Rehashed} state_e;

  state_e state_q;
  logic d_valid, r_valid, s_valid, c_valid, g_valid, g_qp;
  logic d_ready, r_ready, s_ready, c_ready, g_ready;
  logic [383:0] d;
  logic [255:0] r;
  logic [63:0] s;
  logic [95:0] c;
  logic [$clog2(QueueDepth):0] d_occupancy, r_occupancy;

  tidemill_stream_fifo #(.Width(384), .Depth(QueueDepth)) i_descriptors (
    .clk_i, .rst_i, .valid_i(descriptor_valid_i), .ready_o(descriptor_ready_o), .data_i(descriptor_i),
    .valid_o(d_valid), .ready_i(d_ready), .data_o(d), .occupancy_o(d_occupancy)
  );
  tidemill_stream_fifo #(.Width(256), .Depth(QueueDepth)) i_received (
    .clk_i, .rst_i, .valid_i(received_valid_i), .ready_o(received_ready_o), .data_i(received_i),
    .valid_o(r_valid), .ready_i(r_ready), .data_o(r), .occupancy_o(r_occupancy)
  );
  tidemill_stream_skid #(.Width(64)) i_sent (
    .clk_i, .rst_i, .valid_i(sent_valid_i), .ready_o(sent_ready_o), .data_i(sent_i),
    .valid_o(s_valid), .ready_i(s_ready), .data_o(s)
  );
  tidemill_stream_skid #(.Width(96)) i_commands (
    .clk_i, .rst_i, .valid_i(command_valid_i), .ready_o(command_ready_o), .data_i(command_i),
    .valid_o(c_valid), .ready_i(c_ready), .data_o(c)
  );
  tidemill_stream_skid #(.Width(1)) i_retries (
    .clk_i, .rst_i, .valid_i(retry_valid_i), .ready_o(retry_ready_o), .data_i(retry_qp_i),
    .valid_o(g_valid), .ready_i(g_ready), .data_o(g_qp)
  );

  // ------------------------------------------------------------ what is next
  tidemill_abi::action_t action, out;
  tidemill_abi::event_t event_q, next;
  tidemill_abi::received_t header;
  tidemill_abi::sent_t report;
  tidemill_abi::command_t command;
  logic [31:0] wake_q, wake, ticks_left;
  logic flushing_q, answers, again, picks, tick_due;
  logic [15:0] cursor_q;
  logic [23:0] flush_agent_q;
  logic [Sources-1:0] wants, above_q, turn, pick;

  assign action  = action_i;
  assign answers = state_q == Action && action_valid_i && action_ready_o;
  assign again   = action.again && event_q.kind != tidemill_abi::EventKindFlush;
  assign action_ready_o = state_q == Action && (ready_i || !valid_o);

  assign wake       = answers ? action.wake : wake_q;
  assign ticks_left = now_i - wake;
  assign tick_due   = !ticks_left[31];
  // The step that has just been answered may have ended the flush: it waits for the next choice.
  assign wants = {flushing_q && !answers, tick_due, c_valid, r_valid, s_valid, g_valid, d_valid};
  assign turn  = (wants & above_q) != '0 ? wants & above_q : wants;
  assign pick  = turn & (~turn + 1'b1);
  assign picks = (state_q == Idle || (answers && !again)) && wants != '0;
  assign d_ready = picks && pick[0];
  assign g_ready = picks && pick[1];
  assign s_ready = picks && pick[2];
  assign r_ready = picks && pick[3];
  assign c_ready = picks && pick[4];

  assign header  = {64'd0, r[191:0]};
  assign report  = {64'd0, s};
  assign command = {128'd0, 32'd0, c};

  always_comb begin
    next = '0;
    if (pick[0]) begin
      next      = {128'd0, d};
      next.kind = tidemill_abi::EventKindDescriptor;
      next.slot = next.slot >> BankBits;
    end
    if (pick[1]) begin
      next.kind = tidemill_abi::EventKindGrant;
      next.qp   = g_qp;
    end
    if (pick[2]) begin
      next.kind       = tidemill_abi::EventKindSent;
      next.slot       = report.slot >> BankBits;
      next.generation = report.generation;
      next.status     = report.status;
      next.vendor     = report.vendor;
      next.recovery   = report.recovery;
    end
    if (pick[3]) begin
      next.kind        = tidemill_abi::EventKindReceived;
      next.tid         = header.tid;
      next.hash        = r[255:192];
      next.mgmt_class  = header.mgmt_class;
      next.buffer      = header.buffer;
      next.own_address = header.own_address;
      next.peer        = header.peer;
      next.port        = header.port;
      next.qp          = header.qp;
      next.grh         = header.grh;
      next.rmpp        = header.rmpp;
    end
    if (pick[4]) begin
      next.kind       = command.kind == tidemill_abi::CommandKindModify ? tidemill_abi::EventKindModify
                      : command.kind == tidemill_abi::CommandKindDeadline ? tidemill_abi::EventKindDeadline
                      : tidemill_abi::EventKindCancel;
      next.slot       = command.slot >> BankBits;
      next.generation = command.generation;
      next.agent      = command.agent;
      next.timeout    = command.ticks;
      next.deadline   = command.ticks;
    end
    if (pick[5]) next.kind = tidemill_abi::EventKindTick;
    if (pick[6]) begin
      next.kind   = tidemill_abi::EventKindFlush;
      next.agent  = flush_agent_q;
      next.cursor = cursor_q;
    end
    next.now = now_i;
  end

  // ------------------------------------------------------------ one event after the other
  always_comb begin
    out      = action;
    out.slot = (action.slot << BankBits) | 16'(number_i);
  end

  assign event_valid_o  = state_q == Event;
  assign event_o        = event_q;
  assign rehash_valid_o = state_q == Rehash;
  assign rehash_tid_o   = event_q.tid;
  assign event_done_o   = answers;
  assign wake_o         = wake_q;
  assign descriptors_o  = 8'(d_occupancy);
  assign responses_o    = 8'(r_occupancy);

  always_ff @(posedge clk_i) begin
    if (ready_i) valid_o <= 1'b0;
    if (picks) begin
      event_q <= next;
      above_q <= ~(pick | (pick - 1'b1));
    end
    case (state_q)
      Idle: if (picks) state_q <= Event;
      Event: if (event_ready_i) state_q <= Action;
      Action: if (answers) begin
        wake_q  <= action.wake;
        state_q <= again ? Rehash : picks ? Event : Idle;
        if (again) begin
          event_q.cursor <= action.cursor;
          event_q.cause  <= action.cause;
          event_q.tid    <= action.tid;
        end else begin
          valid_o   <= 1'b1;
          action_o  <= out;
          descriptor_o <= event_q.kind == tidemill_abi::EventKindDescriptor;
          sent_o    <= event_q.kind == tidemill_abi::EventKindSent && action.kind != tidemill_abi::ActionKindReject;
          no_room_o <= (event_q.kind == tidemill_abi::EventKindDescriptor || event_q.kind == tidemill_abi::EventKindGrant)
                       && action.kind == tidemill_abi::ActionKindNone && action.retry_queued;
        end
        if (event_q.kind == tidemill_abi::EventKindFlush) begin
          cursor_q   <= action.cursor;
          flushing_q <= action.again;
        end
      end
      Rehash: if (rehash_ready_i) state_q <= Rehashed;
      Rehashed: if (rehashed_valid_i) begin
        event_q.hash <= rehashed_i;
        state_q      <= Event;
      end
      default: state_q <= Idle;
    endcase
    if (flush_start_i) begin
      flushing_q    <= 1'b1;
      cursor_q      <= '0;
      flush_agent_q <= flush_agent_i;
    end
    if (rst_i) begin
      state_q    <= Idle;
      valid_o    <= 1'b0;
      wake_q     <= '0;
      above_q    <= '0;
      flushing_q <= 1'b0;
    end
  end

  assign flush_busy_o = flushing_q || valid_o;
  assign quiet_o = (state_q == Idle || event_q.kind == tidemill_abi::EventKindTick) && !valid_o && d_occupancy == '0
                && r_occupancy == '0 && {wants[6], wants[4:0]} == '0;
  assign idle_o  = state_q == Idle && quiet_o && !wants[5];

  logic unused;
  assign unused = &{1'b0, header, report, command, ticks_left, action};

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      one_flush_at_a_time: assert (!(flush_start_i && flushing_q));
      if (!$past(rst_i)) begin
        if ($past(event_valid_o && !event_ready_i)) begin
          event_stable: assert (event_valid_o && event_o == $past(event_o));
        end
        if ($past(valid_o && !ready_i)) begin
          action_stable: assert (valid_o && action_o == $past(action_o));
        end
      end
    end
  end
endmodule

`default_nettype wire
