// SPDX-License-Identifier: Apache-2.0
/// What the runtime finds when it loads XRT's back end: `xrt:[index or
/// BDF][?xclbin=FILE][&poll=MICROSECONDS][&seed=N]`.
#include "device/plugin.hpp"

#include <experimental/xrt_system.h>

#include <charconv>
#include <random>

#include "device/card_device.hpp"
#include "environment.hpp"
#include "fmt/format.h"
#include "xrt/emulation_environment.hpp"
#include "xrt/xrt_card.hpp"

namespace {

using tidemill::Errc;
using tidemill::Error;
using tidemill::Nanoseconds;
using tidemill::Result;
using tidemill::device::Backend;
using tidemill::device::Card;
using tidemill::device::CardEntry;
using tidemill::device::PluginRequest;
using Opened = Result<std::unique_ptr<Backend>>;
using OpenedCard = Result<std::unique_ptr<Card>>;
using Listed = Result<std::vector<CardEntry>>;
namespace xrt_card = tidemill::xrt_card;

struct Chosen {
  std::string which = "0";
  std::string xclbin;
  uint64_t seed = 0;
  xrt_card::XrtOptions options;
};

bool parse(const std::string& text, uint64_t most, uint64_t& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size() && value <= most;
}

bool names_a_card(const std::string& path) {
  uint64_t index = 0;
  return parse(path, 255, index) || (path.find(':') != std::string::npos &&
                                     path.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos);
}

Result<Chosen> choose(const PluginRequest& request) {
  const auto bad = [&](const std::string& why) {
    return Error{Errc::bad_uri, fmt::format("device URI '{}': {}", request.uri, why)};
  };
  Chosen chosen;
  std::random_device random;
  chosen.seed = uint64_t{random()} << 32 | random();
  chosen.options.virtual_clock = request.virtual_clock;
  if (!request.path.empty()) chosen.which = request.path;
  if (!names_a_card(chosen.which))
    return bad(fmt::format("'{}' is neither the index of a card nor its BDF (0000:3b:00.1)", chosen.which));
  chosen.xclbin = tidemill::environment("TIDEMILL_XCLBIN");
  for (const auto& [name, value] : request.options) {
    uint64_t number = 0;
    if (name == "xclbin") {
      chosen.xclbin = value;
    } else if (name == "seed") {
      if (!parse(value, ~uint64_t{0}, chosen.seed)) return bad(fmt::format("seed={} is not a whole number", value));
    } else if (name == "poll") {
      if (!parse(value, 1'000'000, number))
        return bad(fmt::format("poll={} is not a number of microseconds up to 1000000", value));
      chosen.options.poll = Nanoseconds(static_cast<int64_t>(number) * 1000);
    } else {
      return bad(fmt::format("unknown option '{}'; xrt: knows xclbin, poll and seed", name));
    }
  }
  if (chosen.xclbin.empty()) return bad("which xclbin? Write xrt:0?xclbin=FILE, or set TIDEMILL_XCLBIN");
  return chosen;
}

/// The card with its xclbin, ours alone.
Result<std::shared_ptr<xrt_card::LoadedCard>> load(const Chosen& c, const xrt_card::XclbinFile& file) {
  auto card = xrt_card::LoadedCard::load(c.which, file);
  if (card && !card.value()->claim())
    return Error{Errc::device_failed,
                 fmt::format("xrt:{}: the card is busy: this process has it open already", c.which)};
  return card;
}

Opened open(const PluginRequest& request) {
  const auto chosen = choose(request);
  if (!chosen) return chosen.error();
  const Chosen& c = chosen.value();
  const auto file = xrt_card::inspect_xclbin(c.xclbin);
  if (!file) return file.error();
  if (request.virtual_clock && !file.value().emulation)
    return Error{
        Errc::bad_uri,
        fmt::format("device URI '{}': a card's time passes by itself: open it with a steady clock", request.uri)};
  const auto card = load(c, file.value());
  if (!card) return card.error();
  try {
    return tidemill::device::CardDevice::open(std::make_unique<xrt_card::XrtCard>(card.value(), c.options), c.seed);
  } catch (const std::exception& e) {
    return Error{
        Errc::device_failed,
        fmt::format(
            "xrt:{}: the card gets no memory of the host: {}; enable it (xbutil configure --host-mem -s 1G ENABLE)",
            c.which, e.what())};
  }
}

OpenedCard open_card(const PluginRequest& request) {
  auto chosen = choose(request);
  if (!chosen) return chosen.error();
  Chosen& c = chosen.value();
  const auto file = xrt_card::inspect_xclbin(c.xclbin);
  if (!file) return file.error();
  c.options.virtual_clock = file.value().emulation;
  const auto card = load(c, file.value());
  if (!card) return card.error();
  try {
    return std::unique_ptr<Card>(std::make_unique<xrt_card::XrtCard>(card.value(), c.options));
  } catch (const std::exception& e) {
    return Error{Errc::device_failed, fmt::format("xrt:{}: the card cannot be used: {}", c.which, e.what())};
  }
}

/// One card that does not answer is no reason to hide the others.
CardEntry entry(unsigned index) {
  try {
    const xrt::device card(index);
    return {.uri = "xrt:" + card.get_info<xrt::info::device::bdf>(),
            .name = card.get_info<xrt::info::device::name>(),
            .offline = card.get_info<xrt::info::device::offline>()};
  } catch (const std::exception& e) {
    return {
        .uri = fmt::format("xrt:{}", index), .name = fmt::format("XRT cannot open it: {}", e.what()), .offline = true};
  }
}

Listed list() {
  try {
    if (auto prepared = xrt_card::prepare_cards(); !prepared) return prepared.error();
    std::vector<CardEntry> all;
    for (unsigned i = 0; i < xrt::system::enumerate_devices(); ++i) all.push_back(entry(i));
    return all;
  } catch (const std::exception& e) {
    return Error{Errc::device_failed,
                 fmt::format("XRT cannot list its cards: {}; look at what `xbutil examine` says", e.what())};
  }
}

}  // namespace

extern "C" Opened* tidemill_open_device(const PluginRequest& request) {
  return new Opened(open(request));
}
extern "C" OpenedCard* tidemill_open_card(const PluginRequest& request) {
  return new OpenedCard(open_card(request));
}
extern "C" Listed* tidemill_list_cards() {
  return new Listed(list());
}
