// SPDX-License-Identifier: Apache-2.0
/// Views of a MAD: 256 bytes, big endian. A view owns nothing and checks its length once, at construction; every
/// accessor is in range for every content. Source: IBA 13.4.2 (common header), 14.2.1 (SMP), 13.6.2 (RMPP), 13.4.6
/// (status).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemill {

inline constexpr std::size_t kMadBytes = 256;
inline constexpr std::size_t kMadHeaderBytes = 24;

/// Management classes, IBA table 108.
namespace mad_class {
inline constexpr uint8_t subn_lid = 0x01, subn_adm = 0x03, perf = 0x04, bm = 0x05, dev_mgt = 0x06, com_mgt = 0x07,
                         snmp = 0x08, dev_adm = 0x10, boot_mgt = 0x11, bis = 0x12, vendor2_first = 0x30,
                         vendor2_last = 0x4f, subn_directed = 0x81;
}
namespace mad_method {
inline constexpr uint8_t get = 0x01, set = 0x02, send = 0x03, trap = 0x05, report = 0x06, trap_repress = 0x07,
                         response_bit = 0x80, get_resp = 0x81;
}
/// Status of a response to a method or attribute nobody handles.
inline constexpr uint16_t kStatusUnsupportedMethodAttribute = 0x000c;
/// Direction bit of a directed-route SMP's status.
inline constexpr uint16_t kDirectionBit = 0x8000;

/// Reads. `bytes` must outlive the view and have kMadBytes.
class MadView {
 public:
  explicit MadView(std::span<const std::byte, kMadBytes> bytes) : bytes_(bytes) {}

  std::span<const std::byte, kMadBytes> bytes() const { return bytes_; }
  uint8_t base_version() const { return u8(0); }
  uint8_t mgmt_class() const { return u8(1); }
  uint8_t class_version() const { return u8(2); }
  uint8_t method() const { return u8(3); }
  uint16_t status() const { return u16(4); }
  uint64_t tid() const { return uint64_t{u32(8)} << 32 | u32(12); }
  uint16_t attribute() const { return u16(16); }
  uint32_t modifier() const { return u32(20); }
  /// A response by R bit, TrapRepress, or the BM rule.
  bool is_response() const;
  bool is_directed_route() const { return mgmt_class() == mad_class::subn_directed; }
  bool is_vendor2() const {
    return mgmt_class() >= mad_class::vendor2_first && mgmt_class() <= mad_class::vendor2_last;
  }
  /// Of vendor range 2; the upper byte is 0.
  uint32_t oui() const { return u32(36) & 0xffffffu; }

  /// Directed-route fields.
  uint8_t hop_pointer() const { return u8(6); }
  uint8_t hop_count() const { return u8(7); }
  uint64_t mkey() const { return uint64_t{u32(24)} << 32 | u32(28); }
  uint16_t dr_slid() const { return u16(32); }
  uint16_t dr_dlid() const { return u16(34); }
  uint8_t initial_path(unsigned hop) const { return u8(128 + (hop & 63u)); }
  uint8_t return_path(unsigned hop) const { return u8(192 + (hop & 63u)); }

  /// RMPP header; present for classes that carry RMPP.
  bool has_rmpp() const;
  uint8_t rmpp_version() const { return u8(24); }
  uint8_t rmpp_type() const { return u8(25); }
  uint8_t rmpp_flags() const { return u8(26) & 7u; }
  bool rmpp_active() const { return has_rmpp() && (rmpp_flags() & 1u) != 0; }
  uint8_t rmpp_status() const { return u8(27); }
  uint32_t rmpp_segment() const { return u32(28); }
  uint32_t rmpp_length() const { return u32(32); }

  uint8_t u8(std::size_t at) const { return static_cast<uint8_t>(bytes_[at]); }
  uint16_t u16(std::size_t at) const { return static_cast<uint16_t>(u8(at) << 8 | u8(at + 1)); }
  uint32_t u32(std::size_t at) const { return uint32_t{u16(at)} << 16 | u16(at + 2); }
  uint64_t u64(std::size_t at) const { return uint64_t{u32(at)} << 32 | u32(at + 4); }

 private:
  std::span<const std::byte, kMadBytes> bytes_;
};

/// A MAD of one's own to fill in: fields by name, zero otherwise.
class Mad {
 public:
  Mad() = default;
  explicit Mad(MadView view);
  /// base version 1, and the four fields that say what is asked.
  static Mad make(uint8_t mgmt_class, uint8_t class_version, uint8_t method, uint16_t attribute, uint32_t modifier = 0);

  MadView view() const { return MadView(bytes_); }
  std::span<std::byte, kMadBytes> bytes() { return bytes_; }
  std::span<const std::byte, kMadBytes> bytes() const { return bytes_; }

  Mad& base_version(uint8_t v) { return put8(0, v); }
  Mad& mgmt_class(uint8_t v) { return put8(1, v); }
  Mad& class_version(uint8_t v) { return put8(2, v); }
  Mad& method(uint8_t v) { return put8(3, v); }
  Mad& status(uint16_t v) { return put16(4, v); }
  Mad& tid(uint64_t v) { return put64(8, v); }
  Mad& attribute(uint16_t v) { return put16(16, v); }
  Mad& modifier(uint32_t v) { return put32(20, v); }
  Mad& oui(uint32_t v) { return put32(36, v & 0xffffffu); }
  Mad& hop_pointer(uint8_t v) { return put8(6, v); }
  Mad& hop_count(uint8_t v) { return put8(7, v); }
  Mad& dr_slid(uint16_t v) { return put16(32, v); }
  Mad& dr_dlid(uint16_t v) { return put16(34, v); }
  Mad& initial_path(unsigned hop, uint8_t port) { return put8(128 + (hop & 63u), port); }
  Mad& return_path(unsigned hop, uint8_t port) { return put8(192 + (hop & 63u), port); }

  Mad& put8(std::size_t at, uint8_t v);
  Mad& put16(std::size_t at, uint16_t v);
  Mad& put32(std::size_t at, uint32_t v);
  Mad& put64(std::size_t at, uint64_t v);

 private:
  std::array<std::byte, kMadBytes> bytes_{};
};

/// The answer to a Get, Set or Send: same header, GetResp, status.
Mad make_response(MadView request, uint16_t status = 0);

}  // namespace tidemill
