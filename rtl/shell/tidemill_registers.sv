// SPDX-License-Identifier: Apache-2.0
// The register file (docs/abi.md): what the host sets, what it reads, the counters, reset, failure and interrupt.
// A write is of 32 bits or refused; an address without a register, too: SLVERR, counted, nothing else happens.
// A doorbell's answer comes when the lane table has taken it, that of a write during a reset when the reset is over. Latency of everything else: one cycle.
`default_nettype none

module tidemill_registers #(
  parameter int unsigned Banks = 8,
  parameter int unsigned Slots = 65536,
  parameter int unsigned Lanes = 1024,
  parameter int unsigned ClockKhz = 250000,
  localparam int unsigned Rings = 6,
  localparam int unsigned HostRings = 4,  // the first of them go host to card
  localparam int unsigned LaneBits = $clog2(Lanes)
) (
  input  wire                    clk_i,
  input  wire                    rst_i,               /// Of the shell: what the host wrote is forgotten, too.
  input  wire                    resetting_i,
  output logic                   reset_o,             /// One cycle: the host asks for a reset.
  input  wire                    write_i,
  input  wire  [15:0]            write_address_i,
  input  wire  [31:0]            write_data_i,
  input  wire  [3:0]             write_strobe_i,
  output logic                   write_done_o,
  output logic [1:0]             write_response_o,
  input  wire                    read_i,
  input  wire  [15:0]            read_address_i,
  output logic                   read_done_o,
  output logic [31:0]            read_data_o,
  output logic [1:0]             read_response_o,
  output logic                   tick_increment_write_o,
  output logic [31:0]            tick_skip_o,         /// Not zero for one cycle.
  input  wire  [31:0]            tick_increment_i,
  input  wire  [31:0]            now_i,
  output logic [63:0]            seed_o,
  output logic                   wire_credit_write_o,
  output logic [31:0]            write_data_o,
  output logic [Rings-1:0]       ring_start_o,
  output logic [Rings*58-1:0]    ring_base_o,
  output logic [Rings*5-1:0]     ring_bits_o,
  output logic [HostRings-1:0]   ring_producer_write_o,
  input  wire  [Rings*32-1:0]    ring_producer_i,
  input  wire  [HostRings*32-1:0] ring_consumer_i,
  output logic [63:6]            index_base_o,
  output logic                   doorbell_valid_o,
  input  wire                    doorbell_ready_i,
  output logic [LaneBits-1:0]    doorbell_lane_o,
  input  wire                    idle_i,
  input  wire                    failed_i,            /// One cycle: the first reason is kept.
  input  wire  [2:0]             failure_i,
  input  wire  [63:0]            failure_address_i,
  output logic                   failure_o,           /// The device has failed.
  input  wire                    written_i,           /// Something was written for the host.
  output logic                   interrupt_o,
  input  wire                    drop_count_i,
  input  wire                    reject_count_i,
  input  wire  [3:0]             cause_i,
  input  wire                    complete_count_i,
  input  wire  [3:0]             status_i,
  input  wire  [4:0]             counts_i,            /// The first five of enum counter.
  input  wire  [3:0]             doorbells_refused_i, /// How many this cycle.
  input  wire  [3:0]             commands_refused_i,
  input  wire                    read_error_i,
  input  wire                    write_error_i,
  input  wire  [3:0]             events_i
);
  localparam logic [1:0] Okay = 2'b00, SlaveError = 2'b10;

  logic [31:0] base_low_q [8];
  logic [31:0] base_high_q [8];
  logic [4:0] bits_q [8];
  logic [31:0] dropped_q [16];
  logic [31:0] rejected_q [16];
  logic [31:0] completed_q [16];
  logic [31:0] count_q [16];
  logic [63:0] seed_q, failure_address_q;
  logic [63:0] index_base_q;
  logic [2:0] failure_q;
  logic [31:0] moderation_q, quiet_q;
  logic enable_q, reason_q, interrupt_q;

  // ------------------------------------------------------------ writes
  logic in_rings, in_doorbells, whole, known, doorbell, writes, register_error;
  logic [2:0] ring;
  logic [4:0] ring_register;

  assign in_rings      = write_address_i >= tidemill_abi::RegRingBaseLow && write_address_i < 16'(32'h100 + 32 * Rings);
  assign in_doorbells  = 32'(write_address_i) >= 32'(tidemill_abi::RegLaneDoorbell)
                      && 32'(write_address_i) < 32'(tidemill_abi::RegLaneDoorbell) + 4 * Lanes;
  assign ring          = write_address_i[7:5];
  assign ring_register = write_address_i[4:0];
  assign whole         = write_strobe_i == 4'hf && write_address_i[1:0] == 2'b00;

  always_comb begin
    known = in_doorbells;
    case (write_address_i)
      tidemill_abi::RegReset, tidemill_abi::RegTickIncrement, tidemill_abi::RegTimeSkip, tidemill_abi::RegHashSeedLow,
      tidemill_abi::RegHashSeedHigh, tidemill_abi::RegWireCredit, tidemill_abi::RegInterruptEnable,
      tidemill_abi::RegInterruptStatus, tidemill_abi::RegInterruptModeration, tidemill_abi::RegIndexBaseLow,
      tidemill_abi::RegIndexBaseHigh: known = 1'b1;
      default: ;
    endcase
    if (in_rings) begin
      known = ring_register == 5'h00 || ring_register == 5'h04 || (ring_register == 5'h08 && write_data_i <= 32'd20)
           || (ring_register == 5'h0c && 32'(ring) < HostRings);
    end
  end

  assign doorbell         = write_i && whole && in_doorbells;
  assign doorbell_valid_o = doorbell && !resetting_i;
  assign doorbell_lane_o  = write_address_i[2+:LaneBits];
  assign write_done_o     = write_i && !resetting_i && (!doorbell || doorbell_ready_i);
  assign write_response_o = whole && known ? Okay : SlaveError;
  assign writes           = write_done_o && whole && known;
  assign write_data_o     = write_data_i;

  assign reset_o                = writes && write_address_i == tidemill_abi::RegReset && write_data_i[0];
  assign tick_increment_write_o = writes && write_address_i == tidemill_abi::RegTickIncrement;
  assign tick_skip_o            = writes && write_address_i == tidemill_abi::RegTimeSkip ? write_data_i : '0;
  assign wire_credit_write_o    = writes && write_address_i == tidemill_abi::RegWireCredit;
  assign seed_o                 = seed_q;
  assign index_base_o           = index_base_q[63:6];

  always_comb begin
    ring_start_o          = '0;
    ring_producer_write_o = '0;
    for (int unsigned r = 0; r < Rings; r++) begin
      ring_base_o[r*58+:58] = {base_high_q[r], base_low_q[r][31:6]};
      ring_bits_o[r*5+:5]   = bits_q[r];
      ring_start_o[r]       = start_q && start_ring_q == 3'(r);
    end
    for (int unsigned r = 0; r < HostRings; r++) begin
      ring_producer_write_o[r] = writes && in_rings && ring == 3'(r) && ring_register == 5'h0c;
    end
  end

  logic start_q;
  logic [2:0] start_ring_q;
  always_ff @(posedge clk_i) begin
    start_q      <= writes && in_rings && ring_register == 5'h08;
    start_ring_q <= ring;
    if (writes && in_rings) begin
      if (ring_register == 5'h00) base_low_q[ring] <= write_data_i;
      if (ring_register == 5'h04) base_high_q[ring] <= write_data_i;
      if (ring_register == 5'h08) bits_q[ring] <= write_data_i[4:0];
    end
    if (writes) begin
      case (write_address_i)
        tidemill_abi::RegHashSeedLow:         seed_q[31:0] <= write_data_i;
        tidemill_abi::RegHashSeedHigh:        seed_q[63:32] <= write_data_i;
        tidemill_abi::RegInterruptEnable:     enable_q <= write_data_i[0];
        tidemill_abi::RegInterruptModeration: moderation_q <= write_data_i;
        tidemill_abi::RegIndexBaseLow:        index_base_q[31:0] <= write_data_i;
        tidemill_abi::RegIndexBaseHigh:       index_base_q[63:32] <= write_data_i;
        default: ;
      endcase
    end
    if (rst_i) begin
      start_q      <= 1'b0;
      seed_q       <= '0;
      enable_q     <= 1'b0;
      moderation_q <= '0;
      index_base_q <= '0;
    end
  end

  // ------------------------------------------------------------ failure and interrupt
  assign failure_o   = failure_q != '0;
  assign interrupt_o = interrupt_q;

  always_ff @(posedge clk_i) begin
    if (failed_i && failure_q == '0) begin
      failure_q         <= failure_i;
      failure_address_q <= failure_address_i;
    end
    if (writes && write_address_i == tidemill_abi::RegInterruptStatus && write_data_i[0]) begin
      reason_q <= 1'b0;
      quiet_q  <= moderation_q;
    end else if (quiet_q != '0) begin
      quiet_q <= quiet_q - 1'b1;
    end
    if (written_i || (failed_i && failure_q == '0)) reason_q <= 1'b1;
    interrupt_q <= enable_q && reason_q && quiet_q == '0;
    if (rst_i) begin
      failure_q   <= '0;
      reason_q    <= 1'b0;
      quiet_q     <= '0;
      interrupt_q <= 1'b0;
    end
  end

  // ------------------------------------------------------------ counters
  logic [31:0] read_number;
  assign register_error = (write_done_o && !(whole && known)) || (read_done_o && read_response_o != Okay);

  always_ff @(posedge clk_i) begin
    if (drop_count_i) dropped_q[cause_i] <= dropped_q[cause_i] + 1'b1;
    if (reject_count_i) rejected_q[cause_i] <= rejected_q[cause_i] + 1'b1;
    if (complete_count_i) completed_q[status_i] <= completed_q[status_i] + 1'b1;
    for (int unsigned i = 0; i < 5; i++) begin
      if (counts_i[i]) count_q[i] <= count_q[i] + 1'b1;
    end
    count_q[tidemill_abi::CounterDoorbellsRefused] <= count_q[tidemill_abi::CounterDoorbellsRefused] + 32'(doorbells_refused_i);
    count_q[tidemill_abi::CounterCommandsRefused]  <= count_q[tidemill_abi::CounterCommandsRefused] + 32'(commands_refused_i);
    if (register_error) count_q[tidemill_abi::CounterRegisterErrors] <= count_q[tidemill_abi::CounterRegisterErrors] + 1'b1;
    if (read_error_i) count_q[tidemill_abi::CounterReadErrors] <= count_q[tidemill_abi::CounterReadErrors] + 1'b1;
    if (write_error_i) count_q[tidemill_abi::CounterWriteErrors] <= count_q[tidemill_abi::CounterWriteErrors] + 1'b1;
    count_q[tidemill_abi::CounterEvents] <= count_q[tidemill_abi::CounterEvents] + 32'(events_i);
    if (enable_q && reason_q && quiet_q == '0 && !interrupt_q)
      count_q[tidemill_abi::CounterInterrupts] <= count_q[tidemill_abi::CounterInterrupts] + 1'b1;
    if (rst_i) begin
      for (int unsigned i = 0; i < 16; i++) begin
        dropped_q[i]   <= '0;
        rejected_q[i]  <= '0;
        completed_q[i] <= '0;
        count_q[i]     <= '0;
      end
    end
  end

  // ------------------------------------------------------------ reads
  logic [2:0] read_ring;
  logic read_in_rings, read_known;
  logic [31:0] read_value;

  assign read_ring     = read_address_i[7:5];
  assign read_number   = 32'(read_address_i[5:2]);
  assign read_in_rings = read_address_i >= tidemill_abi::RegRingBaseLow && read_address_i < 16'(32'h100 + 32 * Rings);

  always_comb begin
    read_known = read_address_i[1:0] == 2'b00;
    read_value = '0;
    if (read_in_rings) begin
      case (read_address_i[4:0])
        5'h00: read_value = base_low_q[read_ring];
        5'h04: read_value = base_high_q[read_ring];
        5'h08: read_value = 32'(bits_q[read_ring]);
        5'h0c: read_value = ring_producer_i[32*32'(read_ring)+:32];
        5'h10: begin
          if (32'(read_ring) < HostRings) read_value = ring_consumer_i[32*32'(read_ring)+:32];
          else read_known = 1'b0;
        end
        default: read_known = 1'b0;
      endcase
    end else if (read_address_i[15:6] == tidemill_abi::RegCountDropped[15:6]) begin
      read_value = dropped_q[read_number[3:0]];
    end else if (read_address_i[15:6] == tidemill_abi::RegCountRejected[15:6]) begin
      read_value = rejected_q[read_number[3:0]];
    end else if (read_address_i[15:6] == tidemill_abi::RegCountCompleted[15:6]) begin
      read_value = completed_q[read_number[3:0]];
    end else if (read_address_i[15:6] == tidemill_abi::RegCount[15:6]) begin
      read_value = count_q[read_number[3:0]];
    end else begin
      case (read_address_i)
        tidemill_abi::RegMagic:               read_value = tidemill_abi::RegMagicReset;
        tidemill_abi::RegVersion:             read_value = {16'(tidemill_abi::VersionMajor), 16'(tidemill_abi::VersionMinor)};
        tidemill_abi::RegSlots:               read_value = Slots;
        tidemill_abi::RegBanks:               read_value = Banks;
        tidemill_abi::RegLanes:               read_value = Lanes;
        tidemill_abi::RegClockKhz:            read_value = ClockKhz;
        tidemill_abi::RegReset:               read_value = 32'(resetting_i);
        tidemill_abi::RegTickIncrement:       read_value = tick_increment_i;
        tidemill_abi::RegTime:                read_value = now_i;
        tidemill_abi::RegHashSeedLow:         read_value = seed_q[31:0];
        tidemill_abi::RegHashSeedHigh:        read_value = seed_q[63:32];
        tidemill_abi::RegState:               read_value = {30'd0, resetting_i, idle_i};
        tidemill_abi::RegFailure:             read_value = 32'(failure_q);
        tidemill_abi::RegFailureAddressLow:   read_value = failure_address_q[31:0];
        tidemill_abi::RegFailureAddressHigh:  read_value = failure_address_q[63:32];
        tidemill_abi::RegInterruptEnable:     read_value = 32'(enable_q);
        tidemill_abi::RegInterruptStatus:     read_value = 32'(reason_q);
        tidemill_abi::RegInterruptModeration: read_value = moderation_q;
        tidemill_abi::RegIndexBaseLow:        read_value = index_base_q[31:0];
        tidemill_abi::RegIndexBaseHigh:       read_value = index_base_q[63:32];
        default:                              read_known = 1'b0;
      endcase
    end
  end

  assign read_done_o     = read_i;
  assign read_data_o     = read_known ? read_value : '0;
  assign read_response_o = read_known ? Okay : SlaveError;

  logic unused;
  assign unused = &{1'b0, index_base_q, read_number};
endmodule

`default_nettype wire
