// SPDX-License-Identifier: Apache-2.0
#include "tidemill/error.hpp"
#include "tidemill/send.hpp"
#include "tidemill/stats.hpp"

namespace tidemill {

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::ok: return "ok";
    case Errc::unknown_device: return "unknown device";
    case Errc::bad_uri: return "bad device URI";
    case Errc::device_failed: return "device failed";
    case Errc::bad_option: return "bad option";
    case Errc::file_failed: return "file not written";
    case Errc::no_such_port: return "no such port";
    case Errc::qp_not_supported: return "queue pair not supported on this port";
    case Errc::bad_rmpp_version: return "bad RMPP version";
    case Errc::bad_class_version: return "bad class version";
    case Errc::no_receive_handler: return "no receive handler";
    case Errc::bad_class: return "bad management class";
    case Errc::bad_oui: return "bad OUI";
    case Errc::class_without_rmpp: return "class without RMPP";
    case Errc::class_not_on_qp: return "class not carried by this queue pair";
    case Errc::no_send_handler: return "no send handler";
    case Errc::method_taken: return "method taken by another agent";
    case Errc::too_many_ouis: return "too many OUIs for this class";
    case Errc::bad_weight: return "bad weight or service class";
    case Errc::bad_queue_depth: return "bad queue depth";
    case Errc::ids_exhausted: return "agent ids exhausted";
    case Errc::closing: return "agent is closing";
    case Errc::would_block: return "would block";
    case Errc::bad_length: return "bad MAD length";
    case Errc::bad_time: return "bad time";
    case Errc::bad_address: return "bad address";
    case Errc::response_expects: return "a response cannot expect a response";
    case Errc::not_outstanding: return "send not outstanding";
    case Errc::in_callback: return "not from a callback";
    case Errc::not_registered: return "not registered";
    case Errc::timed_out: return "timed out";
    case Errc::flushed: return "flushed";
    case Errc::wire_error: return "wire error";
    case Errc::duplicate_tid: return "duplicate TID";
  }
  return "unknown error";
}

std::string_view describe(SendStatus status) {
  switch (status) {
    case SendStatus::success: return "success";
    case SendStatus::timeout: return "timeout";
    case SendStatus::deadline: return "deadline";
    case SendStatus::flushed: return "flushed";
    case SendStatus::error: return "error";
    case SendStatus::duplicate: return "duplicate";
  }
  return "unknown status";
}

std::string_view describe(DropCause cause) {
  switch (cause) {
    case DropCause::stale: return "stale";
    case DropCause::duplicate: return "duplicate";
    case DropCause::cancelled: return "cancelled";
    case DropCause::wrong_class: return "wrong class";
    case DropCause::wrong_port: return "wrong port";
    case DropCause::wrong_address: return "wrong address";
    case DropCause::never_sent: return "never sent";
    case DropCause::malformed: return "malformed";
    case DropCause::no_agent: return "no agent";
    case DropCause::no_handler: return "no receive handler";
    case DropCause::no_buffer: return "no receive buffer";
  }
  return "unknown cause";
}

}  // namespace tidemill
