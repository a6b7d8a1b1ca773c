// SPDX-License-Identifier: Apache-2.0
/// The devices that need nothing but this process, and the way to the others.
#include <charconv>
#include <random>

#include "device/plugin.hpp"
#include "device/soft_device.hpp"
#include "device/uri.hpp"
#include "fmt/format.h"

namespace tidemill::device {
namespace {

/// Takes a number out of the options, so that what remains is unknown.
Result<uint64_t> take(std::string_view uri, UriOptions& options, std::string_view name, uint64_t fallback) {
  const auto found = options.find(name);
  if (found == options.end()) return fallback;
  const std::string text = found->second;
  options.erase(found);
  uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size())
    return Error{Errc::bad_uri, fmt::format("device URI '{}': {}={} is not a whole number", uri, name, text)};
  return value;
}

Result<std::unique_ptr<Backend>> open_soft(std::string_view uri, UriOptions options) {
  std::random_device random;
  auto banks = take(uri, options, "banks", 1);
  if (!banks) return banks.error();
  auto seed = take(uri, options, "seed", uint64_t{random()} << 32 | random());
  if (!seed) return seed.error();
  if (!options.empty())
    return Error{Errc::bad_uri, fmt::format("device URI '{}': unknown option '{}'; soft: knows banks and seed", uri,
                                            options.begin()->first)};
  using Made = std::unique_ptr<Backend>;
  switch (banks.value()) {
    case 1: return Made(std::make_unique<SoftDevice<hls::HostBankConfig, 0>>(seed.value()));
    case 2: return Made(std::make_unique<SoftDevice<hls::BankConfig<15, 14>, 1>>(seed.value()));
    case 8: return Made(std::make_unique<SoftDevice<hls::CardBankConfig, 3>>(seed.value()));
    default:
      return Error{Errc::bad_uri, fmt::format("device URI '{}': banks={} is not to be had; choose 1, 2 or 8", uri, banks.value())};
  }
}

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(std::string_view uri, bool virtual_clock) {
  auto parsed = parse_uri(uri);
  if (!parsed) return parsed.error();
  ParsedUri& u = parsed.value();
  if (u.scheme == "cosim" || u.scheme == "xrt") return open_plugin(u.scheme, {std::string(uri), u.path, std::move(u.options), virtual_clock});
  if (u.scheme != "soft")
    return Error{Errc::unknown_device, fmt::format("device URI '{}': no device '{}:'; there are soft:, cosim: and xrt:", uri, u.scheme)};
  if (!u.path.empty())
    return Error{Errc::bad_uri, fmt::format("device URI '{}': soft: takes no path, but has '{}'", uri, u.path)};
  return open_soft(uri, std::move(u.options));
}

}  // namespace tidemill::device
