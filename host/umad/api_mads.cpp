// SPDX-License-Identifier: Apache-2.0
/// umad: open, register, send, receive. A wait is one poll() with no lock held and no frame that forbids unwinding:
/// programs cancel their threads in it.
#include <infiniband/umad.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "export.hpp"
#include "files.hpp"
#include "session.hpp"

using namespace tidemill::umad;

namespace {

/// How much longer a receive waits for a timeout that is due: its own time is up with that of the send, and a caller
/// that hears of the send's end can repeat it.
constexpr int kGraceMs = 10;
constexpr int kGraces = 25;

/// -errno of a call, as these functions tell it: negative, and in errno.
int refuse(int error) {
  errno = -error;
  return error;
}

int wait_readable(int fd, int timeout_ms) {
  pollfd p{fd, POLLIN, 0};
  const int ready = ::poll(&p, 1, timeout_ms);
  return ready == 1 ? 0 : ready == 0 ? -ETIMEDOUT : -EIO;
}

int wait_for_mad(int fd, int timeout_ms) {
  int waited = wait_readable(fd, timeout_ms);
  for (int i = 0; waited == -ETIMEDOUT && timeout_ms > 0 && i < kGraces; ++i) {
    const auto file = find_file(fd);
    if (!file || !file->end_is_due()) break;
    waited = wait_readable(fd, kGraceMs);
  }
  return waited;
}

std::bitset<128> methods_of(const void* mask) {
  std::bitset<128> methods;
  if (mask == nullptr) return methods;
  uint64_t words[2];
  std::memcpy(words, mask, sizeof words);
  for (unsigned i = 0; i < 128; ++i) methods[i] = (words[i / 64] >> (i % 64) & 1u) != 0;
  return methods;
}

int add_agent(int portid, const PortFile::AgentRequest& request) {
  const auto file = find_file(portid);
  Session* const session = Session::get();
  if (!file || session == nullptr) return -EBADF;
  return file->add_agent(*session, request);
}

}  // namespace

TIDEMILL_UMAD int umad_open_port(const char* ca_name, int portnum) {
  Session* const session = Session::get();
  if (session == nullptr) return -ENODEV;
  if (ca_name != nullptr && *ca_name != '\0' && std::strcmp(ca_name, Adapter::kName) != 0) return -ENODEV;
  if (portnum > 0 && static_cast<unsigned>(portnum) != session->adapter().port) return -EINVAL;
  return add_file(std::make_shared<PortFile>());
}

TIDEMILL_UMAD int umad_close_port(int portid) {
  const auto file = take_file(portid);
  if (!file) return refuse(-EBADF);
  file->remove_all();
  return 0;
}

TIDEMILL_UMAD int umad_get_fd(int portid) {
  return portid;
}

TIDEMILL_UMAD int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
                                long method_mask[16 / sizeof(long)]) {
  // Programs that know no OUI get that of the OpenFabrics, as ever.
  constexpr uint32_t kOpenFabrics = 0x001405;
  const int agent = add_agent(portid, {.mgmt_class = static_cast<uint8_t>(mgmt_class),
                                       .class_version = static_cast<uint8_t>(mgmt_version),
                                       .rmpp_version = rmpp_version,
                                       .own_rmpp = false,
                                       .oui = kOpenFabrics,
                                       .methods = methods_of(method_mask)});
  if (agent < 0) errno = -agent;
  return agent < 0 ? -EPERM : agent;
}

TIDEMILL_UMAD int umad_register_oui(int portid, int mgmt_class, uint8_t rmpp_version, uint8_t oui[3],
                                    long method_mask[16 / sizeof(long)]) {
  if (mgmt_class < 0x30 || mgmt_class > 0x4f) return refuse(-EINVAL);
  const int agent = add_agent(portid, {.mgmt_class = static_cast<uint8_t>(mgmt_class),
                                       .class_version = 1,
                                       .rmpp_version = rmpp_version,
                                       .own_rmpp = false,
                                       .oui = static_cast<uint32_t>(oui[0] << 16 | oui[1] << 8 | oui[2]),
                                       .methods = methods_of(method_mask)});
  if (agent < 0) errno = -agent;
  return agent < 0 ? -EPERM : agent;
}

TIDEMILL_UMAD int umad_register2(int portid, umad_reg_attr* attr, uint32_t* agent_id) {
  if (attr == nullptr || agent_id == nullptr) return EINVAL;
  if ((attr->flags & ~static_cast<uint32_t>(UMAD_USER_RMPP)) != 0) {
    attr->flags = UMAD_USER_RMPP;  // what there is
    return EINVAL;
  }
  const int agent = add_agent(portid, {.mgmt_class = attr->mgmt_class,
                                       .class_version = attr->mgmt_class_version,
                                       .rmpp_version = attr->rmpp_version,
                                       .own_rmpp = (attr->flags & UMAD_USER_RMPP) != 0,
                                       .oui = attr->oui,
                                       .methods = methods_of(attr->method_mask)});
  if (agent < 0) return -agent;
  *agent_id = static_cast<uint32_t>(agent);
  return 0;
}

TIDEMILL_UMAD int umad_unregister(int portid, int agentid) {
  const auto file = find_file(portid);
  const int result = file ? file->remove_agent(agentid) : -EBADF;
  return result == 0 ? 0 : (refuse(result), -1);
}

TIDEMILL_UMAD int umad_send(int portid, int agentid, void* umad, int length, int timeout_ms, int retries) {
  errno = 0;
  const auto file = find_file(portid);
  if (!file) {
    errno = EBADF;
    return -EIO;
  }
  constexpr int kLongest = 256 << 20;
  if (umad == nullptr || length < 0 || length > kLongest) {
    errno = EINVAL;
    return -EIO;
  }
  auto* const header = static_cast<ib_user_mad*>(umad);
  header->timeout_ms = static_cast<uint32_t>(timeout_ms);
  header->retries = static_cast<uint32_t>(retries);
  header->agent_id = static_cast<uint32_t>(agentid);
  const std::span<const std::byte> mad(reinterpret_cast<const std::byte*>(header->data),
                                       static_cast<std::size_t>(length));
  const int result = file->send(agentid, *header, mad, timeout_ms, retries);
  if (result == 0) return 0;
  errno = -result;
  return -EIO;
}

TIDEMILL_UMAD int umad_recv(int portid, void* umad, int* length, int timeout_ms) {
  errno = 0;
  if (umad == nullptr || length == nullptr) return refuse(-EINVAL);
  // No smart pointer is held while waiting: a cancelled thread leaves nothing behind.
  if (timeout_ms != 0)
    if (const int waited = wait_for_mad(portid, timeout_ms); waited < 0) {
      if (errno == 0) errno = -waited;
      return waited;
    }
  const auto file = find_file(portid);
  if (!file) return refuse(-EBADF);
  const int result = file->receive(static_cast<std::byte*>(umad), length);
  return result < 0 ? refuse(result) : result;
}

TIDEMILL_UMAD int umad_poll(int portid, int timeout_ms) {
  return wait_for_mad(portid, timeout_ms);
}
