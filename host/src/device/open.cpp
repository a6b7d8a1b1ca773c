// SPDX-License-Identifier: Apache-2.0
/// Device URIs: scheme ":" [path] ["?" name "=" value {"&" name "=" value}].
#include <charconv>
#include <map>
#include <random>

#include "device/plugin.hpp"
#include "device/soft_device.hpp"
#include "fmt/format.h"

namespace tidemill::device {
namespace {

using Options = std::map<std::string, std::string, std::less<>>;

Result<Options> parse_options(std::string_view uri, std::string_view text) {
  Options options;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return Error{Errc::bad_uri, fmt::format("device URI '{}': option '{}' has no value; write {}=VALUE", uri, item, item)};
    options.emplace(item.substr(0, equals), item.substr(equals + 1));
  }
  return options;
}

/// Takes a number out of the options, so that what remains is unknown.
Result<uint64_t> take(std::string_view uri, Options& options, std::string_view name, uint64_t fallback) {
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

Result<std::unique_ptr<Backend>> open_soft(std::string_view uri, Options options) {
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
  const std::size_t colon = uri.find(':');
  if (colon == std::string_view::npos)
    return Error{Errc::bad_uri, fmt::format("device URI '{}' has no scheme; write soft:", uri)};
  const std::string_view scheme = uri.substr(0, colon), rest = uri.substr(colon + 1);
  const std::size_t query = std::min(rest.find('?'), rest.size());
  const std::string_view path = rest.substr(0, query);
  auto options = parse_options(uri, rest.substr(std::min(query + 1, rest.size())));
  if (!options) return options.error();
  if (scheme == "cosim" || scheme == "xrt")
    return open_plugin(scheme, {std::string(uri), std::string(path), std::move(options).value(), virtual_clock});
  if (scheme != "soft")
    return Error{Errc::unknown_device, fmt::format("device URI '{}': no device '{}:'; there are soft:, cosim: and xrt:", uri, scheme)};
  if (!path.empty())
    return Error{Errc::bad_uri, fmt::format("device URI '{}': soft: takes no path, but has '{}'", uri, path)};
  return open_soft(uri, std::move(options).value());
}

}  // namespace tidemill::device
