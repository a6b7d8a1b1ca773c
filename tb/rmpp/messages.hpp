// SPDX-License-Identifier: Apache-2.0
/// Messages whose every byte tells where it belongs.
#pragma once
#include <cstddef>
#include <vector>

#include "rmpp/segment.hpp"
#include "tidemill/mad.hpp"

namespace tidemill::test {

inline constexpr uint8_t kGetTable = 0x12, kGetTableResponse = 0x92;
inline constexpr std::size_t kSaData = 56;

/// SubnAdm, active RMPP, `data` bytes behind the headers.
inline std::vector<std::byte> make_message(std::size_t data, uint8_t method = kGetTableResponse,
                                           uint64_t tid = 0x0000000700001234) {
  Mad head = Mad::make(mad_class::subn_adm, 2, method, 0x0035);
  head.tid(tid).put8(24, 1).put8(25, 1).put8(26, rmpp::Flag::active).put8(55, 0xa5);
  std::vector<std::byte> message(head.bytes().begin(), head.bytes().begin() + kSaData);
  for (std::size_t i = 0; i < data; ++i) message.push_back(static_cast<std::byte>(i * 31 + (i >> 8)));
  return message;
}

/// The data of a message; the headers differ in what RMPP writes there.
inline std::vector<std::byte> data_of(std::span<const std::byte> message) {
  return {message.begin() + kSaData, message.end()};
}

}  // namespace tidemill::test
