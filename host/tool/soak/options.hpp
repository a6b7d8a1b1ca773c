// SPDX-License-Identifier: Apache-2.0
/// What a soak run depends on. Two runs with equal options do the same, tick by tick.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace tidemill::soak {

/// Probabilities. Faults of the wire are drawn for each try, those of the host for each send.
struct Rates {
  double loss = 0.05;
  double dup = 0.02;
  double reorder = 0.10;
  double delay = 0.01;
  double stale = 0.01;
  double forged = 0.01;
  double wire_error = 0.002;
  double cancel = 0.02;
  double modify = 0.02;
  double deadline = 0.02;
  double clash = 0.002;
  double flush = 0.0002;
};

/// How a rate is called on the command line and in the reports.
struct RateInfo {
  const char* name;
  double Rates::*value;
  const char* help;
};
inline constexpr std::array<RateInfo, 12> kRates{{
    {"loss", &Rates::loss, "A response gets lost on its way"},
    {"dup", &Rates::dup, "A response arrives twice"},
    {"reorder", &Rates::reorder, "A response is overtaken by later ones"},
    {"delay", &Rates::delay, "A response comes hundreds of ticks late, mostly after its timer"},
    {"stale", &Rates::stale, "An old response arrives once more"},
    {"forged", &Rates::forged, "A response that nobody asked for: wrong class, port, address or TID"},
    {"wire-error", &Rates::wire_error, "A try fails on the wire; the queue pair flushes the tries behind it and recovers"},
    {"cancel", &Rates::cancel, "A send is cancelled, now and then before it has left its lane"},
    {"modify", &Rates::modify, "The wait of a send is changed"},
    {"deadline", &Rates::deadline, "A send has a total deadline"},
    {"clash", &Rates::clash, "A send has the TID of a live one"},
    {"flush", &Rates::flush, "The agent deregisters after the send: its lanes close, everything of it is flushed, it registers anew"},
}};

/// How large the engine is built.
enum class Size : uint8_t {
  card,  ///< 65,536 slots over all banks.
  tiny,  ///< 64 slots and a matcher for half of them: always full, and generations wrap.
};
constexpr const char* name_of(Size v) { return v == Size::card ? "card" : "tiny"; }

struct Options {
  uint64_t transactions = 1'000'000;
  uint64_t seed = 1;
  uint32_t banks = 8;
  uint32_t agents = 16;
  uint32_t outstanding = 4096;
  Size size = Size::card;
  Rates rates;
};

inline constexpr uint32_t kMaxAgents = 512;
inline constexpr uint32_t kMaxBanks = 16;
inline constexpr uint32_t kMaxTinyBanks = 4;
inline constexpr uint64_t kUnlimited = ~uint64_t{0};

/// The command that repeats a run after `posted` sends, without what has its default value.
std::string replay_command(const Options& options, uint64_t posted);

}  // namespace tidemill::soak
