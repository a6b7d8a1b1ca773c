// SPDX-License-Identifier: Apache-2.0
/// Sweeps a fabric by directed-route SMPs, breadth first, and prints its topology. One callback chain, no threads:
/// the application polls.
///
/// usage: discover [nodes] [loss]    on a fabric simulated in this process
///        discover ibsim             on ibsim, as IBSIM_SOCKNAME and SIM_HOST say
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tidemill.hpp"

using namespace tidemill;
using namespace std::chrono_literals;

namespace {

constexpr uint16_t kNodeDescription = 0x0010, kNodeInfo = 0x0011, kPortInfo = 0x0015;
constexpr std::size_t kData = 64;
constexpr uint8_t kSwitch = 2;

using Path = std::vector<uint8_t>;

struct Node {
  uint64_t guid = 0;
  bool is_switch = false;
  uint8_t ports = 0;
  std::string description;
  std::map<uint8_t, std::string> links;  ///< By our port: the other end.
};

class Sweep {
 public:
  explicit Sweep(Port& port) {
    agent_ = port.register_agent({.qp = Qp::smi, .calls_only = true, .name = "discover"}).value();
  }

  /// Visits every node; false if one did not answer.
  bool run() {
    visit({}, nullptr, 0);
    while (!todo_.empty()) {
      const Hop hop = todo_.front();
      todo_.pop_front();
      visit(hop.path, hop.from, hop.port);
    }
    return complete_;
  }
  const std::map<uint64_t, Node>& nodes() const { return nodes_; }

 private:
  struct Hop {
    Path path;
    Node* from;
    uint8_t port;
  };

  Result<Response> get(const Path& path, uint16_t attribute, uint32_t modifier = 0) {
    Mad ask = Mad::make(mad_class::subn_directed, 1, mad_method::get, attribute, modifier);
    ask.hop_count(static_cast<uint8_t>(path.size())).dr_slid(kPermissiveLid).dr_dlid(kPermissiveLid);
    for (unsigned hop = 0; hop < path.size(); ++hop) ask.initial_path(hop + 1, path[hop]);
    Address to;
    to.lid = kPermissiveLid;
    to.qpn = 0;
    return agent_.call({.mad = ask.bytes(), .to = to, .pace = {.timeout = 50ms, .retries = 10}});
  }

  void visit(const Path& path, Node* from, uint8_t from_port) {
    auto info = get(path, kNodeInfo);
    if (!info) {
      complete_ = false;
      if (from != nullptr) from->links[from_port] = "no answer: " + info.error().message;
      return;
    }
    const MadView mad = info->mad.view();
    const uint64_t guid = mad.u64(kData + 12);
    const uint8_t local_port = mad.u8(kData + 36);
    Node& node = nodes_[guid];
    if (node.ports == 0) {
      node.guid = guid;
      node.is_switch = mad.u8(kData + 2) == kSwitch;
      node.ports = mad.u8(kData + 3);
      node.description = description(path);
      // Channel adapters do not forward; only the first hop leaves from one.
      if (node.is_switch || path.empty())
        for (unsigned p = 1; p <= node.ports; ++p)
          if (is_up(path, static_cast<uint8_t>(p))) {
            Path next = path;
            next.push_back(static_cast<uint8_t>(p));
            todo_.push_back({std::move(next), &node, static_cast<uint8_t>(p)});
          }
    }
    if (from != nullptr) from->links[from_port] = node.description + " port " + std::to_string(local_port);
  }

  std::string description(const Path& path) {
    std::string text;
    if (auto answer = get(path, kNodeDescription); answer.ok())
      for (std::size_t i = kData; i < 128 && answer->mad.view().u8(i) != 0; ++i)
        text += static_cast<char>(answer->mad.view().u8(i));
    return text;
  }
  bool is_up(const Path& path, uint8_t port) {
    auto answer = get(path, kPortInfo, port);
    return answer.ok() && (answer->mad.view().u8(kData + 32) & 0x0f) > 1;  // PortState above Down
  }

  Agent agent_;
  std::map<uint64_t, Node> nodes_;
  std::deque<Hop> todo_;
  bool complete_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  const bool on_ibsim = argc > 1 && std::string(argv[1]) == "ibsim";
  const unsigned nodes = argc > 1 && !on_ibsim ? static_cast<unsigned>(std::atoi(argv[1])) : 8;
  const double loss = argc > 2 ? std::atof(argv[2]) : 0;
  auto clock = std::make_shared<VirtualClock>();
  auto fabric = SimulatedFabric::create({.nodes = nodes, .radix = 8, .faults = {.loss = loss}, .clock = clock});
  if (!fabric) return std::fprintf(stderr, "%s\n", fabric.error().message.c_str()), 2;
  // A place on ibsim must outlive its wire, and real time runs there.
  auto ibsim = on_ibsim ? Ibsim::connect(IbsimOptions::from_environment()) : Result<Ibsim>(Error{});
  if (on_ibsim && !ibsim) return std::fprintf(stderr, "%s\n", ibsim.error().message.c_str()), 2;
  auto wire = on_ibsim ? ibsim->wire() : fabric->attach(0);
  if (!wire) return std::fprintf(stderr, "%s\n", wire.error().message.c_str()), 2;
  DeviceOptions options{.progress = Progress::poll};
  if (!on_ibsim) options.clock = clock;
  auto device = Device::open("soft:", options).value();
  auto port = device.open_port(1, std::move(wire).value()).value();

  Sweep sweep(port);
  const bool complete = sweep.run();
  unsigned switches = 0;
  for (const auto& [guid, node] : sweep.nodes()) {
    switches += node.is_switch;
    std::printf("%s %016llx \"%s\"\n", node.is_switch ? "Switch" : "Ca    ", static_cast<unsigned long long>(guid), node.description.c_str());
    for (const auto& [p, other] : node.links) std::printf("    [%d] -> %s\n", p, other.c_str());
  }
  std::printf("%zu nodes, %u of them switches%s\n", sweep.nodes().size(), switches, complete ? "" : "; INCOMPLETE");
  if (on_ibsim) return complete ? 0 : 1;
  return complete && sweep.nodes().size() == fabric->nodes() + fabric->switches() ? 0 : 1;
}
