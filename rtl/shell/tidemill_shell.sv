// SPDX-License-Identifier: Apache-2.0
// The shell: everything between the host and the kernels of the engine (docs/rtl/shell.md has the picture).
//   host writes a doorbell -> lane table -> arbiter -> grant -> descriptor fetch -> hash -> bank -> transmit ring
//   host wire's sent ring -> bank -> completion ring; received rings -> hash -> bank -> completion ring; command ring -> banks
// Kernels are AXI4-Streams outside: one arbiter, 2^BankBits banks. kernel_reset_o resets them with the shell.
// A reset by register waits until no answer of host memory is due (or Patience is over), then holds for 16 cycles.
`default_nettype none

module tidemill_shell #(
  parameter int unsigned BankBits = 3,
  parameter int unsigned Lanes = 1024,
  parameter int unsigned SlotBits = 16,     /// Slots over all banks.
  parameter int unsigned ClockKhz = 250000,
  parameter int unsigned Patience = 65536,  /// Cycles host memory may take for an answer.
  localparam int unsigned Banks = 1 << BankBits
) (
  input  wire                  clk_i,
  input  wire                  rst_i,
  // AXI4-Lite
  input  wire                  s_axi_awvalid_i,
  output logic                 s_axi_awready_o,
  input  wire  [15:0]          s_axi_awaddr_i,
  input  wire                  s_axi_wvalid_i,
  output logic                 s_axi_wready_o,
  input  wire  [31:0]          s_axi_wdata_i,
  input  wire  [3:0]           s_axi_wstrb_i,
  output logic                 s_axi_bvalid_o,
  input  wire                  s_axi_bready_i,
  output logic [1:0]           s_axi_bresp_o,
  input  wire                  s_axi_arvalid_i,
  output logic                 s_axi_arready_o,
  input  wire  [15:0]          s_axi_araddr_i,
  output logic                 s_axi_rvalid_o,
  input  wire                  s_axi_rready_i,
  output logic [31:0]          s_axi_rdata_o,
  output logic [1:0]           s_axi_rresp_o,
  // AXI4 to host memory: single beats of 64 bytes
  output logic                 m_axi_arvalid_o,
  input  wire                  m_axi_arready_i,
  output logic [63:0]          m_axi_araddr_o,
  output logic [2:0]           m_axi_arid_o,
  input  wire                  m_axi_rvalid_i,
  output logic                 m_axi_rready_o,
  input  wire  [511:0]         m_axi_rdata_i,
  input  wire  [2:0]           m_axi_rid_i,
  input  wire  [1:0]           m_axi_rresp_i,
  output logic                 m_axi_awvalid_o,
  input  wire                  m_axi_awready_i,
  output logic [63:0]          m_axi_awaddr_o,
  output logic                 m_axi_wvalid_o,
  input  wire                  m_axi_wready_i,
  output logic [511:0]         m_axi_wdata_o,
  output logic [63:0]          m_axi_wstrb_o,
  input  wire                  m_axi_bvalid_i,
  output logic                 m_axi_bready_o,
  input  wire  [1:0]           m_axi_bresp_i,
  output logic                 interrupt_o,
  output logic                 failed_o,   /// The device has stopped; register `failure` says why.
  // Kernels
  output logic                 kernel_reset_o,
  output logic                 arbiter_event_valid_o,
  input  wire                  arbiter_event_ready_i,
  output logic [63:0]          arbiter_event_o,
  input  wire                  arbiter_action_valid_i,
  output logic                 arbiter_action_ready_o,
  input  wire  [63:0]          arbiter_action_i,
  output logic [Banks-1:0]     bank_event_valid_o,
  input  wire  [Banks-1:0]     bank_event_ready_i,
  output logic [Banks*512-1:0] bank_event_o,
  input  wire  [Banks-1:0]     bank_action_valid_i,
  output logic [Banks-1:0]     bank_action_ready_o,
  input  wire  [Banks*256-1:0] bank_action_i,
  // For simulation and measuring
  output logic                 idle_o,
  output logic                 quiet_o,    /// Idle but for timers.
  output logic [31:0]          wake_o,     /// First tick at which a bank has timer work.
  output logic [31:0]          now_o,
  output logic [95:0]          waiting_o   /// 16 bits each: descriptors, responses at banks; descriptors in fetch; window credits; retries; turns.
);
  localparam int unsigned LaneBits = $clog2(Lanes);
  localparam int unsigned Rings = 6, HostRings = 4;
  localparam int unsigned RingCommand = 32'(tidemill_abi::RingCommand), RingSent = 32'(tidemill_abi::RingSent);
  localparam int unsigned RingReceivedSmi = 32'(tidemill_abi::RingReceivedSmi);
  localparam int unsigned RingReceivedGsi = 32'(tidemill_abi::RingReceivedGsi);
  localparam int unsigned RingCompletion = 32'(tidemill_abi::RingCompletion), RingTransmit = 32'(tidemill_abi::RingTransmit);
  localparam int unsigned Readers = 5, ReaderDescriptors = 4;  // host rings by number, then descriptors
  localparam int unsigned Writers = 3;                         // completions, transmits, indices

  // ------------------------------------------------------------ reset
  typedef enum logic [1:0] {Running, Draining, Holding} reset_e;
  reset_e reset_q;
  logic [$clog2(Patience):0] reset_count_q;
  logic rst, reset_request, resetting, reads_idle, writes_idle;

  assign failed_o       = failure;
  assign rst            = reset_q == Holding;
  assign resetting      = reset_q != Running;
  assign kernel_reset_o = rst;

  always_ff @(posedge clk_i) begin
    reset_count_q <= reset_count_q + 1'b1;
    case (reset_q)
      Running: if (reset_request) begin
        reset_q       <= Draining;
        reset_count_q <= '0;
      end
      Draining: if ((reads_idle && writes_idle && reset_count_q[4]) || reset_count_q[$clog2(Patience)]) begin
        reset_q       <= Holding;
        reset_count_q <= '0;
      end
      default: if (reset_count_q[4]) reset_q <= Running;
    endcase
    if (rst_i) begin
      reset_q       <= Holding;
      reset_count_q <= '0;
    end
  end

  // ------------------------------------------------------------ registers
  logic reg_write, reg_write_done, reg_read, reg_read_done;
  logic [15:0] reg_write_address, reg_read_address;
  logic [31:0] reg_write_data, reg_read_data, write_data;
  logic [3:0] reg_write_strobe;
  logic [1:0] reg_write_response, reg_read_response;
  logic increment_write, wire_credit_write;
  logic tick;
  logic [31:0] skip, increment, now;
  logic [63:0] seed;
  logic [Rings-1:0] ring_start;
  logic [Rings*58-1:0] ring_base;
  logic [Rings*5-1:0] ring_bits;
  logic [HostRings-1:0] ring_producer_write, ring_refused;
  logic [Rings*32-1:0] ring_producer;
  logic [HostRings*32-1:0] ring_consumer;
  logic [63:6] index_base;
  logic doorbell_valid, doorbell_ready;
  logic [LaneBits-1:0] doorbell_lane;
  logic failed, failure;
  logic [2:0] failure_code;
  logic [63:0] failure_address;
  logic written, drop_count, reject_count, complete_count;
  logic [3:0] cause, status;
  logic [4:0] counts;
  logic lane_doorbell_refused, lane_command_refused, decoder_refused, arbiter_rejected;
  logic read_error, write_error, read_hung, write_hung;
  logic [3:0] events;

  tidemill_axi_lite_slave #(.AddressWidth(16)) i_axi_lite (
    .clk_i, .rst_i,
    .awvalid_i(s_axi_awvalid_i), .awready_o(s_axi_awready_o), .awaddr_i(s_axi_awaddr_i),
    .wvalid_i(s_axi_wvalid_i), .wready_o(s_axi_wready_o), .wdata_i(s_axi_wdata_i), .wstrb_i(s_axi_wstrb_i),
    .bvalid_o(s_axi_bvalid_o), .bready_i(s_axi_bready_i), .bresp_o(s_axi_bresp_o),
    .arvalid_i(s_axi_arvalid_i), .arready_o(s_axi_arready_o), .araddr_i(s_axi_araddr_i),
    .rvalid_o(s_axi_rvalid_o), .rready_i(s_axi_rready_i), .rdata_o(s_axi_rdata_o), .rresp_o(s_axi_rresp_o),
    .reg_write_o(reg_write), .reg_write_address_o(reg_write_address), .reg_write_data_o(reg_write_data),
    .reg_write_strobe_o(reg_write_strobe), .reg_write_done_i(reg_write_done), .reg_write_response_i(reg_write_response),
    .reg_read_o(reg_read), .reg_read_address_o(reg_read_address), .reg_read_done_i(reg_read_done),
    .reg_read_data_i(reg_read_data), .reg_read_response_i(reg_read_response)
  );

  tidemill_registers #(.Banks(Banks), .Slots(1 << SlotBits), .Lanes(Lanes), .ClockKhz(ClockKhz)) i_registers (
    .clk_i, .rst_i(rst), .resetting_i(resetting), .reset_o(reset_request),
    .write_i(reg_write), .write_address_i(reg_write_address), .write_data_i(reg_write_data),
    .write_strobe_i(reg_write_strobe), .write_done_o(reg_write_done), .write_response_o(reg_write_response),
    .read_i(reg_read), .read_address_i(reg_read_address), .read_done_o(reg_read_done), .read_data_o(reg_read_data),
    .read_response_o(reg_read_response),
    .tick_increment_write_o(increment_write), .tick_skip_o(skip), .tick_increment_i(increment), .now_i(now),
    .seed_o(seed), .wire_credit_write_o(wire_credit_write), .write_data_o(write_data),
    .ring_start_o(ring_start), .ring_base_o(ring_base), .ring_bits_o(ring_bits),
    .ring_producer_write_o(ring_producer_write), .ring_producer_i(ring_producer), .ring_consumer_i(ring_consumer),
    .index_base_o(index_base), .doorbell_valid_o(doorbell_valid), .doorbell_ready_i(doorbell_ready),
    .doorbell_lane_o(doorbell_lane), .idle_i(idle_o), .failed_i(failed), .failure_i(failure_code),
    .failure_address_i(failure_address), .failure_o(failure), .written_i(written), .interrupt_o,
    .drop_count_i(drop_count), .reject_count_i(reject_count), .cause_i(cause), .complete_count_i(complete_count),
    .status_i(status), .counts_i(counts),
    .doorbells_refused_i(4'(lane_doorbell_refused) + 4'(ring_refused[0]) + 4'(ring_refused[1]) + 4'(ring_refused[2])
                         + 4'(ring_refused[3])),
    .commands_refused_i(4'(lane_command_refused) + 4'(decoder_refused) + 4'(arbiter_rejected)),
    .read_error_i(read_error), .write_error_i(write_error), .events_i(events)
  );

  tidemill_tick_generator i_ticks (
    .clk_i, .rst_i(rst), .write_i(increment_write), .increment_i(write_data), .skip_i(skip), .increment_o(increment),
    .tick_o(tick), .ticks_o(now)
  );
  assign now_o = now;

  // ------------------------------------------------------------ host memory
  logic [Readers-1:0] request_valid, request_ready, line_valid;
  logic [Readers*58-1:0] request_line;
  logic [511:0] line;
  logic [63:0] read_address, write_address;
  logic [Writers-1:0] write_valid, write_ready;
  logic [Writers*58-1:0] write_line;
  logic [Writers*512-1:0] write_lines;
  logic [Writers*64-1:0] write_strobe;
  logic read_stop, write_stop, read_failed_q, write_failed_q;

  assign read_stop  = resetting || read_failed_q;
  assign write_stop = resetting || write_failed_q;
  assign failed     = (read_error && !read_failed_q) || (write_error && !write_failed_q) || read_hung || write_hung;
  assign failure_code = read_error ? tidemill_abi::FailureReadError
                      : write_error ? tidemill_abi::FailureWriteError : tidemill_abi::FailureBusHung;
  assign failure_address = read_error ? read_address : write_error ? write_address : read_hung ? m_axi_araddr_o : m_axi_awaddr_o;

  always_ff @(posedge clk_i) begin
    if (read_error) read_failed_q <= 1'b1;
    if (write_error) write_failed_q <= 1'b1;
    if (rst) begin
      read_failed_q  <= 1'b0;
      write_failed_q <= 1'b0;
    end
  end

  tidemill_read_port #(.Readers(Readers), .IdBits(3), .Patience(Patience)) i_read_port (
    .clk_i, .rst_i(rst), .stop_i(read_stop), .request_valid_i(request_valid), .request_ready_o(request_ready),
    .request_line_i(request_line), .line_valid_o(line_valid), .line_o(line),
    .arvalid_o(m_axi_arvalid_o), .arready_i(m_axi_arready_i), .araddr_o(m_axi_araddr_o), .arid_o(m_axi_arid_o),
    .rvalid_i(m_axi_rvalid_i), .rready_o(m_axi_rready_o), .rdata_i(m_axi_rdata_i), .rid_i(m_axi_rid_i),
    .rresp_i(m_axi_rresp_i), .idle_o(reads_idle), .error_o(read_error), .hung_o(read_hung), .address_o(read_address)
  );

  tidemill_write_port #(.Writers(Writers), .Patience(Patience)) i_write_port (
    .clk_i, .rst_i(rst), .stop_i(write_stop), .write_valid_i(write_valid), .write_ready_o(write_ready),
    .write_line_i(write_line), .write_data_i(write_lines), .write_strobe_i(write_strobe),
    .awvalid_o(m_axi_awvalid_o), .awready_i(m_axi_awready_i), .awaddr_o(m_axi_awaddr_o),
    .wvalid_o(m_axi_wvalid_o), .wready_i(m_axi_wready_i), .wdata_o(m_axi_wdata_o), .wstrb_o(m_axi_wstrb_o),
    .bvalid_i(m_axi_bvalid_i), .bready_o(m_axi_bready_o), .bresp_i(m_axi_bresp_i),
    .idle_o(writes_idle), .done_o(written), .error_o(write_error), .hung_o(write_hung), .address_o(write_address)
  );

  // A line that came with an error is nobody's, and nothing after it is believed.
  logic [Readers-1:0] good_line;
  assign good_line = read_error || read_failed_q ? '0 : line_valid;

  // ------------------------------------------------------------ rings host to card
  logic command_valid, command_ready, sent_valid, sent_ready;
  logic [255:0] command;
  logic [127:0] sent;
  logic [1:0] header_valid, header_ready;
  logic [511:0] headers;
  logic [HostRings-1:0] reader_idle;

  tidemill_ring_reader #(.EntryBits(256)) i_commands (
    .clk_i, .rst_i(rst), .start_i(ring_start[RingCommand]), .base_i(ring_base[RingCommand*58+:58]),
    .bits_i(ring_bits[RingCommand*5+:5]), .producer_write_i(ring_producer_write[RingCommand]), .producer_i(write_data),
    .producer_o(ring_producer[RingCommand*32+:32]), .producer_refused_o(ring_refused[RingCommand]),
    .consumer_o(ring_consumer[RingCommand*32+:32]), .read_valid_o(request_valid[RingCommand]),
    .read_ready_i(request_ready[RingCommand]), .read_line_o(request_line[RingCommand*58+:58]),
    .line_valid_i(good_line[RingCommand]), .line_i(line),
    .valid_o(command_valid), .ready_i(command_ready), .data_o(command), .idle_o(reader_idle[RingCommand])
  );
  tidemill_ring_reader #(.EntryBits(128)) i_sents (
    .clk_i, .rst_i(rst), .start_i(ring_start[RingSent]), .base_i(ring_base[RingSent*58+:58]),
    .bits_i(ring_bits[RingSent*5+:5]), .producer_write_i(ring_producer_write[RingSent]), .producer_i(write_data),
    .producer_o(ring_producer[RingSent*32+:32]), .producer_refused_o(ring_refused[RingSent]),
    .consumer_o(ring_consumer[RingSent*32+:32]), .read_valid_o(request_valid[RingSent]),
    .read_ready_i(request_ready[RingSent]), .read_line_o(request_line[RingSent*58+:58]),
    .line_valid_i(good_line[RingSent]), .line_i(line),
    .valid_o(sent_valid), .ready_i(sent_ready), .data_o(sent), .idle_o(reader_idle[RingSent])
  );
  for (genvar q = 0; q < 2; q++) begin : g_received
    localparam int unsigned Ring = q == 0 ? RingReceivedSmi : RingReceivedGsi;
    tidemill_ring_reader #(.EntryBits(256)) i_headers (
      .clk_i, .rst_i(rst), .start_i(ring_start[Ring]), .base_i(ring_base[Ring*58+:58]),
      .bits_i(ring_bits[Ring*5+:5]), .producer_write_i(ring_producer_write[Ring]), .producer_i(write_data),
      .producer_o(ring_producer[Ring*32+:32]), .producer_refused_o(ring_refused[Ring]),
      .consumer_o(ring_consumer[Ring*32+:32]), .read_valid_o(request_valid[Ring]),
      .read_ready_i(request_ready[Ring]), .read_line_o(request_line[Ring*58+:58]),
      .line_valid_i(good_line[Ring]), .line_i(line),
      .valid_o(header_valid[q]), .ready_i(header_ready[q]), .data_o(headers[q*256+:256]), .idle_o(reader_idle[Ring])
    );
  end

  // ------------------------------------------------------------ commands, lanes, arbiter
  logic bank_command_valid, bank_command_ready, flush_valid, flush_ready, lane_command_valid, lane_command_ready;
  logic [23:0] flush_agent;

  tidemill_command_decoder #(.Lanes(Lanes)) i_decoder (
    .clk_i, .rst_i(rst), .valid_i(command_valid), .ready_o(command_ready), .command_i(command),
    .bank_valid_o(bank_command_valid), .bank_ready_i(bank_command_ready),
    .flush_valid_o(flush_valid), .flush_ready_i(flush_ready), .flush_agent_o(flush_agent),
    .lane_valid_o(lane_command_valid), .lane_ready_i(lane_command_ready), .refused_o(decoder_refused)
  );

  logic grant_valid, grant_ready, fetch_valid, fetch_ready, lane_event_valid, lane_event_ready, lanes_idle;
  logic [LaneBits-1:0] grant_lane, fetch_lane;
  logic [2:0] grant_flags, fetch_flags;
  logic [63:6] fetch_line;
  logic [31:0] fetch_index;
  logic [63:0] lane_event;
  logic [15:0] lane_events, lane_events_done, grants;

  tidemill_lane_table #(.Lanes(Lanes)) i_lanes (
    .clk_i, .rst_i(rst), .doorbell_valid_i(doorbell_valid), .doorbell_ready_o(doorbell_ready),
    .doorbell_lane_i(doorbell_lane), .doorbell_producer_i(write_data),
    .command_valid_i(lane_command_valid), .command_ready_o(lane_command_ready), .command_i(command),
    .grant_valid_i(grant_valid), .grant_ready_o(grant_ready), .grant_lane_i(grant_lane), .grant_flags_i(grant_flags),
    .fetch_valid_o(fetch_valid), .fetch_ready_i(fetch_ready), .fetch_line_o(fetch_line), .fetch_lane_o(fetch_lane),
    .fetch_flags_o(fetch_flags), .fetch_index_o(fetch_index),
    .event_valid_o(lane_event_valid), .event_ready_i(lane_event_ready), .event_o(lane_event), .events_o(lane_events),
    .doorbell_refused_o(lane_doorbell_refused), .command_refused_o(lane_command_refused), .idle_o(lanes_idle)
  );

  logic window_valid, window_ready, window_put, window_put_ready, retry_valid, retry_ready, retry_put, retry_put_ready;
  logic again_valid, again_ready, arbiter_idle;
  logic [15:0] window_lane, window_put_lane;
  logic [BankBits:0] retry_lane, retry_put_lane, again_lane;
  logic [1:0] wire_credit_a, wire_credit_b;
  logic [6:0] window_occupancy, retry_occupancy;

  tidemill_stream_fifo #(.Width(16), .Depth(64)) i_window_credits (
    .clk_i, .rst_i(rst), .valid_i(window_put), .ready_o(window_put_ready), .data_i(window_put_lane),
    .valid_o(window_valid), .ready_i(window_ready), .data_o(window_lane), .occupancy_o(window_occupancy)
  );
  tidemill_stream_fifo #(.Width(BankBits + 1), .Depth(64)) i_retries (
    .clk_i, .rst_i(rst), .valid_i(retry_put), .ready_o(retry_put_ready), .data_i(retry_put_lane),
    .valid_o(retry_valid), .ready_i(retry_ready), .data_o(retry_lane), .occupancy_o(retry_occupancy)
  );

  tidemill_arbiter_port #(.Lanes(Lanes), .BankBits(BankBits)) i_arbiter (
    .clk_i, .rst_i(rst), .lane_event_valid_i(lane_event_valid), .lane_event_ready_o(lane_event_ready),
    .lane_event_i(lane_event), .window_valid_i(window_valid), .window_ready_o(window_ready), .window_lane_i(window_lane),
    .retry_valid_i(retry_valid), .retry_ready_o(retry_ready), .retry_lane_i(retry_lane),
    .wire_credit_a_i(wire_credit_a), .wire_credit_b_i(wire_credit_b), .wire_credit_write_i(wire_credit_write),
    .wire_credit_qp_i(write_data[16]), .wire_credit_count_i(write_data[15:0]),
    .grant_valid_o(grant_valid), .grant_ready_i(grant_ready), .grant_lane_o(grant_lane), .grant_flags_o(grant_flags),
    .again_valid_o(again_valid), .again_ready_i(again_ready), .again_lane_o(again_lane),
    .event_valid_o(arbiter_event_valid_o), .event_ready_i(arbiter_event_ready_i), .event_o(arbiter_event_o),
    .action_valid_i(arbiter_action_valid_i), .action_ready_o(arbiter_action_ready_o), .action_i(arbiter_action_i),
    .rejected_o(arbiter_rejected), .lane_events_o(lane_events_done), .grants_o(grants), .idle_o(arbiter_idle)
  );

  // ------------------------------------------------------------ descriptors
  logic descriptor_valid, descriptor_ready, index_valid, index_ready, fetch_idle;
  logic [7:0] fetch_waiting;
  logic [319:0] descriptor;
  logic [LaneBits-1:0] index_lane;
  logic [31:0] index;
  logic hashed_valid, hashed_ready, descriptor_hash_idle;
  logic [63:0] descriptor_hash;
  logic [319:0] hashed;

  tidemill_descriptor_fetch #(.LaneBits(LaneBits)) i_fetch (
    .clk_i, .rst_i(rst), .fetch_valid_i(fetch_valid), .fetch_ready_o(fetch_ready), .fetch_line_i(fetch_line),
    .fetch_lane_i(fetch_lane), .fetch_flags_i(fetch_flags), .fetch_index_i(fetch_index),
    .read_valid_o(request_valid[ReaderDescriptors]), .read_ready_i(request_ready[ReaderDescriptors]),
    .read_line_o(request_line[ReaderDescriptors*58+:58]), .line_valid_i(good_line[ReaderDescriptors]), .line_i(line),
    .valid_o(descriptor_valid), .ready_i(descriptor_ready), .descriptor_o(descriptor),
    .index_valid_o(index_valid), .index_ready_i(index_ready), .index_lane_o(index_lane), .index_o(index),
    .waiting_o(fetch_waiting), .idle_o(fetch_idle)
  );
  tidemill_tid_hash #(.Width(320)) i_descriptor_hash (
    .clk_i, .rst_i(rst), .seed_i(seed), .valid_i(descriptor_valid), .ready_o(descriptor_ready),
    .tid_i(descriptor[63:0]), .data_i(descriptor), .valid_o(hashed_valid), .ready_i(hashed_ready),
    .hash_o(descriptor_hash), .data_o(hashed), .idle_o(descriptor_hash_idle)
  );

  // ------------------------------------------------------------ received headers
  logic header_any, header_taken, response, response_valid, response_ready, unsolicited_valid, unsolicited_ready;
  logic [1:0] header_source;
  logic [255:0] header;
  tidemill_abi::received_t received;
  tidemill_abi::completion_t unsolicited_made;
  logic [255:0] unsolicited, unsolicited_out;
  logic unsolicited_out_valid, unsolicited_out_ready;
  logic received_valid, received_ready, received_hash_idle;
  logic [63:0] received_hash;
  logic [191:0] received_words;

  tidemill_stream_mux #(.Streams(2), .Width(256)) i_headers (
    .clk_i, .rst_i(rst), .valid_i(header_valid), .ready_o(header_ready), .data_i(headers),
    .valid_o(header_any), .ready_i(header_taken), .data_o(header), .source_o(header_source)
  );
  always_comb begin
    received    = header;
    received.qp = header_source[1];  // the ring says so
    unsolicited_made        = '0;
    unsolicited_made.kind   = tidemill_abi::CompletionKindUnsolicited;
    unsolicited_made.tid    = received.tid;
    unsolicited_made.buffer = received.buffer;
    unsolicited_made.port   = received.port;
    unsolicited_made.qp     = received.qp;
  end
  assign response          = received.response;
  assign response_valid    = header_any && response;
  assign unsolicited_valid = header_any && !response;
  assign header_taken      = response ? response_ready : unsolicited_ready;
  assign unsolicited       = unsolicited_made;

  tidemill_stream_skid #(.Width(256)) i_unsolicited (
    .clk_i, .rst_i(rst), .valid_i(unsolicited_valid), .ready_o(unsolicited_ready), .data_i(unsolicited),
    .valid_o(unsolicited_out_valid), .ready_i(unsolicited_out_ready), .data_o(unsolicited_out)
  );
  tidemill_tid_hash #(.Width(192)) i_received_hash (
    .clk_i, .rst_i(rst), .seed_i(seed), .valid_i(response_valid), .ready_o(response_ready), .tid_i(received.tid),
    .data_i(received[191:0]), .valid_o(received_valid), .ready_i(received_ready), .hash_o(received_hash),
    .data_o(received_words), .idle_o(received_hash_idle)
  );

  // ------------------------------------------------------------ to the banks
  logic [Banks-1:0] d_valid, d_ready, r_valid, r_ready, s_valid, s_ready, c_valid, c_ready, g_valid, g_ready;
  logic [383:0] d_data;
  logic [255:0] r_data;
  logic [63:0] s_data;
  logic [95:0] c_data;
  logic g_data;
  logic [BankBits-1:0] descriptor_bank, received_bank, sent_bank, command_bank;

  assign descriptor_bank = hashed[64+:BankBits];  // the slot's low bits
  assign received_bank   = received_hash[63-:BankBits];
  assign sent_bank       = sent[BankBits-1:0];
  assign command_bank    = command[BankBits-1:0];

  tidemill_stream_demux #(.Streams(Banks), .Width(384)) i_to_descriptors (
    .clk_i, .rst_i(rst), .valid_i(hashed_valid), .ready_o(hashed_ready), .index_i(descriptor_bank),
    .data_i({descriptor_hash, hashed}), .valid_o(d_valid), .ready_i(d_ready), .data_o(d_data)
  );
  tidemill_stream_demux #(.Streams(Banks), .Width(256)) i_to_received (
    .clk_i, .rst_i(rst), .valid_i(received_valid), .ready_o(received_ready), .index_i(received_bank),
    .data_i({received_hash, received_words}), .valid_o(r_valid), .ready_i(r_ready), .data_o(r_data)
  );
  tidemill_stream_demux #(.Streams(Banks), .Width(64)) i_to_sent (
    .clk_i, .rst_i(rst), .valid_i(sent_valid), .ready_o(sent_ready), .index_i(sent_bank),
    .data_i(sent[63:0]), .valid_o(s_valid), .ready_i(s_ready), .data_o(s_data)
  );
  tidemill_stream_demux #(.Streams(Banks), .Width(96)) i_to_commands (
    .clk_i, .rst_i(rst), .valid_i(bank_command_valid), .ready_o(bank_command_ready), .index_i(command_bank),
    .data_i(command[95:0]), .valid_o(c_valid), .ready_i(c_ready), .data_o(c_data)
  );
  tidemill_stream_demux #(.Streams(Banks), .Width(1)) i_to_retries (
    .clk_i, .rst_i(rst), .valid_i(again_valid), .ready_o(again_ready), .index_i(again_lane[BankBits:1]),
    .data_i(again_lane[0]), .valid_o(g_valid), .ready_i(g_ready), .data_o(g_data)
  );

  // ------------------------------------------------------------ banks
  localparam int unsigned Actions = Banks + 3;  // banks, flush done, unsolicited, port event
  localparam int unsigned ActionWidth = 256 + 3;
  logic [Banks-1:0] flush_busy, rehash_valid, rehash_ready, rehashed_valid, event_done, bank_idle, bank_quiet;
  logic [Banks*64-1:0] rehash_tid;
  logic [63:0] rehashed;
  logic flush_start, flush_idle;
  logic [23:0] flush_agent_now;
  logic [Actions-1:0] action_valid, action_ready;
  logic [Actions*ActionWidth-1:0] actions;

  // Banks work side by side, but descriptors are answered in the order in which they came to them, so that the sends of a
  // lane go out in the order of the lane. A bank that answers out of turn waits; it takes its own in order, so that the one
  // whose turn it is never waits for another.
  localparam int unsigned TurnDepth = 256;
  logic turn_valid, turn_put_ready;
  logic [BankBits-1:0] turn;
  logic [Banks-1:0] turn_over;
  logic [$clog2(TurnDepth):0] turn_occupancy;
  logic [15:0] answered_q;
  tidemill_stream_fifo #(.Width(BankBits), .Depth(TurnDepth)) i_turns (
    .clk_i, .rst_i(rst), .valid_i(hashed_valid && hashed_ready), .ready_o(turn_put_ready), .data_i(descriptor_bank),
    .valid_o(turn_valid), .ready_i(turn_over != '0), .data_o(turn), .occupancy_o(turn_occupancy)
  );
  always_ff @(posedge clk_i) begin
    if (turn_over != '0) answered_q <= answered_q + 1'b1;
    if (rst) answered_q <= '0;
    if (!rst) begin
      room_for_turns: assert (turn_put_ready);
      one_turn_at_a_time: assert (turn_over == '0 || turn_valid);
    end
  end

  logic [Banks*8-1:0] descriptors_waiting, responses_waiting;
  logic [Banks*32-1:0] wakes;
  for (genvar b = 0; b < Banks; b++) begin : g_bank
    logic was_sent, no_room, valid, was_descriptor, in_turn;
    logic [255:0] out;
    tidemill_bank_port #(.BankBits(BankBits)) i_port (
      .clk_i, .rst_i(rst), .now_i(now), .number_i(BankBits'(b)),
      .descriptor_valid_i(d_valid[b]), .descriptor_ready_o(d_ready[b]), .descriptor_i(d_data),
      .received_valid_i(r_valid[b]), .received_ready_o(r_ready[b]), .received_i(r_data),
      .sent_valid_i(s_valid[b]), .sent_ready_o(s_ready[b]), .sent_i(s_data),
      .command_valid_i(c_valid[b]), .command_ready_o(c_ready[b]), .command_i(c_data),
      .retry_valid_i(g_valid[b]), .retry_ready_o(g_ready[b]), .retry_qp_i(g_data),
      .flush_start_i(flush_start), .flush_agent_i(flush_agent_now), .flush_busy_o(flush_busy[b]),
      .rehash_valid_o(rehash_valid[b]), .rehash_ready_i(rehash_ready[b]), .rehash_tid_o(rehash_tid[b*64+:64]),
      .rehashed_valid_i(rehashed_valid[b]), .rehashed_i(rehashed),
      .event_valid_o(bank_event_valid_o[b]), .event_ready_i(bank_event_ready_i[b]), .event_o(bank_event_o[b*512+:512]),
      .action_valid_i(bank_action_valid_i[b]), .action_ready_o(bank_action_ready_o[b]),
      .action_i(bank_action_i[b*256+:256]),
      .valid_o(valid), .ready_i(action_ready[b]), .action_o(out), .sent_o(was_sent),
      .descriptor_o(was_descriptor), .no_room_o(no_room),
      .event_done_o(event_done[b]), .wake_o(wakes[b*32+:32]),
      .descriptors_o(descriptors_waiting[b*8+:8]), .responses_o(responses_waiting[b*8+:8]), .quiet_o(bank_quiet[b]), .idle_o(bank_idle[b])
    );
    assign in_turn         = turn_valid && turn == BankBits'(b);
    assign action_valid[b] = valid && (!was_descriptor || in_turn);
    assign turn_over[b]    = action_ready[b] && was_descriptor;
    assign actions[b*ActionWidth+:ActionWidth] = {1'b0, was_sent, no_room, out};
  end

  always_comb begin
    events = '0;
    for (int unsigned b = 0; b < Banks; b++) events = events + 4'(event_done[b]);
  end

  // Events that come again need the hash of another TID.
  logic [Banks-1:0] rehash_source, rehashed_source;
  logic rehash_any, rehash_taken, rehashed_any, rehash_idle;
  logic [63:0] rehash_tid_any;
  tidemill_stream_mux #(.Streams(Banks), .Width(64)) i_rehash (
    .clk_i, .rst_i(rst), .valid_i(rehash_valid), .ready_o(rehash_ready), .data_i(rehash_tid),
    .valid_o(rehash_any), .ready_i(rehash_taken), .data_o(rehash_tid_any), .source_o(rehash_source)
  );
  tidemill_tid_hash #(.Width(Banks)) i_rehash_hash (
    .clk_i, .rst_i(rst), .seed_i(seed), .valid_i(rehash_any), .ready_o(rehash_taken), .tid_i(rehash_tid_any),
    .data_i(rehash_source), .valid_o(rehashed_any), .ready_i(1'b1), .hash_o(rehashed), .data_o(rehashed_source),
    .idle_o(rehash_idle)
  );
  assign rehashed_valid = rehashed_any ? rehashed_source : '0;

  // ------------------------------------------------------------ what comes out
  logic flush_done_valid, flush_done_ready, port_event_q;
  logic [255:0] flush_done;
  tidemill_abi::completion_t port_event;

  tidemill_flush #(.Banks(Banks)) i_flush (
    .clk_i, .rst_i(rst), .valid_i(flush_valid), .ready_o(flush_ready), .agent_i(flush_agent),
    .events_i(lane_events), .events_done_i(lane_events_done), .grants_i(grants), .answered_i(answered_q),
    .start_o(flush_start), .agent_o(flush_agent_now), .busy_i(flush_busy),
    .done_valid_o(flush_done_valid), .done_ready_i(flush_done_ready), .done_o(flush_done), .idle_o(flush_idle)
  );

  always_comb begin
    port_event        = '0;
    port_event.kind   = tidemill_abi::CompletionKindPortEvent;
    port_event.status = tidemill_abi::StatusError;
  end
  always_ff @(posedge clk_i) begin
    if (action_ready[Banks+2]) port_event_q <= 1'b0;
    if (failed && !failure) port_event_q <= 1'b1;
    if (rst) port_event_q <= 1'b0;
  end

  assign action_valid[Banks]   = flush_done_valid;
  assign action_valid[Banks+1] = unsolicited_out_valid;
  assign action_valid[Banks+2] = port_event_q;
  assign flush_done_ready      = action_ready[Banks];
  assign unsolicited_out_ready = action_ready[Banks+1];
  assign actions[Banks*ActionWidth+:ActionWidth]     = {3'b100, flush_done};
  assign actions[(Banks+1)*ActionWidth+:ActionWidth] = {3'b100, unsolicited_out};
  assign actions[(Banks+2)*ActionWidth+:ActionWidth] = {3'b100, port_event};

  logic action_any, action_taken;
  logic [Actions-1:0] action_source;
  logic [ActionWidth-1:0] action;
  logic transmit_valid, transmit_ready, completion_valid, completion_ready;
  logic [127:0] transmit;
  logic [255:0] completion;

  tidemill_stream_mux #(.Streams(Actions), .Width(ActionWidth)) i_actions (
    .clk_i, .rst_i(rst), .valid_i(action_valid), .ready_o(action_ready), .data_i(actions),
    .valid_o(action_any), .ready_i(action_taken), .data_o(action), .source_o(action_source)
  );
  tidemill_router #(.BankBits(BankBits)) i_router (
    .clk_i, .rst_i(rst), .now_i(now), .valid_i(action_any), .ready_o(action_taken),
    .ready_made_i(action[258]), .sent_i(action[257]), .no_room_i(action[256]), .data_i(action[255:0]),
    .transmit_valid_o(transmit_valid), .transmit_ready_i(transmit_ready), .transmit_o(transmit),
    .completion_valid_o(completion_valid), .completion_ready_i(completion_ready), .completion_o(completion),
    .window_valid_o(window_put), .window_ready_i(window_put_ready), .window_lane_o(window_put_lane),
    .retry_valid_o(retry_put), .retry_ready_i(retry_put_ready), .retry_lane_o(retry_put_lane),
    .wire_credit_a_o(wire_credit_a), .wire_credit_b_o(wire_credit_b),
    .drop_count_o(drop_count), .reject_count_o(reject_count), .cause_o(cause), .complete_count_o(complete_count),
    .status_o(status), .counts_o(counts)
  );

  // ------------------------------------------------------------ rings card to host
  logic [1:0] ring_writer_idle;
  logic index_idle;

  tidemill_ring_writer #(.EntryBits(256), .OwnerBit(224)) i_completions (
    .clk_i, .rst_i(rst), .start_i(ring_start[RingCompletion]), .base_i(ring_base[RingCompletion*58+:58]),
    .bits_i(ring_bits[RingCompletion*5+:5]), .producer_o(ring_producer[RingCompletion*32+:32]),
    .valid_i(completion_valid), .ready_o(completion_ready), .data_i(completion),
    .write_valid_o(write_valid[0]), .write_ready_i(write_ready[0]), .write_line_o(write_line[57:0]),
    .write_data_o(write_lines[511:0]), .write_strobe_o(write_strobe[63:0]), .idle_o(ring_writer_idle[0])
  );
  tidemill_ring_writer #(.EntryBits(128), .OwnerBit(41)) i_transmits (
    .clk_i, .rst_i(rst), .start_i(ring_start[RingTransmit]), .base_i(ring_base[RingTransmit*58+:58]),
    .bits_i(ring_bits[RingTransmit*5+:5]), .producer_o(ring_producer[RingTransmit*32+:32]),
    .valid_i(transmit_valid), .ready_o(transmit_ready), .data_i(transmit),
    .write_valid_o(write_valid[1]), .write_ready_i(write_ready[1]), .write_line_o(write_line[58+:58]),
    .write_data_o(write_lines[512+:512]), .write_strobe_o(write_strobe[64+:64]), .idle_o(ring_writer_idle[1])
  );
  tidemill_index_writer #(.Lanes(Lanes), .Rings(HostRings)) i_indices (
    .clk_i, .rst_i(rst), .base_i(index_base), .lane_valid_i(index_valid), .lane_ready_o(index_ready),
    .lane_i(index_lane), .lane_index_i(index), .ring_index_i(ring_consumer),
    .write_valid_o(write_valid[2]), .write_ready_i(write_ready[2]), .write_line_o(write_line[116+:58]),
    .write_data_o(write_lines[1024+:512]), .write_strobe_o(write_strobe[128+:64]), .idle_o(index_idle)
  );

  logic [15:0] all_descriptors, all_responses;
  always_comb begin
    all_descriptors = '0;
    all_responses   = '0;
    for (int unsigned b = 0; b < Banks; b++) begin
      all_descriptors = all_descriptors + 16'(descriptors_waiting[b*8+:8]);
      all_responses   = all_responses + 16'(responses_waiting[b*8+:8]);
    end
  end
  assign waiting_o = {16'(turn_occupancy), 16'(retry_occupancy), 16'(window_occupancy), 16'(fetch_waiting), all_responses, all_descriptors};

  always_comb begin
    wake_o = wakes[31:0];
    for (int unsigned b = 1; b < Banks; b++) begin
      if ($signed(wakes[b*32+:32] - wake_o) < 0) wake_o = wakes[b*32+:32];
    end
  end
  assign idle_o  = quiet_o && bank_idle == '1;
  assign quiet_o = !resetting && reads_idle && writes_idle && reader_idle == '1 && lanes_idle && arbiter_idle && fetch_idle && turn_occupancy == '0
               && descriptor_hash_idle && received_hash_idle && rehash_idle && !hashed_valid && !unsolicited_out_valid
               && window_occupancy == '0 && retry_occupancy == '0 && bank_quiet == '1 && flush_idle && !action_any
               && ring_writer_idle == '1 && index_idle && !command_valid && !sent_valid && !header_any
               && !doorbell_valid && !reg_write;

  logic unused;
  assign unused = &{1'b0, tick, header_source, action_source, sent, received, write_data};
endmodule

`default_nettype wire
