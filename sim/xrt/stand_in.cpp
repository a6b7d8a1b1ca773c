// SPDX-License-Identifier: Apache-2.0
#include "sim/xrt/stand_in.hpp"

#include "rpc.pb.h"

namespace tidemill::sim {
namespace {

bool answer(Channel& host, const google::protobuf::MessageLite& message) {
  return host.send(Channel::Header::answer, Api::close, message);
}

/// False when that was the last.
bool serve(Channel& host, Api api, const std::string& message) {
  switch (api) {
    case Api::register_read: {
      rpc::RegisterAccess call;
      rpc::RegisterReadAnswer ones;
      constexpr uint32_t kWord = 4;
      // Of a call that somebody else received only the size of one register is to be expected.
      const uint32_t bytes = call.ParseFromString(message) ? call.bytes() : kWord;
      ones.set_ok(true);
      ones.set_data(std::string(bytes, '\xff'));
      return answer(host, ones);
    }
    case Api::copy_to_device: {
      rpc::CopyToDevice call;
      rpc::CopyToDeviceAnswer done;
      done.set_bytes(call.ParseFromString(message) ? call.data().size() : 0);
      return answer(host, done);
    }
    case Api::copy_from_device: {
      rpc::CopyFromDevice call;
      rpc::CopyFromDeviceAnswer done;
      done.set_data(std::string(call.ParseFromString(message) ? call.bytes() : 0, '\xff'));
      done.set_bytes(done.data().size());
      return answer(host, done);
    }
    case Api::debug_messages: {
      rpc::DebugMessages none;
      none.set_info("");
      none.set_warning("");
      none.set_error("");
      return answer(host, none);
    }
    default: {
      rpc::Acknowledge ok;
      ok.set_ok(true);
      return answer(host, ok) && api != Api::close;
    }
  }
}

}  // namespace

void stand_in(Channel& host, Channel& memory, CallState& state) {
  bool more = true;
  if (const uint32_t begun = state.api; begun != 0)
    more = host.discard(state.bytes) && serve(host, static_cast<Api>(begun), "");
  std::string message;
  while (more) {
    const auto api = host.receive_call(message);
    more = api && serve(host, *api, message);
  }
  memory.send(Channel::Header::call, Api::close, rpc::Nothing());
  host.await_end();
}

}  // namespace tidemill::sim
