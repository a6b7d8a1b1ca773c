// SPDX-License-Identifier: Apache-2.0
#include "device/plugin.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "device/uri.hpp"
#include "fmt/format.h"

namespace tidemill::device {
namespace {

std::vector<std::string> places(const std::string& file) {
  std::vector<std::string> all;
  if (const char* chosen = std::getenv("TIDEMILL_PLUGINS"))  // NOLINT(concurrency-mt-unsafe): no thread of ours changes it
     all.push_back(std::string(chosen) + "/" + file);
  std::error_code none;
  if (const auto self = std::filesystem::read_symlink("/proc/self/exe", none); !none) {
    all.push_back((self.parent_path() / file).string());
    all.push_back((self.parent_path() / "../lib/tidemill" / file).string());
  }
#ifdef TIDEMILL_PLUGIN_DIRS
  std::string_view rest = TIDEMILL_PLUGIN_DIRS;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    all.push_back(std::string(rest.substr(0, end)) + "/" + file);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
#endif
  all.push_back(file);
  return all;
}

/// A function of libtidemill-<scheme>.so; `who` asks for it.
Result<void*> function_of(std::string_view scheme, const char* name, const std::string& who) {
  const std::string file = fmt::format("libtidemill-{}.so", scheme);
  std::string why;
  for (const std::string& place : places(file)) {
    // Kept for the life of the program: what it made may live as long.
    void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      if (why.empty() || std::filesystem::exists(place)) why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it for each thread
      continue;
    }
    void* const found = dlsym(library, name);
    if (found == nullptr) return Error{Errc::device_failed, fmt::format("{} is no device of this runtime: it has no {}", place, name)};
    return found;
  }
  return Error{Errc::unknown_device, fmt::format("{}: {} cannot be loaded: {}. Install it, or name its folder in TIDEMILL_PLUGINS", who, file, why)};
}

}  // namespace

Result<std::unique_ptr<Backend>> open_plugin(std::string_view scheme, const PluginRequest& request) {
  const auto open = function_of(scheme, "tidemill_open_device", fmt::format("device URI '{}'", request.uri));
  if (!open) return open.error();
  const std::unique_ptr<Result<std::unique_ptr<Backend>>> opened(reinterpret_cast<OpenDevice>(open.value())(request));
  return std::move(*opened);
}

Result<std::unique_ptr<Card>> open_card(std::string_view uri) {
  const auto parsed = parse_uri(uri);
  if (!parsed) return parsed.error();
  const ParsedUri& u = parsed.value();
  if (u.scheme == "soft")
    return Error{Errc::unknown_device, fmt::format("device URI '{}': soft: is the engine in this process, it has no registers; name a card (xrt:0) or cosim:", uri)};
  if (u.scheme != "cosim" && u.scheme != "xrt")
    return Error{Errc::unknown_device, fmt::format("device URI '{}': no card '{}:'; there are cosim: and xrt:", uri, u.scheme)};
  const auto open = function_of(u.scheme, "tidemill_open_card", fmt::format("device URI '{}'", uri));
  if (!open) return open.error();
  const std::unique_ptr<Result<std::unique_ptr<Card>>> opened(
      reinterpret_cast<OpenCard>(open.value())({std::string(uri), u.path, u.options, true}));
  return std::move(*opened);
}

Result<std::vector<CardEntry>> list_cards() {
  const auto list = function_of("xrt", "tidemill_list_cards", "the cards of this machine");
  if (!list) return list.error();
  const std::unique_ptr<Result<std::vector<CardEntry>>> listed(reinterpret_cast<ListCards>(list.value())());
  return std::move(*listed);
}

}  // namespace tidemill::device
