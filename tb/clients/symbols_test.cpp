// SPDX-License-Identifier: Apache-2.0
/// What the drop-in shows to the loader: the names and versions of rdma-core's, no more.
#include <elf.h>
#include <link.h>

#include <fstream>
#include <map>
#include <set>

#include "tb/clients/fixture.hpp"

namespace tidemill::test {
namespace {

/// Defined dynamic symbols with their versions, as `nm -D --with-symbol-versions` prints them.
std::map<std::string, std::string> exported(const std::string& library) {
  std::map<std::string, std::string> symbols;
  FILE* const nm = ::popen(("nm -D --defined-only --with-symbol-versions '" + library + "'").c_str(), "r");
  char line[512];
  while (nm != nullptr && std::fgets(line, sizeof line, nm) != nullptr) {
    std::smatch m;
    const std::string text = line;
    if (std::regex_search(text, m, std::regex(" [TWD] (\\w+)@@?(\\S+)"))) symbols[m[1]] = m[2];
  }
  if (nm != nullptr) ::pclose(nm);
  return symbols;
}

TEST(UmadLibrary, ExportsWhatThirtyNineCallsNeedAndNothingElse) {
  const auto ours = exported(TIDEMILL_UMAD_FOLDER "/libibumad.so.3");
  EXPECT_EQ(ours.size(), 39u);
  for (const auto& [name, version] : ours) EXPECT_TRUE(name.starts_with("umad_")) << name;
}

TEST(UmadLibrary, HasEverySymbolOfTheSystemsAtTheSameVersion) {
  std::string system;
  for (const char* place : {"/usr/lib/x86_64-linux-gnu/libibumad.so.3", "/usr/lib/aarch64-linux-gnu/libibumad.so.3",
                            "/usr/lib64/libibumad.so.3"})
    if (std::filesystem::exists(place)) system = place;
  if (system.empty()) GTEST_SKIP() << "SKIPPED: no libibumad of the system (Debian: libibumad3)";
  const auto ours = exported(TIDEMILL_UMAD_FOLDER "/libibumad.so.3");
  for (const auto& [name, version] : exported(system)) {
    ASSERT_TRUE(ours.contains(name)) << name;
    EXPECT_EQ(ours.at(name), version) << name;
  }
}

}  // namespace
}  // namespace tidemill::test
