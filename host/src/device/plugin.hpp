// SPDX-License-Identifier: Apache-2.0
/// Devices that need more than the runtime does (SystemC, XRT) are shared libraries of their own, loaded when their URI is
/// opened: libtidemill-<scheme>.so, looked for in TIDEMILL_PLUGINS, beside the program or its library, where it was
/// built, and where the loader looks. Runtime and plug-in are of one build.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/card.hpp"

namespace tidemill::device {

struct PluginRequest {
  std::string uri;
  std::string path;  ///< Between scheme and options.
  std::map<std::string, std::string, std::less<>> options;
  bool virtual_clock = false;
};
/// The function `tidemill_open_device` of a plug-in; the caller deletes the result.
using OpenDevice = Result<std::unique_ptr<Backend>>* (*)(const PluginRequest&);

/// The function `tidemill_open_card`: the card alone, as it stands, without a reset and without its driver. A card whose
/// time is simulated runs on a virtual clock, whatever the request says.
using OpenCard = Result<std::unique_ptr<Card>>* (*)(const PluginRequest&);

struct CardEntry {
  std::string uri;   ///< Opens it, once an xclbin is named.
  std::string name;  ///< Its platform.
  bool offline = false;
};
/// The function `tidemill_list_cards` of a plug-in for cards of this machine; emulated ones are not among them.
using ListCards = Result<std::vector<CardEntry>>* (*)();

Result<std::unique_ptr<Backend>> open_plugin(std::string_view scheme, const PluginRequest& request);

/// For who looks at a card rather than sends over it. Not of `soft:`, which has no registers.
Result<std::unique_ptr<Card>> open_card(std::string_view uri);
Result<std::vector<CardEntry>> list_cards();

}  // namespace tidemill::device
