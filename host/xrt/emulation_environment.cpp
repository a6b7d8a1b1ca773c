// SPDX-License-Identifier: Apache-2.0
// NOLINTBEGIN(concurrency-mt-unsafe): the header says when
#include "xrt/emulation_environment.hpp"

#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "fmt/format.h"

namespace tidemill::xrt_card {
namespace {

namespace fs = std::filesystem;

/// Bytes that XRT copies in one message. Debian's XRT 2.13 forgets where its message buffer is when it grows; a setting
/// that is longer than any later message and goes out first makes it large enough from the start.
constexpr std::size_t kPacketBytes = 65536, kPadBytes = kPacketBytes + 4096;

/// Folders to remove when the program ends; by the process that made them, not by its children.
struct Leftovers {
  pid_t process = 0;
  std::vector<fs::path> folders;
};
Leftovers& leftovers() {
  static auto* const all = new Leftovers;
  return *all;
}
void remove_leftovers() {
  if (getpid() != leftovers().process) return;
  std::error_code none;
  for (const fs::path& folder : leftovers().folders) fs::remove_all(folder, none);
}
void remove_at_end(const fs::path& folder) {
  if (leftovers().folders.empty()) {
    leftovers().process = getpid();
    std::atexit(remove_leftovers);
  }
  leftovers().folders.push_back(folder);
}

/// The folder of XRT's libraries: where the one that is loaded came from.
fs::path library_folder() {
  fs::path found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        const fs::path file(info->dlpi_name);
        if (file.filename().string().rfind("libxrt_coreutil.so", 0) != 0) return 0;
        *static_cast<fs::path*>(out) = file.parent_path();
        return 1;
      },
      &found);
  return found;
}

constexpr char kDevice[] = R"({{ "Version": {{ "FileVersion": "2.0", "ToolVersion": "1.0" }},
  "Platform": {{ "UnifiedPlatform": "true", "ExpandedPR": "true", "Boards": [ {{ "NumBoards": "1", "Devices": [ {{
    "Name": "{}", "HalMajorVersion": "2", "HalMinorVersion": "0", "VendorId": "4334", "SubsystemVendorId": "0",
    "DeviceVersion": "0", "DdrBanks": [ {{ "Size": "4GB" }} ], "OclFreqency": "250", "NumDevices": "1",
    "FeatureRom": {{ "Ddr_Channel_Count": "1", "Ddr_Channel_Size": "4", "Feature_Bitmap": "0" }} }} ] }} ] }} }}
)";

/// Private, and gone when the program ends.
Result<fs::path> make_folder() {
  std::string name = (fs::temp_directory_path() / "tidemill-xrt-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    return Error{Errc::device_failed, fmt::format("xrt: no folder {} for XRT: {}", name, std::strerror(errno))};
  remove_at_end(name);
  return fs::path(name);
}

}  // namespace

Result<std::monostate> prepare_cards() {
  if (std::getenv("XILINX_XRT") != nullptr) return std::monostate();
  const auto folder = make_folder();
  if (!folder) return folder.error();
  fs::create_directory_symlink(library_folder(), folder.value() / "lib");
  setenv("XILINX_XRT", folder.value().c_str(), 0);
  return std::monostate();
}

Result<std::monostate> prepare_emulation() {
  static bool prepared = false;
  if (prepared) return std::monostate();
  const fs::path emulation = library_folder() / "libxrt_hwemu.so.2";
  if (std::getenv("XILINX_XRT") == nullptr && !fs::exists(emulation))
    return Error{
        Errc::device_failed,
        fmt::format("xrt: no emulation library at {}; install it (Debian: libxrt1) or set XILINX_XRT to XRT's folder",
                    emulation.string())};
  const auto made = make_folder();
  if (!made) return made.error();
  const fs::path& folder = made.value();
  fs::create_directories(folder / "xrt/lib");
  fs::create_directories(folder / "run");
  fs::create_symlink(emulation, folder / "xrt/lib/libxrt_hwemu.so.2");
  std::ofstream(folder / "emconfig.json") << fmt::format(kDevice, kEmulationPlatform);
  // system_dpa makes XRT wait up to ten seconds when it closes.
  std::ofstream(folder / "xrt.ini") << "[Emulation]\npacket_size=" << kPacketBytes
                                    << "\nsystem_dpa=false\n[Debug]\npad=" << std::string(kPadBytes, 'x') << '\n';
  setenv("XCL_EMULATION_MODE", "hw_emu", 0);
  setenv("XILINX_XRT", (folder / "xrt").c_str(), 0);
  setenv("EMCONFIG_PATH", folder.c_str(), 0);
  setenv("SDACCEL_EM_RUN_DIR", (folder / "run").c_str(), 0);
  setenv("XRT_INI_PATH", (folder / "xrt.ini").c_str(), 0);
  struct sigaction pipe {};
  if (sigaction(SIGPIPE, nullptr, &pipe) == 0 && pipe.sa_handler == SIG_DFL) {
    pipe.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &pipe, nullptr);
  }
  prepared = true;
  return std::monostate();
}

UniqueUser::UniqueUser() {
  if (const char* const user = std::getenv("USER")) {
    had_ = true;
    before_ = user;
  }
  const std::string user = fmt::format("tidemill-{}-{}", geteuid(), getpid());
  remove_at_end(fs::path("/tmp") / user);
  setenv("USER", user.c_str(), 1);
}

UniqueUser::~UniqueUser() {
  if (had_)
    setenv("USER", before_.c_str(), 1);
  else
    unsetenv("USER");
}

KeepSignals::KeepSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &before_[i]);
}

KeepSignals::~KeepSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

}  // namespace tidemill::xrt_card
// NOLINTEND(concurrency-mt-unsafe)
