// SPDX-License-Identifier: Apache-2.0
#include "device/uri.hpp"

#include <algorithm>

#include "fmt/format.h"

namespace tidemill::device {

Result<ParsedUri> parse_uri(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  if (colon == std::string_view::npos)
    return Error{Errc::bad_uri, fmt::format("device URI '{}' has no scheme; write soft:", uri)};
  const std::string_view rest = uri.substr(colon + 1);
  const std::size_t query = std::min(rest.find('?'), rest.size());
  ParsedUri parsed{
      .scheme = std::string(uri.substr(0, colon)), .path = std::string(rest.substr(0, query)), .options = {}};
  for (std::string_view text = rest.substr(std::min(query + 1, rest.size())); !text.empty();) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return Error{Errc::bad_uri,
                   fmt::format("device URI '{}': option '{}' has no value; write {}=VALUE", uri, item, item)};
    parsed.options.emplace(item.substr(0, equals), item.substr(equals + 1));
  }
  return parsed;
}

}  // namespace tidemill::device
