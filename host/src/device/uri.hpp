// SPDX-License-Identifier: Apache-2.0
/// Device URIs: scheme ":" [path] ["?" name "=" value {"&" name "=" value}].
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "tidemill/error.hpp"

namespace tidemill::device {

using UriOptions = std::map<std::string, std::string, std::less<>>;

struct ParsedUri {
  std::string scheme;
  std::string path;  ///< Between scheme and options.
  UriOptions options;
};

Result<ParsedUri> parse_uri(std::string_view uri);

}  // namespace tidemill::device
