// SPDX-License-Identifier: Apache-2.0
#include "xrt/xclbin_file.hpp"

#include <xclbin.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "fmt/format.h"

namespace tidemill::xrt_card {
namespace {

Error bad(const std::string& path, const std::string& why) {
  return Error{Errc::device_failed, fmt::format("xclbin '{}': {}", path, why)};
}

template <class Text>
std::string text(const Text& field) {
  const auto* const begin = reinterpret_cast<const char*>(field);
  return {begin, strnlen(begin, sizeof field)};
}

}  // namespace

Result<XclbinFile> inspect_xclbin(const std::string& path) {
  std::error_code failed;
  const uint64_t bytes = std::filesystem::file_size(path, failed);
  if (failed)
    return bad(path, fmt::format("{}; name the file built for this card in the URI (xclbin=FILE) or in TIDEMILL_XCLBIN",
                                 failed.message()));
  std::ifstream file(path, std::ios::binary);
  if (!file) return bad(path, std::strerror(errno));  // NOLINT(concurrency-mt-unsafe): glibc's is safe for known errors

  axlf top{};
  constexpr std::size_t kHead = sizeof(axlf) - sizeof(axlf_section_header);
  if (bytes < kHead) return bad(path, fmt::format("is no xclbin: it has {} bytes, the header alone {}", bytes, kHead));
  file.read(reinterpret_cast<char*>(&top), kHead);
  if (std::memcmp(top.m_magic, "xclbin2", 8) != 0) return bad(path, "is no xclbin: it does not begin with 'xclbin2'");
  if (top.m_header.m_length != bytes)
    return bad(path, fmt::format("is truncated or damaged: it has {} bytes, its header says {}; copy it again", bytes,
                                 top.m_header.m_length));

  XclbinFile found{.path = path, .platform = text(top.m_header.m_platformVBNV)};
  constexpr uint32_t kMostSections = 256;
  if (top.m_header.m_numSections > kMostSections)
    return bad(path, fmt::format("is damaged: {} sections", top.m_header.m_numSections));
  std::vector<axlf_section_header> sections(top.m_header.m_numSections);
  file.read(reinterpret_cast<char*>(sections.data()),
            static_cast<std::streamsize>(sections.size() * sizeof(axlf_section_header)));
  for (const axlf_section_header& s : sections) {
    if (s.m_sectionOffset > bytes || s.m_sectionSize > bytes - s.m_sectionOffset)
      return bad(path, fmt::format("is damaged: section {} ends at byte {} of {}", s.m_sectionKind,
                                   s.m_sectionOffset + s.m_sectionSize, bytes));
    if (s.m_sectionKind != EMBEDDED_METADATA) continue;
    std::string xml(s.m_sectionSize, '\0');
    file.seekg(static_cast<std::streamoff>(s.m_sectionOffset));
    file.read(xml.data(), static_cast<std::streamsize>(xml.size()));
    found.emulation = xml.find("target=\"hw_em\"") != std::string::npos;
  }
  if (!file) return bad(path, "cannot be read to its end");
  return found;
}

}  // namespace tidemill::xrt_card
