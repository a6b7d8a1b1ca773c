// SPDX-License-Identifier: Apache-2.0
#include "ping_command.hpp"

#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>

#include "ping/peer.hpp"
#include "ping/ping.hpp"
#ifdef TIDEMILL_HAS_VERBS
#include "tidemill/verbs_wire.hpp"
#endif

namespace tidemill::tool {
namespace {

constexpr const char* kFooter = R"(Examples:
  tidemill ping --server                     on one host; it tells its name to whoever asks
  tidemill ping otherhost                    on another: 1,000 requests, one at a time
  tidemill ping otherhost --depth 64 --count 100000
  tidemill ping --gid fe80::1 --qpn 17       a peer by GID, without asking; --lid on InfiniBand

Needs an RDMA device on both: `rdma link add rxe0 type rxe netdev eth0` makes one of any network interface.
Exit status: 0 if every request was answered.)";

struct Settings {
  std::string host, device, gid, json;
  bool server = false;
  unsigned port = 1;
  int gid_index = -1;
  unsigned lid = 0, qpn = 0;
  uint16_t tcp_port = kPeerPort;
  uint16_t send_depth = 128, receive_depth = 2048, inline_bytes = 0;
  double seconds = 0, timeout_ms = 100, interval_ms = 0;
  PingOptions ping;
};

#ifdef TIDEMILL_HAS_VERBS

std::atomic<bool> stop{false};
void on_signal(int) {
  stop.store(true);
}

int complain(const Error& error) {
  fmt::print(stderr, "tidemill ping: {}\n", error.message);
  return kUsageError;
}

Result<Peer> peer_of(const Settings& s) {
  if (!s.host.empty()) return ask_peer(s.host, s.tcp_port);
  if (s.qpn == 0)
    throw UsageError("name a host that runs `tidemill ping --server`, or the peer with --gid or --lid and --qpn");
  Peer peer{.lid = static_cast<uint16_t>(s.lid), .qpn = s.qpn};
  if (!s.gid.empty()) {
    const auto gid = gid_from(s.gid);
    if (!gid) throw UsageError(fmt::format("--gid {} is not a GID; write it as an IPv6 address", s.gid));
    peer.gid = *gid;
    peer.roce = true;
  } else if (s.lid == 0) {
    throw UsageError("--qpn needs --gid or --lid");
  }
  return peer;
}

int serve(const Settings& s, std::unique_ptr<VerbsWire> wire, const VerbsIdentity& self) {
  auto teller = PeerTeller::start({self.gid, self.lid, self.qpn, self.roce}, s.tcp_port);
  if (!teller) return complain(teller.error());
  fmt::print("{} port {}: GID {}, LID {}, QPN {}; TCP port {} tells it\n", self.device, self.port, to_text(self.gid),
             self.lid, self.qpn, s.tcp_port);
  std::fflush(stdout);
  const auto life = std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(s.seconds));
  auto result = serve_pings(std::move(wire), life, stop);
  if (!result) return complain(result.error());
  fmt::print("{} requests answered, {} refused{}\n", result->answered, result->refused,
             result->wire_gone ? "; the device was removed" : "");
  return result->wire_gone ? kFailure : kSuccess;
}

int ask(const Settings& s, std::unique_ptr<VerbsWire> wire, const VerbsIdentity& self) {
  auto peer = peer_of(s);
  if (!peer) return complain(peer.error());
  Address to{.lid = peer->lid, .qpn = peer->qpn};
  // A LID is enough inside a subnet of InfiniBand.
  if (self.roce || peer->lid == 0) to.grh = GlobalRoute{.gid = peer->gid, .gid_index = self.gid_index};
  const auto counters = wire->counters();
  if (s.json != "-")
    fmt::print("{} port {}, GID {}, QPN {} -> {}, QPN {}\n", self.device, self.port, to_text(self.gid), self.qpn,
               to.grh ? to_text(peer->gid) : fmt::format("LID {}", peer->lid), peer->qpn);
  auto result = run_ping(std::move(wire), to, s.ping, stop);
  if (!result) return complain(result.error());
  if (s.json == "-") {
    fmt::print("{}\n", to_json(s.ping, result.value()).dump(2));
  } else {
    fmt::print("{}", to_text(s.ping, result.value()));
    fmt::print("queue pair: {} posted in {} calls, {} copied, {} errors, {} recoveries\n", counters->posted.load(),
               counters->posts.load(), counters->copied.load(), counters->send_errors.load(),
               counters->recoveries.load());
  }
  return result.value().all_answered(s.ping.count) ? kSuccess : kFailure;
}

int run(Settings& s) {
  const auto nanoseconds = [](double ms) { return Nanoseconds(static_cast<int64_t>(ms * 1e6)); };
  s.ping.timeout = nanoseconds(s.timeout_ms);
  s.ping.interval = nanoseconds(s.interval_ms);
  auto wire = VerbsWire::open({.device = s.device,
                               .port = static_cast<uint8_t>(s.port),
                               .gid_index = s.gid_index,
                               .send_depth = s.send_depth,
                               .receive_depth = s.receive_depth,
                               .inline_bytes = s.inline_bytes});
  if (!wire) return complain(wire.error());
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  const VerbsIdentity self = wire.value()->identity();
  return s.server ? serve(s, std::move(wire).value(), self) : ask(s, std::move(wire).value(), self);
}

#else

int run(const Settings&) {
  fmt::print(stderr,
             "tidemill ping: this tidemill was built without libibverbs; install libibverbs-dev and build again\n");
  return kUsageError;
}

#endif

}  // namespace

void add_ping(CLI::App& app, int& status) {
  auto s = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("ping", "Round trips between two hosts over their RDMA devices");
  command->add_option("host", s->host, "Where the server runs");
  command->add_flag("--server", s->server, "Answer");
  command->add_option("--device", s->device, "RDMA device; by default the first");
  command->add_option("--port", s->port, "Of the device")->capture_default_str()->check(CLI::Range(1u, 255u));
  command->add_option("--gid-index", s->gid_index, "Own GID; -1 chooses")->capture_default_str();
  command->add_option("--gid", s->gid, "The peer's GID");
  command->add_option("--lid", s->lid, "The peer's LID")->check(CLI::Range(1u, 0xbfffu));
  command->add_option("--qpn", s->qpn, "The peer's queue pair")->check(CLI::Range(1u, 0xffffffu));
  command->add_option("--tcp-port", s->tcp_port, "Where the server tells who it is")->capture_default_str();
  command->add_option("--seconds", s->seconds, "The server's life; 0: until stopped")->capture_default_str();
  command->add_option("--count", s->ping.count, "Requests")->capture_default_str()->check(CLI::Range(1u, 10'000'000u));
  command->add_option("--depth", s->ping.depth, "Requests outstanding")
      ->capture_default_str()
      ->check(CLI::Range(1u, 32768u));
  command->add_option("--timeout-ms", s->timeout_ms, "Of one try")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6));
  command->add_option("--retries", s->ping.retries, "After the first try")
      ->capture_default_str()
      ->check(CLI::Range(0u, 255u));
  command->add_option("--interval-ms", s->interval_ms, "Pause between requests, with depth 1")->capture_default_str();
  command->add_option("--send-depth", s->send_depth, "Of the queue pair")->capture_default_str();
  command->add_option("--receive-depth", s->receive_depth, "Of the queue pair")->capture_default_str();
  command->add_option("--inline", s->inline_bytes, "MADs up to so many bytes go into the queue itself")
      ->capture_default_str();
  command->add_option("--json", s->json, "- writes the result as JSON to standard output")->check(CLI::IsMember({"-"}));
  command->footer(kFooter);
  command->callback([s, &status] { status = run(*s); });
}

}  // namespace tidemill::tool
