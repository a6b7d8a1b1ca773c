// SPDX-License-Identifier: Apache-2.0
/// Devices that need more than the runtime does (SystemC, XRT) are shared libraries of their own, loaded when their URI is
/// opened: libtidemill-<scheme>.so, looked for in TIDEMILL_PLUGINS, beside the program or its library, where it was
/// built, and where the loader looks. Runtime and plug-in are of one build.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "device/backend.hpp"

namespace tidemill::device {

struct PluginRequest {
  std::string uri;
  std::string path;  ///< Between scheme and options.
  std::map<std::string, std::string, std::less<>> options;
  bool virtual_clock = false;
};
/// The function `tidemill_open_device` of a plug-in; the caller deletes the result.
using OpenDevice = Result<std::unique_ptr<Backend>>* (*)(const PluginRequest&);

Result<std::unique_ptr<Backend>> open_plugin(std::string_view scheme, const PluginRequest& request);

}  // namespace tidemill::device
