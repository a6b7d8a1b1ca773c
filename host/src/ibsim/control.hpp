// SPDX-License-Identifier: Apache-2.0
/// The control connection: who we are, and questions about our port. One question at a time.
#pragma once
#include <cstdint>
#include <deque>
#include <mutex>

#include "ibsim/protocol.hpp"
#include "ibsim/socket.hpp"
#include "tidemill/error.hpp"
#include "tidemill/ibsim.hpp"

namespace tidemill::ibsim {

class ControlSocket {
 public:
  /// Names the thing that is missing if ibsim is not there or has no such node.
  Error open(const IbsimOptions& options);
  ~ControlSocket();

  uint32_t client() const { return client_; }
  /// The process at the other end, from its credentials; 0 if unknown.
  int peer() const { return peer_; }
  Result<Ibsim::Attribute> ask(Request what, const Ibsim::Attribute& data = {});
  /// The socket of this client's MADs, for the wire; once.
  Socket take_data() { return std::move(data_); }
  bool has_data() const { return data_.get() >= 0; }

 private:
  Error exchange(Request what, Control& c);
  Error receive(Control& c);
  /// The answer to a question that was given up before.
  bool is_late(const Control& answer, Request what);

  std::mutex mutex_;
  Socket socket_, data_;
  std::deque<uint32_t> given_up_;  ///< Types of questions whose answers did not come in time.
  uint32_t id_ = 0;
  uint32_t client_ = 0;  ///< As ibsim numbers us.
  int peer_ = 0;
};

}  // namespace tidemill::ibsim
