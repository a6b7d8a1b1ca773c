// SPDX-License-Identifier: Apache-2.0
#include "ibsim_fabric/net_file.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>

#include "fmt/format.h"

namespace tidemill::ibsim_fabric {
namespace {

constexpr unsigned kMostNodes = 2048, kMostSwitches = 256, kMostPorts = 13312, kMostRadix = 128;

struct Shape {
  unsigned leaves, spines;
};

/// Half a leaf's ports up, spread over the spines; a spine has a port for each of its links.
Shape shape_of(unsigned hosts, unsigned radix) {
  const unsigned down = radix / 2, leaves = (hosts + down - 1) / down, links = leaves * down;
  return {leaves, leaves == 1 ? 0 : std::min(down, (links + radix - 1) / radix)};
}

bool fits(unsigned hosts, unsigned radix) {
  return shape_of(hosts, radix).leaves <= radix;
}

}  // namespace

Result<NetFile> NetFile::read(const std::string& path) {
  std::ifstream in(path);
  if (!in)
    return Error{
        Errc::file_failed,
        fmt::format(
            "net file '{}' cannot be read; it lists switches and hosts as ibsim does, and `tidemill net` makes one",
            path)};
  static const std::regex node(R"re(^\s*(Switch|Hca|Ca)\s+\d+\s+"([^"]+)".*)re", std::regex::icase);
  NetFile net{.path = path, .hosts = {}};
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (!std::regex_match(line, m, node)) continue;
    if (std::tolower(m[1].str().front()) == 's')
      ++net.switches;
    else
      net.hosts.push_back(m[2]);
  }
  if (net.hosts.empty())
    return Error{Errc::bad_option, fmt::format("net file '{}' has no host: no line like  Hca 1 \"H0\"", path)};
  return net;
}

Result<std::string> fat_tree(unsigned hosts, unsigned radix) {
  if (hosts == 0) return Error{Errc::bad_option, "a fat tree needs at least one host"};
  if (radix == 0)
    for (radix = 8; !fits(hosts, radix) && radix < kMostRadix;) radix += 2;
  if (radix < 4 || radix > kMostRadix || radix % 2 != 0)
    return Error{Errc::bad_option, fmt::format("radix {} is not even, or not 4 to {}", radix, kMostRadix)};
  if (!fits(hosts, radix))
    return Error{
        Errc::bad_option,
        fmt::format("{} hosts do not fit under two levels of {}-port switches, which take {}; give a larger radix",
                    hosts, radix, radix / 2 * radix)};
  const auto [leaves, spines] = shape_of(hosts, radix);
  const unsigned down = radix / 2;
  if (hosts + leaves + spines > kMostNodes || leaves + spines > kMostSwitches ||
      hosts + (leaves + spines) * (radix + 1) > kMostPorts)
    return Error{
        Errc::bad_option,
        fmt::format("{} hosts and {} switches are more than ibsim simulates: {} nodes, {} switches and {} ports", hosts,
                    leaves + spines, kMostNodes, kMostSwitches, kMostPorts)};

  std::string net = fmt::format("# {} hosts on {} leaves and {} spines of {} ports\n", hosts, leaves, spines, radix);
  std::vector<unsigned> next(spines, 1);  // free port of each spine
  std::vector<std::string> spine_ports(spines);
  for (unsigned leaf = 0; leaf < leaves; ++leaf) {
    net += fmt::format("\nSwitch {} \"L{}\"\n", radix, leaf);
    for (unsigned p = 0; p < down && leaf * down + p < hosts; ++p)
      net += fmt::format("[{}] \"H{}\"[1]\n", p + 1, leaf * down + p);
    // Uplinks go round the spines; each leaf begins where the last one ended, so that no spine runs out of ports.
    for (unsigned up = 0; spines != 0 && up < down; ++up) {
      const unsigned spine = (leaf * down + up) % spines, own = down + up + 1, theirs = next[spine]++;
      net += fmt::format("[{}] \"S{}\"[{}]\n", own, spine, theirs);
      spine_ports[spine] += fmt::format("[{}] \"L{}\"[{}]\n", theirs, leaf, own);
    }
  }
  for (unsigned spine = 0; spine < spines; ++spine)
    net += fmt::format("\nSwitch {} \"S{}\"\n{}", radix, spine, spine_ports[spine]);
  for (unsigned host = 0; host < hosts; ++host)
    net += fmt::format("\nHca 1 \"H{}\"\n[1] \"L{}\"[{}]\n", host, host / down, host % down + 1);
  return net;
}

}  // namespace tidemill::ibsim_fabric
