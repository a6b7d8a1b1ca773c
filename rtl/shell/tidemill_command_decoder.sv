// SPDX-License-Identifier: Apache-2.0
// Sends each command of the command ring to where it is carried out: a bank, the flush unit, or the lane table. In order;
// what names no lane or has no meaning is refused and counted. Latency 0 cycles.
`default_nettype none

module tidemill_command_decoder #(
  parameter int unsigned Lanes = 1024
) (
  input  wire          clk_i,
  input  wire          rst_i,
  input  wire          valid_i,
  output logic         ready_o,
  input  wire  [255:0] command_i,
  output logic         bank_valid_o,
  input  wire          bank_ready_i,
  output logic         flush_valid_o,
  input  wire          flush_ready_i,
  output logic [23:0]  flush_agent_o,
  output logic         lane_valid_o,
  input  wire          lane_ready_i,
  output logic         refused_o      /// One cycle.
);
  tidemill_abi::command_t command;
  logic for_bank, for_flush, for_lane, refuse;

  assign command = command_i;
  assign for_bank  = command.kind == tidemill_abi::CommandKindCancel || command.kind == tidemill_abi::CommandKindModify
                  || command.kind == tidemill_abi::CommandKindDeadline;
  assign for_flush = command.kind == tidemill_abi::CommandKindFlush;
  assign for_lane  = (command.kind == tidemill_abi::CommandKindOpenLane || command.kind == tidemill_abi::CommandKindCloseLane
                      || command.kind == tidemill_abi::CommandKindWeighLane) && 32'(command.lane) < Lanes;
  assign refuse    = !for_bank && !for_flush && !for_lane;

  assign bank_valid_o  = valid_i && for_bank;
  assign flush_valid_o = valid_i && for_flush;
  assign lane_valid_o  = valid_i && for_lane;
  assign flush_agent_o = command.agent;
  assign ready_o   = refuse || (for_bank && bank_ready_i) || (for_flush && flush_ready_i) || (for_lane && lane_ready_i);
  assign refused_o = valid_i && refuse;

  logic unused;
  assign unused = &{1'b0, command};

  always_ff @(posedge clk_i) begin
    if (!rst_i && !$past(rst_i) && $past(valid_i && !ready_o)) begin
      input_stable: assert (valid_i && command_i == $past(command_i));
    end
  end
endmodule

`default_nettype wire
