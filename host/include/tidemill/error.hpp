// SPDX-License-Identifier: Apache-2.0
/// Errors of the runtime. Set-up calls return Result<T> with a message that names the thing and the fix; the data path
/// returns a bare Errc and allocates nothing. No call throws for these reasons, and nothing is thrown through a
/// callback.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tidemill {

enum class Errc : uint8_t {
  ok = 0,
  // Opening devices, wires and ports.
  unknown_device,  ///< No device of this URI scheme or index.
  bad_uri,         ///< The URI does not parse, or has an unknown option.
  device_failed,   ///< The device does not answer, or speaks another ABI version.
  bad_option,      ///< An option of a simulated fabric is out of its range, or its node is taken.
  file_failed,     ///< A file could not be written.
  no_such_port,    ///< The device has no port of this number, or it is open already.
  // Registration; one error for each check.
  qp_not_supported,    ///< This port has no SMI (QP0) or no GSI (QP1).
  bad_rmpp_version,    ///< Only RMPP versions 0 (none) and 1 exist.
  bad_class_version,   ///< Class version 0x83 or above.
  no_receive_handler,  ///< Unsolicited MADs were asked for without a handler for them.
  bad_class,           ///< Class 0, or a class above 0x4f that is not 0x81.
  bad_oui,             ///< Vendor range 2 (0x30 to 0x4f) needs an OUI of 24 bits other than 0.
  class_without_rmpp,  ///< RMPP was asked for a class that has none.
  class_not_on_qp,     ///< SMI carries classes 0x01 and 0x81 only, GSI every other.
  no_send_handler,     ///< Without unsolicited MADs an agent needs a send handler.
  method_taken,        ///< Another agent has one of the methods of this class, version (and OUI).
  too_many_ouis,       ///< At most 8 different OUIs for a vendor class.
  bad_weight,          ///< Weight 0, or a service class above 3.
  bad_queue_depth,     ///< Not a power of two, or above 65,536.
  ids_exhausted,       ///< All 2^24 - 1 agent ids are in use.
  // Sending.
  closing,           ///< The agent is deregistering: refused, and no completion comes.
  would_block,       ///< All slots, or this lane, are full: wait_for_room() and try again.
  bad_length,        ///< A MAD has 24 to 256 bytes.
  bad_time,          ///< Negative, longer than the device's ticks can express, or more than kMaxRetries.
  bad_address,       ///< The wire has no such P_Key, GID index or path.
  response_expects,  ///< A response MAD cannot itself expect a response by TID of another.
  not_outstanding,   ///< The send is over, is being answered, or never was.
  // Deregistration and calls.
  in_callback,     ///< Would wait for the callback it is called from: use the asynchronous form.
  not_registered,  ///< The handle is empty or already deregistered.
  // Outcome of call() and request().
  timed_out,      ///< No response after all tries, or the deadline passed.
  flushed,        ///< Cancelled or deregistered meanwhile.
  wire_error,     ///< The wire failed this send.
  duplicate_tid,  ///< A live send of this agent has the same TID and class.
};

/// Stable, lower-case words for messages and logs.
std::string_view describe(Errc code);

struct Error {
  Errc code = Errc::ok;
  std::string message;  ///< What was wrong with which input, and what to change.
};

/// A value or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() { return value(); }
  T* operator->() { return &value(); }
  const Error& error() const { return std::get<1>(state_); }
  Errc code() const { return ok() ? Errc::ok : error().code; }

 private:
  std::variant<T, Error> state_;
};

}  // namespace tidemill
