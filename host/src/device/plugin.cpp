// SPDX-License-Identifier: Apache-2.0
#include "device/plugin.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

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

}  // namespace

Result<std::unique_ptr<Backend>> open_plugin(std::string_view scheme, const PluginRequest& request) {
  const std::string file = fmt::format("libtidemill-{}.so", scheme);
  std::string why;
  for (const std::string& place : places(file)) {
    // Kept for the life of the program: what it made may live as long.
    void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      if (why.empty() || std::filesystem::exists(place)) why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it for each thread
      continue;
    }
    const auto open = reinterpret_cast<OpenDevice>(dlsym(library, "tidemill_open_device"));
    if (open == nullptr) return Error{Errc::device_failed, fmt::format("{} is no device of this runtime: it has no tidemill_open_device", place)};
    const std::unique_ptr<Result<std::unique_ptr<Backend>>> opened(open(request));
    return std::move(*opened);
  }
  return Error{Errc::unknown_device, fmt::format("device URI '{}': {} cannot be loaded: {}. Install it, or name its folder in TIDEMILL_PLUGINS",
                                                 request.uri, file, why)};
}

}  // namespace tidemill::device
