// SPDX-License-Identifier: Apache-2.0
// Between the shell and one kernel linked to it. What the shell expects of a kernel, and a linked one lacks:
// - It takes one event at a time. An HLS kernel's stream registers would take the next one while it works.
// - It is reset with the shell. A linked kernel hears only the platform's reset, and no reset clears its memories. So
//   after the shell's reset an answer that is still due is thrown away, then the kernel is told to clear itself: an
//   event of all ones (kClearKind in hls/kernel_memory.hpp), answered when done. The shell's first event waits for it.
// Latency 1 cycle from shell to kernel, 0 back; an event a cycle after the answer to the one before, or with it.
// Area: EventWidth flip-flops.
`default_nettype none

module tidemill_kernel_link #(
  parameter int unsigned EventWidth = 512,
  parameter int unsigned ActionWidth = 256
) (
  input  wire                    clk_i,
  input  wire                    rst_i,           /// Of the platform: resets the kernel's streams, too.
  input  wire                    shell_reset_i,
  input  wire                    event_valid_i,   /// From the shell.
  output logic                   event_ready_o,
  input  wire  [EventWidth-1:0]  event_i,
  output logic                   action_valid_o,
  input  wire                    action_ready_i,
  output logic [ActionWidth-1:0] action_o,
  output logic                   event_valid_o,   /// To the kernel; once shown it stays, whatever the shell does.
  input  wire                    event_ready_i,
  output logic [EventWidth-1:0]  event_o,
  input  wire                    action_valid_i,
  output logic                   action_ready_o,
  input  wire  [ActionWidth-1:0] action_i
);
  typedef enum logic [1:0] {Draining, Clearing, Running} state_e;
  state_e state_q;
  logic due_q;  // An event is on its way or with the kernel, its answer due.
  logic runs, answered, takes, clears;

  assign runs           = state_q == Running && !shell_reset_i;
  assign action_valid_o = action_valid_i && runs;
  assign action_ready_o = action_ready_i || !runs;
  assign action_o       = action_i;
  assign answered       = action_valid_i && action_ready_o;
  assign event_ready_o  = runs && (!due_q || answered);
  assign takes          = event_valid_i && event_ready_o;
  assign clears         = state_q == Draining && !shell_reset_i && !due_q;

  always_ff @(posedge clk_i) begin
    if (event_ready_i) event_valid_o <= 1'b0;
    if (answered) due_q <= 1'b0;
    if (takes || clears) begin
      event_valid_o <= 1'b1;
      event_o       <= clears ? '1 : event_i;
      due_q         <= 1'b1;
    end
    case (state_q)
      Draining: if (clears) state_q <= Clearing;
      Clearing: if (answered) state_q <= Running;
      default:  state_q <= Running;
    endcase
    if (shell_reset_i) state_q <= Draining;
    if (rst_i) begin
      state_q       <= Draining;
      event_valid_o <= 1'b0;
      due_q         <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      an_answer_is_due: assert (!action_valid_i || due_q);
      nothing_waits_unasked: assert (!event_valid_o || due_q);
      if (!$past(rst_i)) begin
        if ($past(event_valid_o && !event_ready_i)) begin
          event_stable: assert (event_valid_o && event_o == $past(event_o));
        end
      end
    end
  end
endmodule

`default_nettype wire
