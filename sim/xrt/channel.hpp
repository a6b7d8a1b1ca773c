// SPDX-License-Identifier: Apache-2.0
/// A Unix socket that carries messages with a header in front. One thread at a time.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace google::protobuf {
class MessageLite;
}

namespace tidemill::sim {

/// Calls of XRT's emulation shim.
enum class Api : uint32_t {
  close = 1,
  alloc = 4,
  free = 5,
  copy_to_device = 6,
  copy_from_device = 7,
  register_write = 9,
  register_read = 11,
  debug_messages = 19,
  set_environment = 20,
  host_read = 34,
  host_write = 35,
};

/// How far a call of the host has been served, where another process can see it.
struct CallState {
  std::atomic<uint32_t> api{0};    ///< The call that has been taken and not answered; 0 if there is none.
  std::atomic<uint64_t> bytes{0};  ///< Of its message, still to be received.
};

class Channel {
 public:
  enum class Header { call, answer };

  /// Tries until there is somebody, for `patience`. Not connected if there never was.
  static Channel connect(const std::string& path, std::chrono::milliseconds patience);
  Channel() = default;
  Channel(Channel&& other) noexcept : fd_(other.fd_), state_(other.state_) { other.fd_ = -1; }
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();

  explicit operator bool() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  /// Calls and their answers are noted there from now on.
  void note(CallState& state) { state_ = &state; }
  /// A receive that takes longer fails.
  void patience(std::chrono::milliseconds patience);

  /// What is left of a message that another process has begun to receive.
  bool discard(uint64_t bytes);
  /// The next call and its message; nothing if the other side has gone.
  std::optional<Api> receive_call(std::string& message);
  bool receive_answer(std::string& message, Header header);
  bool send(Header header, Api api, const google::protobuf::MessageLite& message);
  /// Returns when the other side has closed.
  void await_end();

 private:
  explicit Channel(int fd) : fd_(fd) {}
  bool receive(void* to, std::size_t bytes);

  int fd_ = -1;
  CallState* state_ = nullptr;
};

}  // namespace tidemill::sim
