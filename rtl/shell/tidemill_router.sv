// SPDX-License-Identifier: Apache-2.0
// Takes one action a cycle to all the places it concerns at once: the transmit ring, the completion ring, the arbiter (window
// credit, retry, wire credits) and the counters. Besides actions of banks it takes ready-made completions (flush done,
// unsolicited MADs). It waits until every place has room; places behind it never wait for it.
`default_nettype none

module tidemill_router #(
  parameter int unsigned BankBits = 3
) (
  input  wire                 clk_i,
  input  wire                 rst_i,
  input  wire  [31:0]         now_i,
  input  wire                 valid_i,
  output logic                ready_o,
  input  wire                 ready_made_i,      /// data_i is a completion.
  input  wire                 sent_i,            /// As in tidemill_bank_port.
  input  wire                 no_room_i,
  input  wire  [255:0]        data_i,
  output logic                transmit_valid_o,
  input  wire                 transmit_ready_i,
  output logic [127:0]        transmit_o,
  output logic                completion_valid_o,
  input  wire                 completion_ready_i,
  output logic [255:0]        completion_o,
  output logic                window_valid_o,
  input  wire                 window_ready_i,
  output logic [15:0]         window_lane_o,
  output logic                retry_valid_o,
  input  wire                 retry_ready_i,
  output logic [BankBits:0]   retry_lane_o,      /// bank, QP
  output logic [1:0]          wire_credit_a_o,
  output logic [1:0]          wire_credit_b_o,
  output logic                drop_count_o,      /// One cycle each, for counting by cause and status.
  output logic                reject_count_o,
  output logic [3:0]          cause_o,
  output logic                complete_count_o,
  output logic [3:0]          status_o,
  output logic [4:0]          counts_o           /// no_room, unsolicited, matched, retried, transmitted
);
  tidemill_abi::action_t action;
  tidemill_abi::completion_t given, made;
  tidemill_abi::transmit_t transmit;
  logic transmits, completes, window, retry, taken, drops;
  tidemill_abi::completion_kind_e kind;

  assign action = data_i;
  assign given  = data_i;

  assign transmits = !ready_made_i && action.kind == tidemill_abi::ActionKindTransmit;
  assign drops     = !ready_made_i && action.kind == tidemill_abi::ActionKindDrop;
  assign completes = ready_made_i || drops
                  || action.kind == tidemill_abi::ActionKindComplete || action.kind == tidemill_abi::ActionKindRespond
                  || action.kind == tidemill_abi::ActionKindRespondComplete || action.kind == tidemill_abi::ActionKindDeliver;
  assign window    = !ready_made_i && action.window_credit;
  assign retry     = !ready_made_i && action.retry_queued;

  assign ready_o = (!transmits || transmit_ready_i) && (!completes || completion_ready_i) && (!window || window_ready_i)
                && (!retry || retry_ready_i);
  assign taken   = valid_i && ready_o;

  assign transmit_valid_o   = taken && transmits;
  assign completion_valid_o = taken && completes;
  assign window_valid_o     = taken && window;
  assign retry_valid_o      = taken && retry;
  assign window_lane_o      = action.lane;
  assign retry_lane_o       = {action.slot[BankBits-1:0], action.qp};

  always_comb begin
    case (action.kind)
      tidemill_abi::ActionKindRespond:         kind = tidemill_abi::CompletionKindResponse;
      tidemill_abi::ActionKindRespondComplete: kind = tidemill_abi::CompletionKindResponseSend;
      tidemill_abi::ActionKindDeliver:         kind = tidemill_abi::CompletionKindUnsolicited;
      tidemill_abi::ActionKindDrop:            kind = tidemill_abi::CompletionKindDropped;
      default:                                 kind = tidemill_abi::CompletionKindSend;
    endcase
    transmit            = '0;
    transmit.slot       = action.slot;
    transmit.generation = action.generation;
    transmit.port       = action.port;
    transmit.qp         = action.qp;
    transmit.tries      = action.tries;
    made                = '0;
    made.slot           = action.slot;
    made.generation     = action.generation;
    made.agent          = action.agent;
    made.kind           = kind;
    made.status         = action.status;
    made.tid            = action.tid;
    made.buffer         = action.buffer;
    made.lane           = action.lane;
    made.tries          = action.tries;
    made.vendor         = action.vendor;
    made.port           = action.port;
    made.qp             = action.qp;
    made.cause          = action.cause;
    if (ready_made_i) made = given;
    made.now            = now_i;
  end
  assign transmit_o   = transmit;
  assign completion_o = made;

  // The wire credit of a try comes back with its sent report; that of a grant not used, with the action.
  assign wire_credit_a_o = taken && !ready_made_i && action.wire_credit ? (action.credit_qp ? 2'b10 : 2'b01) : 2'b00;
  assign wire_credit_b_o = taken && !ready_made_i && sent_i ? (action.qp ? 2'b10 : 2'b01) : 2'b00;

  assign drop_count_o     = taken && drops;
  assign reject_count_o   = taken && !ready_made_i && action.kind == tidemill_abi::ActionKindReject;
  assign cause_o          = action.cause;
  assign complete_count_o = taken && !ready_made_i && (action.kind == tidemill_abi::ActionKindComplete
                                                       || action.kind == tidemill_abi::ActionKindRespondComplete);
  assign status_o         = action.status;
  assign counts_o = !taken ? '0 : {
    !ready_made_i && no_room_i,
    ready_made_i ? given.kind == tidemill_abi::CompletionKindUnsolicited : action.kind == tidemill_abi::ActionKindDeliver,
    !ready_made_i && (action.kind == tidemill_abi::ActionKindRespond || action.kind == tidemill_abi::ActionKindRespondComplete),
    retry, transmits};

  logic unused;
  assign unused = &{1'b0, action, given};

  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i) && $past(valid_i && !ready_o)) begin
      input_stable: assert (valid_i && data_i == $past(data_i));
    end
  end
endmodule

`default_nettype wire
